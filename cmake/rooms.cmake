# A room is a folder of src/: one static library from its sources, and one test program from its tests/ folder. Its name is
# the last part of its path.
#   forebay_room(<path> [ROOMS other rooms it may use, below it] [LIBRARIES external targets])
# The rooms a room may use are listed in src/CMakeLists.txt only, so the house can be read in one place.

if(forebay_has_tests)
  include(GoogleTest)
endif()

add_library(forebay_options INTERFACE)
target_compile_options(forebay_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wconversion ${forebay_werror})
target_include_directories(forebay_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
# In clang -Wconversion includes -Wsign-conversion, in gcc it does so for C alone.
target_compile_options(forebay_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)
# What a mutex guards is used under it: base/mutex.h.
target_compile_options(forebay_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
# GCC 12's own false alarms at std::string, with -O3 (as its bug 105651); builds that a warning ends have them on.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\." AND NOT FOREBAY_WERROR)
  target_compile_options(forebay_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_UNITY_BUILD)
  # Types of a source's own stand in what gcc takes for a header there.
  target_compile_options(forebay_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(FOREBAY_SANITIZE)
  # For tests of speed and of memory, which are then those of the sanitizer.
  target_compile_definitions(forebay_options INTERFACE FOREBAY_SANITIZED)
  target_compile_options(forebay_options INTERFACE -fsanitize=${FOREBAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(forebay_options INTERFACE -fsanitize=${FOREBAY_SANITIZE})
endif()

add_custom_target(unit_tests)

# Loops over whole fields become vectors; with sanitizers, which make every access a call, no more than
# costs little time to compile.
function(forebay_vectors room)
  if(FOREBAY_SANITIZE)
    target_compile_options(forebay_${room} PRIVATE -O1)
  else()
    target_compile_options(forebay_${room} PRIVATE -O3)
  endif()
endfunction()

function(forebay_room path)
  get_filename_component(name ${path} NAME)
  cmake_parse_arguments(ROOM "" "" "ROOMS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${path}/*.cpp)
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM ROOM_ROOMS PREPEND forebay_)
  add_library(forebay_${name} STATIC ${sources})
  target_link_libraries(forebay_${name} PUBLIC forebay_options Threads::Threads ${ROOM_ROOMS} ${ROOM_LIBRARIES})
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${path}/tests/*.cpp)
  if(tests AND forebay_has_tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE forebay_${name} GTest::gtest GTest::gtest_main)
    # What they test is optimised; for themselves that would double the time that they take to be made.
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
    add_dependencies(unit_tests ${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
  endif()
endfunction()

# A program that is installed and works wherever it is copied, with FOREBAY_STATIC.
function(forebay_program target)
  if(FOREBAY_STATIC)
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/static/udev.c)
    target_link_options(${target} PRIVATE -static)
  endif()
endfunction()

# The sources of a room that is there once more, with threads whose order a test chooses: <path>/tests/schedules.
function(forebay_scheduled_test path)
  get_filename_component(name ${path} NAME)
  if(NOT forebay_has_tests)
    return()
  endif()
  get_target_property(sources forebay_${name} SOURCES)
  get_target_property(libraries forebay_${name} LINK_LIBRARIES)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${path}/tests/schedules/*.cpp)
  add_executable(${name}_schedules_test ${sources} ${tests})
  target_compile_definitions(${name}_schedules_test PRIVATE FOREBAY_SCHEDULED)
  target_link_libraries(${name}_schedules_test PRIVATE ${libraries} GTest::gtest GTest::gtest_main)
  add_dependencies(unit_tests ${name}_schedules_test)
  gtest_discover_tests(${name}_schedules_test TEST_PREFIX "${name}/" DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
endfunction()

# Writes down which room uses which, as their targets say: rooms.txt of the build tree has a line "<path>: <paths>" for each
# room, and one for each program. The target rooms draws docs/rooms.svg from it. Called from src/ when all rooms are there.
# The target of a room that includes headers of another one and links nothing of it has the property FOREBAY_HEADERS_OF.
function(forebay_write_rooms)
  set(targets)
  foreach(directory ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/run/redirect)
    get_property(made DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    list(APPEND targets ${made})
  endforeach()
  # The public libraries are rooms once more; they have no sources of their own.
  list(FILTER targets INCLUDE REGEX "^forebay")
  list(FILTER targets EXCLUDE REGEX "_library$")
  foreach(target ${targets})
    get_target_property(sources ${target} SOURCES)
    list(GET sources 0 source)
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(room ${source} DIRECTORY)
    file(RELATIVE_PATH room_of_${target} ${CMAKE_CURRENT_SOURCE_DIR} ${room})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      set(room_of_${target} ${target})
    endif()
  endforeach()
  set(lines)
  foreach(target ${targets})
    get_target_property(linked ${target} LINK_LIBRARIES)
    get_target_property(headers ${target} FOREBAY_HEADERS_OF)
    if(headers)
      list(APPEND linked ${headers})
    endif()
    set(line "${room_of_${target}}:")
    foreach(each ${linked})
      if(DEFINED room_of_${each})
        string(APPEND line " ${room_of_${each}}")
      endif()
    endforeach()
    list(APPEND lines "${line}")
  endforeach()
  list(JOIN lines "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/rooms.txt "${text}\n")
  add_custom_target(rooms COMMENT "docs/rooms.svg"
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/rooms.py ${CMAKE_BINARY_DIR}/rooms.txt ${CMAKE_SOURCE_DIR}/docs/rooms.svg)
endfunction()
