# Pinned versions from tools/versions.env, the one place that holds them:
#   SUBLANE_VERSION_<part>    a CMake variable, for example SUBLANE_VERSION_libtpu
#   SUBLANE_PART_DIR_<part>   where set-up unpacks that part
#   generated/parts.inc       one line SUBLANE_PART(part, package, version, needed_for) each, for C++
set(versions_file ${CMAKE_SOURCE_DIR}/tools/versions.env)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${versions_file})

# The parts that set-up fetched (tools/setup.sh): PJRT's header lies there.
if(NOT SUBLANE_PARTS)
  if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(SUBLANE_PARTS $ENV{XDG_CACHE_HOME}/sublane/parts)
  else()
    set(SUBLANE_PARTS $ENV{HOME}/.cache/sublane/parts)
  endif()
endif()

set(parts_text "")
file(STRINGS ${versions_file} part_lines REGEX "^[a-z-]+ +[a-z0-9-]+ +[0-9.]+ +[a-z]+ +[0-9a-f]+$")
foreach(line ${part_lines})
  string(REGEX REPLACE " +" ";" fields "${line}")
  list(GET fields 0 part)
  list(GET fields 1 package)
  list(GET fields 2 version)
  list(GET fields 3 needed_for)
  if(needed_for STREQUAL "long")
    continue()  # another version of a part, for make test-long only
  endif()
  set(SUBLANE_VERSION_${part} ${version})
  set(SUBLANE_PART_DIR_${part} ${SUBLANE_PARTS}/${part}-${version})
  string(APPEND parts_text "SUBLANE_PART(\"${part}\", \"${package}\", \"${version}\", \"${needed_for}\")\n")
endforeach()
if(NOT SUBLANE_VERSION_libtpu)
  message(FATAL_ERROR "tools/versions.env: no line for the part libtpu")
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/parts.inc CONTENT "${parts_text}")

# Said now rather than in the middle of the build (src/text/rust/build.sh asks the same script).
execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/find_rust.sh OUTPUT_QUIET ERROR_VARIABLE rust_error
                RESULT_VARIABLE rust_missing)
if(rust_missing)
  message(FATAL_ERROR "${rust_error}Run tools/setup.sh (or make demo), or put a newer Rust into PATH.")
endif()
