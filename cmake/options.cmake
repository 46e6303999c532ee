# What may be left out. A part whose option is ON is built where all that it needs is found, and else left out: the table at
# the end of the configuration says so. Nothing here is an error.
option(FOREBAY_MPI "Arrays over the ranks of an MPI program: libforebay_arrays (needs HDF5 too)" ON)
option(FOREBAY_HDF5 "Files of arrays: forebay inspect, and carrying home what libforebay_arrays left" ON)
option(FOREBAY_MESH "Huge meshes of coarse ones: forebay mesh (needs HDF5 too)" ON)
option(FOREBAY_FORTRAN "Fortran modules of the libraries" ON)
option(FOREBAY_PYTHON "The Python package of the libraries" ON)
option(FOREBAY_PMEM "Trajectories in persistent memory, on fsdax mounts (libpmem2)" ON)
option(FOREBAY_DEVDAX "Trajectories on devices of persistent memory without a file system (needs FOREBAY_PMEM too)" OFF)
option(FOREBAY_STATIC "Programs without libraries, for any Linux of this processor: make dist" OFF)
option(FOREBAY_BENCH "Benchmarks, and the example n3d" OFF)
option(FOREBAY_TESTS "Tests" OFF)
option(FOREBAY_WERROR "A warning of the compiler ends the build" OFF)
option(FOREBAY_FUZZ "The fuzz targets, and nothing else: cmake --preset fuzz" OFF)
set(FOREBAY_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined or thread")
set(FOREBAY_PYTHON_PACKAGES "" CACHE STRING
  "Where the Python package goes, below PREFIX or absolute; empty: where the interpreter looks")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

# Libraries that were found in a directory of the user's own are found there again by what is installed; not by what the
# system installs.
if(NOT DEFINED CMAKE_INSTALL_RPATH_USE_LINK_PATH AND NOT CMAKE_INSTALL_PREFIX MATCHES "^/usr/*$")
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# For every target that does not use forebay_options.
set(forebay_werror)
if(FOREBAY_WERROR)
  set(forebay_werror -Werror)
endif()
