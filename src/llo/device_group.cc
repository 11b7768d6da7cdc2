#include "llo/device_group.h"

#include <algorithm>

namespace sublane::llo {
namespace {

constexpr int64_t kMostDevices = 1 << 16;

/// Device 0's partners along an axis are `size` devices, `stride` apart.
struct Steps {
  int64_t size = 1, stride = 1;
};

Steps stepsOf(const MeshAxis& axis, const std::vector<int64_t>& sizes) {
  Steps steps;
  if (axis.index < 0 || axis.index >= static_cast<int64_t>(sizes.size())) return steps;
  for (size_t i = static_cast<size_t>(axis.index) + 1; i < sizes.size(); ++i)
    steps.stride = std::min(steps.stride * sizes[i], kMostDevices);
  steps.size = sizes[static_cast<size_t>(axis.index)];
  if (axis.size > 0 && axis.before > 0 && axis.size <= kMostDevices && axis.before <= kMostDevices &&
      steps.size >= axis.before * axis.size) {
    steps.stride *= steps.size / (axis.before * axis.size);
    steps.size = axis.size;
  }
  return steps;
}

}  // namespace

std::vector<int64_t> iotaGroup(const std::vector<int64_t>& dims, const std::vector<int64_t>& order,
                               int64_t size) {
  std::vector<int64_t> strides(dims.size(), 1), group;
  for (const int64_t dim : dims) {
    if (dim < 1 || dim > kMostDevices) return {};
  }
  for (size_t axis = dims.size(); axis-- > 1;)
    strides[axis - 1] = std::min(strides[axis] * dims[axis], kMostDevices);
  for (int64_t i = 0; i < std::min(size, kMostDevices); ++i) {
    int64_t rest = i, device = 0;
    for (size_t k = dims.size(); k-- > 0;) {
      const size_t axis = k < order.size() ? static_cast<size_t>(order[k]) : k;
      if (axis >= dims.size()) return {};
      device += rest % dims[axis] * strides[axis];
      rest /= dims[axis];
    }
    group.push_back(device);
  }
  return group;
}

std::vector<int64_t> meshGroup(const std::vector<int64_t>& sizes, const std::vector<MeshAxis>& axes) {
  std::vector<int64_t> bounded = sizes;
  for (int64_t& size : bounded) size = std::clamp<int64_t>(size, 1, kMostDevices);
  std::vector<int64_t> group = {0};
  for (const MeshAxis& axis : axes) {
    const Steps steps = stepsOf(axis, bounded);
    std::vector<int64_t> more;
    for (int64_t device : group) {
      for (int64_t k = 0; k < steps.size && static_cast<int64_t>(more.size()) < kMostDevices; ++k)
        more.push_back(device + k * steps.stride);
    }
    group = std::move(more);
  }
  return group;
}

}  // namespace sublane::llo
