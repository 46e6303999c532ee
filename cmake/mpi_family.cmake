# Sets <to> to the family of the MPI that find_package(MPI) found for a language: openmpi, or mpich, which stands for MPICH and
# those like it (Intel MPI, MVAPICH, Cray's). Handles of one family mean nothing to the other, so each has a
# libforebay_arrays of its own. It is installed, too, since programs that use forebay ask the same of their MPI.
include(CheckSourceCompiles)
function(forebay_mpi_family to language)
  if(language STREQUAL Fortran)
    set(program "program main\nimplicit none\ninclude 'mpif.h'\nprint *, OMPI_MAJOR_VERSION\nend program")
    set(ending f90)
  else()
    set(program "#include <mpi.h>\n#ifndef OPEN_MPI\n#error another one\n#endif\nint main(void) { return 0; }")
    string(TOLOWER ${language} ending)
    string(REPLACE cxx cpp ending ${ending})
  endif()
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_${language})
  set(CMAKE_REQUIRED_QUIET ON)
  unset(FOREBAY_MPI_IS_OPENMPI CACHE)  # it may be another MPI since the last configuration
  check_source_compiles(${language} "${program}" FOREBAY_MPI_IS_OPENMPI SRC_EXT ${ending})
  if(FOREBAY_MPI_IS_OPENMPI)
    set(${to} openmpi PARENT_SCOPE)
  else()
    set(${to} mpich PARENT_SCOPE)
  endif()
  unset(FOREBAY_MPI_IS_OPENMPI CACHE)
endfunction()
