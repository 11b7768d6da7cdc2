// The program's constants that lie in HBM: which allocation of the top-level program holds which constant of
// the module. libtpu names such an allocation "constant literal" and no more; the operation that uses it, and
// the constant's shape, say which one it is. What cannot be told stays unknown memory.
//
//   for (const PlacedConstant& c : placeConstants(program, placement)) hbm.write(c.address, c.bytes);
#pragma once

#include <cstddef>
#include <vector>

#include "sim/placement.h"

namespace sublane::sim {

struct PlacedConstant {
  int64_t address = 0;           // bytes in HBM
  std::vector<std::byte> bytes;  // in device layout
};
std::vector<PlacedConstant> placeConstants(const llo::Program& program, const Placement& placement);

}  // namespace sublane::sim
