# A library for other programs to link: the C interface of rooms (include/forebay/), which lib<name>.map lists, and nothing
# else.
#   forebay_public_library(<target> EXPORTS <rooms> NAME <name> [FAMILY <of MPI>] ROOMS <rooms that these use>
#                          PKG_CONFIG <words for forebay_pkg_config()>)
# One that has a family of MPI has it in its name, and is installed by the component arrays. So that of one MPI can be built
# and installed beside that of another one.
# For programs that are built outside of this tree each is described to pkg-config, and all are to CMake (find_package).
# Versions of a series fit each other (include/forebay/version.h): until 1.0.0 those of one minor number.
set(forebay_series ${PROJECT_VERSION_MAJOR})
if(forebay_series EQUAL 0)
  string(APPEND forebay_series .${PROJECT_VERSION_MINOR})
endif()
file(RELATIVE_PATH to_include ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})

#   forebay_pkg_config(<name of the library> ABOUT <one line> [REQUIRES <other descriptions>]
#                      [BELOW </directory of its headers or modules>] [MPI <language>] [COMPONENT <that installs it>])
function(forebay_pkg_config name)
  cmake_parse_arguments(PC "" "ABOUT;REQUIRES;BELOW;MPI;COMPONENT" "" ${ARGN})
  # The MPI that the library is of: another one does not fit it.
  set(cflags "")
  set(libs "")
  if(PC_MPI)
    foreach(directory ${MPI_${PC_MPI}_INCLUDE_DIRS})
      string(APPEND cflags " -I${directory}")
    endforeach()
    list(JOIN MPI_${PC_MPI}_LIBRARIES " " libs)
    string(PREPEND libs " ")
  endif()
  configure_file(${CMAKE_SOURCE_DIR}/cmake/library.pc.in lib${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${PC_COMPONENT})
endfunction()

function(forebay_public_library target)
  cmake_parse_arguments(LIBRARY "" "NAME;FAMILY" "EXPORTS;ROOMS;PKG_CONFIG" ${ARGN})
  set(map ${CMAKE_SOURCE_DIR}/cmake/lib${LIBRARY_NAME}.map)
  set(name ${LIBRARY_NAME})
  set(component library)
  set(namelink_component development)
  if(LIBRARY_FAMILY)
    string(APPEND name _${LIBRARY_FAMILY})
    set(component arrays)
    set(namelink_component arrays)
  endif()
  list(TRANSFORM LIBRARY_EXPORTS REPLACE "(.+)" "$<TARGET_OBJECTS:forebay_\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${forebay_series}
    LINK_DEPENDS ${map} INSTALL_RPATH "$ORIGIN")
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  list(TRANSFORM LIBRARY_ROOMS PREPEND forebay_)
  target_link_libraries(${target} PRIVATE ${LIBRARY_ROOMS})
  target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--version-script=${map})
  if(FOREBAY_STATIC)
    target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--gc-sections)  # or it asks for what nobody calls
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
    NAMELINK_COMPONENT ${namelink_component})
  forebay_pkg_config(${name} COMPONENT ${namelink_component} ${LIBRARY_PKG_CONFIG})
endfunction()

include(CMakePackageConfigHelpers)
set(config_directory ${CMAKE_INSTALL_LIBDIR}/cmake/forebay)
configure_package_config_file(cmake/forebay-config.cmake.in forebay-config.cmake INSTALL_DESTINATION ${config_directory}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(forebay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/forebay-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/forebay-config-version.cmake
  cmake/mpi_family.cmake
  DESTINATION ${config_directory} COMPONENT development)
