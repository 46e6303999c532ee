# What some parts need: forebay_has_<part> says whether the part is built, forebay_about_<part> why, for the table.
#   forebay_part(<part> <option> <what was found> [what is lacking...])
function(forebay_part part option found)
  set(has OFF)
  list(REMOVE_ITEM ARGN "")
  if(NOT ${option})
    set(about "left out: ${option} is OFF")
  elseif(ARGN)
    list(JOIN ARGN ", " about)
    set(about "left out: ${about}")
  else()
    set(has ON)
    set(about "${found}")
  endif()
  set(forebay_has_${part} ${has} PARENT_SCOPE)
  set(forebay_about_${part} "${about}" PARENT_SCOPE)
endfunction()

set(forebay_lacks_pmem2 "")
if(FOREBAY_PMEM)
  forebay_find(pmem2 libpmem2 libpmem2-dev TARGETS PkgConfig::PMEM2
    LANGUAGE C PROGRAM "#include <libpmem2.h>\nint main(void) {}"
    FIND "pkg_check_modules(PMEM2 QUIET IMPORTED_TARGET libpmem2)")
endif()
forebay_part(pmem FOREBAY_PMEM "libpmem2 ${PMEM2_VERSION}" "${forebay_lacks_pmem2}")

set(lacks_pmem "")
if(NOT forebay_has_pmem)
  set(lacks_pmem "needs persistent memory")
endif()
forebay_part(devdax FOREBAY_DEVDAX "with persistent memory" "${lacks_pmem}")

set(forebay_lacks_hdf5 "")
set(forebay_lacks_deflate "")
if(FOREBAY_HDF5)
  forebay_find(hdf5 HDF5 libhdf5-dev TARGETS PkgConfig::HDF5
    LANGUAGE C PROGRAM "#include <hdf5.h>\nint main(void) {}"
    FIND "pkg_search_module(HDF5 QUIET IMPORTED_TARGET hdf5-serial hdf5)")
  forebay_find(deflate libdeflate libdeflate-dev TARGETS PkgConfig::DEFLATE
    LANGUAGE C PROGRAM "#include <libdeflate.h>\nint main(void) {}"
    FIND "pkg_check_modules(DEFLATE QUIET IMPORTED_TARGET libdeflate)")
endif()
if(FOREBAY_STATIC AND TARGET PkgConfig::HDF5)
  # What its description asks for, but for the libraries of the network: none of its files that need these is linked.
  target_link_libraries(PkgConfig::HDF5 INTERFACE sz aec ZLIB::ZLIB m ${CMAKE_DL_LIBS})
endif()
forebay_part(hdf5 FOREBAY_HDF5 "HDF5 ${HDF5_VERSION}, libdeflate ${DEFLATE_VERSION}" "${forebay_lacks_hdf5}"
  "${forebay_lacks_deflate}")

set(lacks_files "")
if(NOT forebay_has_hdf5)
  set(lacks_files "needs the files of arrays")
endif()
forebay_part(mesh FOREBAY_MESH "with the files of arrays" "${lacks_files}")

# What the command says where it lacks them.
if(NOT FOREBAY_HDF5)
  set(forebay_advice_hdf5 "configure it with -DFOREBAY_HDF5=ON, and build again")
else()
  string(REPLACE "left out" "when it was built" forebay_advice_hdf5
    "${forebay_about_hdf5}. Install what is missing (on Debian: make deps), and build again")
  string(REGEX REPLACE "[\";\\\\]" "'" forebay_advice_hdf5 "${forebay_advice_hdf5}")  # what a definition cannot have
endif()
set(forebay_advice_mesh "${forebay_advice_hdf5}")
if(NOT FOREBAY_MESH)
  set(forebay_advice_mesh "configure it with -DFOREBAY_MESH=ON, and build again")
endif()

# n3d uses MPI, too.
set(forebay_lacks_mpi "")
if(FOREBAY_MPI OR FOREBAY_BENCH)
  forebay_find(mpi MPI libopenmpi-dev TARGETS MPI::MPI_CXX MPI::MPI_C
    PROGRAM "#include <mpi.h>\nint main() {}"
    FIND "find_package(MPI QUIET COMPONENTS C CXX)\nif(NOT MPI_FOUND)\nmessage(FATAL_ERROR \"not found\")\nendif()")
endif()
set(forebay_family "")
if(TARGET MPI::MPI_C)
  include(${CMAKE_CURRENT_LIST_DIR}/mpi_family.cmake)
  forebay_mpi_family(forebay_family C)
endif()
forebay_part(mpi FOREBAY_MPI "of ${forebay_family}: MPI ${MPI_CXX_VERSION}, ${MPI_CXX_COMPILER}" "${forebay_lacks_mpi}"
  "${lacks_files}")

if(FOREBAY_FORTRAN OR FOREBAY_PYTHON OR FOREBAY_TESTS)
  find_package(Python3 QUIET COMPONENTS Interpreter)
endif()
set(lacks_python "")
if(NOT Python3_Interpreter_FOUND)
  set(lacks_python "Python 3 not found (Debian: python3)")
endif()

# Python writes some of its sources.
set(forebay_lacks_fortran "")
if(FOREBAY_FORTRAN)
  forebay_find(fortran "a Fortran compiler" gfortran PROGRAM "program main\nend program" LANGUAGE Fortran
    FIND "enable_language(Fortran)")
endif()
forebay_part(fortran FOREBAY_FORTRAN "${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION}"
  "${forebay_lacks_fortran}" "${lacks_python}")
if(forebay_has_fortran AND TARGET MPI::MPI_C)
  forebay_find(mpi_fortran "MPI's module mpi_f08" libopenmpi-dev LANGUAGE Fortran TARGETS MPI::MPI_Fortran
    PROGRAM "program main\nuse mpi_f08\nend program"
    FIND "enable_language(Fortran)\nfind_package(MPI QUIET COMPONENTS Fortran)")
  if(forebay_has_mpi AND forebay_lacks_mpi_fortran)
    string(APPEND forebay_about_fortran ", none for libforebay_arrays: ${forebay_lacks_mpi_fortran}")
  endif()
endif()

forebay_part(python FOREBAY_PYTHON "${Python3_EXECUTABLE} ${Python3_VERSION}" "${lacks_python}")

set(forebay_lacks_googletest "")
if(FOREBAY_TESTS)
  forebay_find(googletest GoogleTest libgtest-dev PROGRAM "#include <gtest/gtest.h>" TARGETS GTest::gtest GTest::gtest_main
    FIND "find_package(GTest QUIET)")
endif()
forebay_part(tests FOREBAY_TESTS "GoogleTest ${GTest_VERSION}" "${forebay_lacks_googletest}" "${lacks_python}")

# zfp may have been built with OpenMP, which its own configuration then asks for.
forebay_find(zfp zfp libzfp-dev TARGETS zfp::zfp
  LANGUAGE C PROGRAM "#include <zfp.h>\nint main(void) {}"
  FIND "find_package(zfp QUIET)")
set(forebay_about_zfp "zfp ${zfp_VERSION}")
if(forebay_lacks_zfp)
  set(forebay_about_zfp "left out: ${forebay_lacks_zfp}")
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
      "persistent memory|${forebay_about_pmem}"
      "devices of persistent memory|${forebay_about_devdax}"
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
    if(about MATCHES "^left out")
      set(some_left_out YES)
    endif()
  endforeach()
  if(some_left_out)
    message(STATUS "What is left out is no fault: the rest works without it; docs/install.md tells what each part is for")
  endif()
endfunction()
