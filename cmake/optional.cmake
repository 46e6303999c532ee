# What some parts need: forebay_has_<part> says whether the part is built, forebay_about_<part> why, for the table.
#   forebay_part(<part> <option> <what was found, or ""> <what it needs>)
function(forebay_part part option found needs)
  set(has OFF)
  if(NOT ${option})
    set(about "left out: ${option} is OFF")
  elseif(found STREQUAL "")
    set(about "left out: ${needs} not found")
  else()
    set(has ON)
    set(about "${found}")
  endif()
  set(forebay_has_${part} ${has} PARENT_SCOPE)
  set(forebay_about_${part} "${about}" PARENT_SCOPE)
endfunction()

set(found "")
if(FOREBAY_DEVDAX)
  pkg_check_modules(PMEM2 QUIET IMPORTED_TARGET libpmem2)
  if(PMEM2_FOUND)
    set(found "libpmem2 ${PMEM2_VERSION}")
  endif()
endif()
forebay_part(devdax FOREBAY_DEVDAX "${found}" "libpmem2")

set(found "")
if(FOREBAY_HDF5)
  pkg_search_module(HDF5 QUIET IMPORTED_TARGET hdf5-serial hdf5)
  pkg_check_modules(DEFLATE QUIET IMPORTED_TARGET libdeflate)
  if(HDF5_FOUND AND DEFLATE_FOUND)
    set(found "HDF5 ${HDF5_VERSION}, libdeflate ${DEFLATE_VERSION}")
  endif()
endif()
forebay_part(hdf5 FOREBAY_HDF5 "${found}" "HDF5 and libdeflate")

set(found "")
if(forebay_has_hdf5)
  set(found "with the files of arrays")
endif()
forebay_part(mesh FOREBAY_MESH "${found}" "HDF5 or libdeflate")

set(found "")
if(FOREBAY_MPI)
  find_package(MPI QUIET COMPONENTS C CXX)
  if(MPI_C_FOUND AND MPI_CXX_FOUND AND forebay_has_hdf5)
    set(found "MPI ${MPI_CXX_VERSION}, ${MPI_CXX_COMPILER}")
  endif()
endif()
forebay_part(mpi FOREBAY_MPI "${found}" "MPI or the files of arrays")

set(found "")
if(FOREBAY_FORTRAN)
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    set(found "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}")
  endif()
endif()
forebay_part(fortran FOREBAY_FORTRAN "${found}" "a Fortran compiler")

if(FOREBAY_PYTHON OR FOREBAY_TESTS)
  find_package(Python3 QUIET COMPONENTS Interpreter)
endif()
set(found "")
if(Python3_Interpreter_FOUND)
  set(found "${Python3_EXECUTABLE} ${Python3_VERSION}")
endif()
forebay_part(python FOREBAY_PYTHON "${found}" "Python 3")

set(found "")
if(FOREBAY_TESTS)
  find_package(GTest QUIET)
  if(GTest_FOUND AND Python3_Interpreter_FOUND)
    set(found "GoogleTest ${GTest_VERSION}")
  endif()
endif()
forebay_part(tests FOREBAY_TESTS "${found}" "GoogleTest or Python 3")

# zfp's own configuration ends ours where OpenMP is missing, which it may have been built with.
find_package(OpenMP QUIET COMPONENTS C)
if(OpenMP_C_FOUND)
  find_package(zfp QUIET)
endif()
set(forebay_about_zfp "left out: zfp, or OpenMP for C, not found")
if(zfp_FOUND)
  set(forebay_about_zfp "zfp ${zfp_VERSION}")
endif()
set(forebay_about_bench "left out: FOREBAY_BENCH is OFF")
if(FOREBAY_BENCH)
  set(forebay_about_bench "yes")
endif()

# The last words of the configuration.
function(forebay_print_table)
  message(STATUS "forebay ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  foreach(line
      "command, redirection, libforebay|yes"
      "persistent memory|${forebay_about_devdax}"
      "codec zfp|${forebay_about_zfp}"
      "files of arrays|${forebay_about_hdf5}"
      "forebay mesh|${forebay_about_mesh}"
      "libforebay_arrays|${forebay_about_mpi}"
      "Fortran modules|${forebay_about_fortran}"
      "Python package|${forebay_about_python}"
      "benchmarks and n3d|${forebay_about_bench}"
      "tests|${forebay_about_tests}")
    string(REPLACE "|" ";" words "${line}")
    list(GET words 0 name)
    list(GET words 1 about)
    string(SUBSTRING "${name}                                  " 0 34 name)
    message(STATUS "  ${name}${about}")
  endforeach()
endfunction()
