# sublane_folder(NAME [USES folders...] [LINK libs...]): src/NAME/**/*.cc as library sublane_NAME, linked to the folders
# that it uses (every folder above it, where it doesn't say), and the tests of tests/NAME, which may use all of them.
# src/NAME/CMakeLists.txt, where there is one, is read first.
set(SUBLANE_LIBRARIES "")

macro(sublane_folder NAME)
  cmake_parse_arguments(ARG "" "" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/*.cc)
  if(EXISTS ${CMAKE_SOURCE_DIR}/src/${NAME}/CMakeLists.txt)
    include(${CMAKE_SOURCE_DIR}/src/${NAME}/CMakeLists.txt)   # may add to `sources` and ARG_LINK
  endif()
  if(sources)
    add_library(sublane_${NAME} STATIC ${sources})
    target_include_directories(sublane_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
    if(ARG_USES)
      list(TRANSFORM ARG_USES PREPEND sublane_)
    else()
      set(ARG_USES ${SUBLANE_LIBRARIES})
    endif()
    target_link_libraries(sublane_${NAME} PUBLIC ${ARG_USES} ${ARG_LINK})
    list(PREPEND SUBLANE_LIBRARIES sublane_${NAME})
    sublane_tests(${NAME} ${SUBLANE_LIBRARIES})
  endif()
endmacro()

# sublane_embed(OUTPUT PATTERN KEY): the files of src/PATTERN travel inside the binary: generated/OUTPUT holds of each
# {"name", R"file(text)file"}, where the name is its NAME or NAME_WE, as KEY says.
function(sublane_embed OUTPUT PATTERN KEY)
  file(GLOB paths CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${PATTERN})
  set(rows "// Written by CMake from src/${PATTERN}.\n")
  foreach(path ${paths})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    get_filename_component(name ${path} ${KEY})
    file(READ ${path} text)
    string(APPEND rows "{\"${name}\", R\"file(${text})file\"},\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/${OUTPUT} CONTENT "${rows}")
endfunction()

# Three drawers: *_test.cc needs nothing (label unit); *_plugin_test.cc needs the CPU plugins, libtpu or the real
# checkpoints (plugin), and one runs at a time, since each fills both cores and much memory; *_long_test.cc is left to
# `make test-long` (long).
function(sublane_tests NAME)
  file(GLOB unit CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${NAME}/*_test.cc)
  file(GLOB plugin CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${NAME}/*_plugin_test.cc)
  file(GLOB long CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${NAME}/*_long_test.cc)
  list(REMOVE_ITEM unit ${plugin} ${long} "")
  foreach(drawer unit plugin long)
    if(NOT ${drawer})
      continue()
    endif()
    set(program ${drawer}_${NAME})
    add_executable(${program} ${${drawer}})
    target_link_libraries(${program} PRIVATE ${ARGN} GTest::gtest_main)
    target_compile_definitions(${program} PRIVATE SUBLANE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                  SUBLANE_BINARY_DIR="${CMAKE_BINARY_DIR}")
    add_test(NAME ${program} COMMAND ${program} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${program} PROPERTIES LABELS ${drawer})
    if(NOT drawer STREQUAL "unit")
      set_tests_properties(${program} PROPERTIES TIMEOUT 1500 RESOURCE_LOCK plugins
                           ENVIRONMENT "SUBLANE_WORKER=${CMAKE_BINARY_DIR}/sublane")
      add_dependencies(${program} sublane)   # tests start the binary's worker
    endif()
  endforeach()
endfunction()

# sublane_list(OUT FILE glob... ): generated/OUT holds one line `SUBLANE_ENTRY(stem)` for each file, in order of name.
# The folder's code defines SUBLANE_ENTRY and includes it: lists come from the tree.
function(sublane_list OUT)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  set(text "")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND text "SUBLANE_ENTRY(${stem})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${OUT} CONTENT "${text}")
endfunction()
