// Compares results with a reference within bounds that were stated before either ran.
//
// A bound follows from types and lengths alone: results are rounded once, sums of n terms of at most some
// magnitude may be added in any order, operands may have been rounded to bf16, and functions of the extended
// unit are known to a few units in the last place. Nothing is read from the reference.
//
//   sim::Bound bound = sim::boundOf({.type = shape.type, .terms = 512, .magnitude = 512.0});
//   SUBLANE_TRY(sim::Comparison c, sim::compareValues(shape, host, reference, bound));
//   if (!c.equal()) fmt::print("{}\n", sim::describe(shape, c));
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "llo/shape.h"
#include "sim/sim.h"

namespace sublane::sim {

/// |got - want| <= absolute + relative * |want|. Both 0: bit for bit (any NaN equals any NaN).
struct Bound {
  double absolute = 0, relative = 0;
};

/// What a result is made of.
struct Arithmetic {
  llo::ElementType type = llo::ElementType::kF32;  // of the result
  int64_t terms = 0;                               // of the longest sum; 0: no sum
  double magnitude = 0;                            // at most, of the sum of the terms' magnitudes
  bool rounded_operands = false;                   // products of f32 that a matrix unit rounds to bf16
  int functions = 0;                               // exp, tanh, rsqrt, ... one after the other
  int roundings = 1;                               // to `type`, one after the other
};
Bound boundOf(const Arithmetic& arithmetic);

struct Difference {
  int64_t element = 0;  // row-major
  double got = 0, want = 0;
  int64_t device_byte = 0;  // in the device's layout: where it lies in the output's buffer
};
struct Comparison {
  int64_t elements = 0, outside = 0;  // of the bound
  double worst = 0;                   // largest |got - want|
  std::optional<Difference> first;    // outside of the bound
  bool equal() const { return outside == 0; }
};
/// Both in the host's order. Errors: sizes that do not fit the shape, types without numbers.
Result<Comparison> compareValues(const llo::Shape& shape, std::span<const std::byte> got,
                                 std::span<const std::byte> want, const Bound& bound);

/// "f32[64,256]: 3 of 16384 outside, first at [1,7] (register row 2): 1.5, not 1.25; worst 0.25"
/// `writer` may name what last wrote a byte of the output's buffer, or give "".
std::string describe(const llo::Shape& shape, const Comparison& comparison,
                     const std::function<std::string(int64_t device_byte)>& writer = {});

/// For describe(): what wrote a byte of an output's buffer, "fusion.1, bundle 0x1f", of a run with
/// Options::track_writers. It must not outlive the two.
std::function<std::string(int64_t device_byte)> writersOf(const llo::Program& program, const Run& run,
                                                          int32_t output);

/// One element of a host array as a number.
double numberAt(llo::ElementType type, std::span<const std::byte> host, int64_t element);

}  // namespace sublane::sim
