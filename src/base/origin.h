// Where a number that Sublane shows comes from. Every such number carries one (DESIGN, "Numbers carry
// their origin"), in text, JSON and HTML alike.
//
//   fmt::print("{} ({})\n", formatSeconds(t), name(Origin::kMeasured));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sublane {

enum class Origin : uint8_t {
  kMeasured,   // a device, or this machine, ran it
  kSimulated,  // our machine executed the bundles
  kCompiler,   // the compiler's own estimate
  kDatasheet,  // a published figure of the chip, or a bound made from one
  kAssumed,    // a guess that says so
};

constexpr std::string_view name(Origin origin) {
  constexpr std::string_view kNames[] = {"measured", "simulated", "compiler", "datasheet", "assumed"};
  return kNames[static_cast<size_t>(origin)];
}

}  // namespace sublane
