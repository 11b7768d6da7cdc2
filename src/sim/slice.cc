#include "sim/slice.h"

#include <algorithm>

namespace sublane::sim {

int64_t Slice::devices() const {
  int64_t count = 1;
  for (const int64_t length : dims) count *= length;
  return count;
}

bool Slice::closed(int64_t length) const { return dims.size() == 2 ? length == 16 : length % 4 == 0; }

int64_t Slice::hops(int64_t device) const {
  int64_t count = 0;
  for (size_t axis = dims.size(); axis-- > 0; device /= dims[axis]) {
    const int64_t at = device % dims[axis];
    count += closed(dims[axis]) ? std::min(at, dims[axis] - at) : at;
  }
  return std::max<int64_t>(count, 1);
}

int32_t Slice::link(int64_t device) const {
  for (size_t axis = dims.size(); axis-- > 0; device /= dims[axis]) {
    const int64_t at = device % dims[axis];
    if (at == 0) continue;
    const bool down = closed(dims[axis]) && at > dims[axis] / 2;
    return static_cast<int32_t>(2 * axis) + (down ? 1 : 0);
  }
  return 0;
}

int64_t Slice::longAxes() const {
  return std::count_if(dims.begin(), dims.end(), [](int64_t length) { return length > 2; });
}

}  // namespace sublane::sim
