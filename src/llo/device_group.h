// The devices that device 0 works with in a collective, from the compact ways of writing groups. Private to
// the folder: the proto's reader and the text's share it.
//
//   iotaGroup({2, 4}, {1, 0}, 2)         // "[4,2]<=[2,4]T(1,0)": {0, 4}
//   meshGroup({2, 2}, {{.index = 0}})    // "mesh[a=2,b=2] {a}": {0, 2}
#pragma once

#include <cstdint>
#include <vector>

namespace sublane::llo {

/// Devices numbered row by row in `dims`, transposed by `order`, and cut into groups of `size`: the first
/// holds device 0. Empty: the numbers make no sense.
std::vector<int64_t> iotaGroup(const std::vector<int64_t>& dims, const std::vector<int64_t>& order,
                               int64_t size);

/// One axis of a device mesh, or the part of it with `size` devices that has `before` more significant ones.
struct MeshAxis {
  int64_t index = 0, before = 1, size = 0;  // size 0: the whole axis
};
/// Groups along axes of a mesh whose devices are numbered row by row.
std::vector<int64_t> meshGroup(const std::vector<int64_t>& sizes, const std::vector<MeshAxis>& axes);

}  // namespace sublane::llo
