# A library for other programs to link: the C interface of rooms (include/forebay/), which lib<name>.map lists, and nothing
# else.
#   forebay_public_library(<target> EXPORTS <rooms> NAME <name> ABOUT <one line> ROOMS <rooms that these use>)
file(RELATIVE_PATH to_include ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})

function(forebay_public_library target)
  cmake_parse_arguments(LIBRARY "" "NAME;ABOUT" "EXPORTS;ROOMS" ${ARGN})
  set(map ${CMAKE_SOURCE_DIR}/cmake/lib${LIBRARY_NAME}.map)
  list(TRANSFORM LIBRARY_EXPORTS REPLACE "(.+)" "$<TARGET_OBJECTS:forebay_\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${LIBRARY_NAME} VERSION ${PROJECT_VERSION} SOVERSION 0
    LINK_DEPENDS ${map})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  list(TRANSFORM LIBRARY_ROOMS PREPEND forebay_)
  target_link_libraries(${target} PRIVATE ${LIBRARY_ROOMS})
  target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--version-script=${map})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/library.pc.in lib${LIBRARY_NAME}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lib${LIBRARY_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
