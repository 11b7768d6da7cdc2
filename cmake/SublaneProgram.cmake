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

# tests/<folder>/<what>_reference_test.py: the binary beside a reference implementation from PyPI.
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/reference/packages.sh OUTPUT_VARIABLE reference_packages
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" reference_packages "${reference_packages}")
list(GET reference_packages 0 SUBLANE_REFERENCE_PYTHON)
list(GET reference_packages 1 SUBLANE_REFERENCE)
file(GLOB reference_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/*/*_reference_test.py)
foreach(test ${reference_tests})
  get_filename_component(stem ${test} NAME_WE)
  get_filename_component(folder ${test} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  add_test(NAME reference_${folder}_${stem} COMMAND ${SUBLANE_REFERENCE_PYTHON} -B ${test})
  set_tests_properties(reference_${folder}_${stem} PROPERTIES LABELS reference TIMEOUT 600
    ENVIRONMENT "PYTHONPATH=${SUBLANE_REFERENCE};SUBLANE_BINARY=${CMAKE_BINARY_DIR}/sublane")
endforeach()
