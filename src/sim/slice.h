// A slice of chips that run the same program in step: one device is executed, and stands for all. What it
// sends to its neighbours arrives when theirs does, and what it waits for from them they sent when it did.
//
//   const Slice slice{.dims = {2, 4}};
//   slice.hops(5);  // from device 0 at (0, 0) to (1, 1): 2
#pragma once

#include <cstdint>
#include <vector>

namespace sublane::sim {

struct Slice {
  std::vector<int64_t> dims{};  // chips along each axis; empty: one chip

  int64_t devices() const;
  /// Links that a transfer from device 0 to `device` crosses, along the axes one after the other. Axes of 16
  /// (two axes) or of a multiple of 4 (three) close into rings.
  int64_t hops(int64_t device) const;
  /// The link that it leaves by: 2 * axis, one more for the direction towards lower numbers.
  int32_t link(int64_t device) const;
  /// Axes that are long enough for a ring of their own.
  int64_t longAxes() const;

 private:
  bool closed(int64_t length) const;
};

}  // namespace sublane::sim
