# The program build/sublane, and the tests of its command line.
sublane_list(commands.inc ${CMAKE_SOURCE_DIR}/src/cli/cmd_*.cc)
file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.cc)
if(cli_sources)
  add_executable(sublane ${cli_sources})
  target_link_libraries(sublane PRIVATE ${SUBLANE_LIBRARIES} CLI11::CLI11)
  sublane_tests(cli ${SUBLANE_LIBRARIES})
endif()

# tests/<anything>/CMakeLists.txt: tests that are not GoogleTest programs (scripts over the tree, docs, the binary).
file(GLOB test_lists CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/CMakeLists.txt)
foreach(list ${test_lists})
  include(${list})
endforeach()
