// Arrays between the host's order and the device's: dimensions in the layout's order, cut into tiles, tiles
// cut again (two rows of bf16 in one word), and padded.
//
// The host's array is dense and row-major; elements of less than a byte take one byte each there, several to
// a byte on the device. What the device's bytes hold beyond the array is poison, so that a program that uses
// its padding shows.
//
//   // bf16[8,576]{1,0:T(8,128)(2,1)}: 9216 bytes on the host, 10240 on the device
//   SUBLANE_TRY(std::vector<std::byte> device, sim::toDevice(shape, host));
//   SUBLANE_TRY(std::vector<std::byte> again, sim::toHost(shape, device));
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "llo/shape.h"

namespace sublane::sim {

/// Where each element lies: the sum of one term a dimension, in elements. terms[d][i] is for index i of
/// dimension d, in the shape's own order of dimensions.
struct Placing {
  std::vector<std::vector<int64_t>> terms;
  int64_t elements = 0;  // padding included
};
/// Errors: a tuple; a layout that doesn't fit its shape; tiles that merge dimensions.
Result<Placing> placingOf(const llo::Shape& shape);

/// Bytes of the host's dense array.
int64_t hostBytes(const llo::Shape& shape);

/// Errors: as placingOf; a host array of another size.
Result<std::vector<std::byte>> toDevice(const llo::Shape& shape, std::span<const std::byte> host);
/// Errors: as placingOf; fewer bytes than the device's layout takes.
Result<std::vector<std::byte>> toHost(const llo::Shape& shape, std::span<const std::byte> device);

}  // namespace sublane::sim
