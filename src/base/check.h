// CHECK: stops the program at a bug of ours. What input, files, plugins or the machine can cause is a
// Result instead, and never reaches a check.
//
//   SUBLANE_CHECK(rank == 4, "cache write @ {}: rank {} is not 4", place, rank);
#pragma once

#include <fmt/format.h>

#include <string>

namespace sublane {

/// Prints "file:line: check failed: message" and aborts.
[[noreturn]] void checkFailed(const char* file, int line, const std::string& message);

}  // namespace sublane

#define SUBLANE_CHECK(condition, ...)                                                       \
  do {                                                                                      \
    if (!(condition)) ::sublane::checkFailed(__FILE__, __LINE__, fmt::format(__VA_ARGS__)); \
  } while (0)
