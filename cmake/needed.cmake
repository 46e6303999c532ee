# What the command and its libraries cannot be built without; docs/install.md lists it, too. What is missing is said at once.
set(missing "")

#   forebay_need(<variable that says whether it was found> <what, and from which version> <Debian's package>
#                [<version found> <lowest that is known to work>])
function(forebay_need found what debian)
  if(NOT ${found})
    string(APPEND missing "\n  ${what}  (Debian: ${debian})")
  elseif(ARGC EQUAL 5 AND ARGV3 VERSION_LESS ARGV4)
    string(APPEND missing "\n  ${what}, not ${ARGV3}  (Debian: ${debian})")
  endif()
  set(missing "${missing}" PARENT_SCOPE)
endfunction()

if(FOREBAY_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig)
forebay_need(PKG_CONFIG_FOUND "pkg-config" pkg-config)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc)
  pkg_check_modules(XXHASH QUIET IMPORTED_TARGET libxxhash)
  pkg_check_modules(LZ4 QUIET IMPORTED_TARGET liblz4)
  pkg_check_modules(ZSTD QUIET IMPORTED_TARGET libzstd)
endif()
foreach(package fmt nlohmann_json CLI11 tl-expected toml11 ZLIB)
  find_package(${package} QUIET)
endforeach()
forebay_need(fmt_FOUND "fmt 8.1 or later" libfmt-dev "${fmt_VERSION}" 8.1)
forebay_need(nlohmann_json_FOUND "nlohmann-json 3.11 or later" nlohmann-json3-dev "${nlohmann_json_VERSION}" 3.11)
forebay_need(CLI11_FOUND "CLI11 2.1 or later" libcli11-dev "${CLI11_VERSION}" 2.1)
forebay_need(tl-expected_FOUND "tl-expected" libexpected-dev)
forebay_need(toml11_FOUND "toml11 3.7 or later" libtoml11-dev "${toml11_VERSION}" 3.7)
forebay_need(ZLIB_FOUND "zlib" zlib1g-dev)
forebay_need(HWLOC_FOUND "hwloc" libhwloc-dev)
forebay_need(XXHASH_FOUND "xxHash 0.8 or later" libxxhash-dev "${XXHASH_VERSION}" 0.8)
forebay_need(LZ4_FOUND "LZ4" liblz4-dev)
forebay_need(ZSTD_FOUND "Zstandard" libzstd-dev)
if(missing)
  message(FATAL_ERROR "forebay needs what was not found:${missing}\n"
    "'make deps' installs it on Debian, with root or sudo; docs/install.md says how to go on without root. What lies in a "
    "directory of yours is found by -DCMAKE_PREFIX_PATH=DIRECTORY.")
endif()

# Debian has no fmt to link statically.
set(forebay_fmt fmt::fmt)
if(FOREBAY_STATIC)
  set(forebay_fmt fmt::fmt-header-only)
endif()

# xxHash's own choice by processor is a part of the library that some builds of it lack, with or without the header.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::XXHASH)
check_cxx_source_compiles("
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include <xxh_x86dispatch.h>
int main() { return static_cast<int>(XXH3_64bits(\"\", 0)); }" FOREBAY_XXHASH_DISPATCH)
unset(CMAKE_REQUIRED_LIBRARIES)
