// Which devices a collective joins, in the four ways in which modules say it.
#include <algorithm>

#include "llo/decode.h"

namespace sublane::llo {
namespace {

/// Keeps the group that device 0 is in.
void decodeReplicaGroup(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  std::vector<int64_t> members;
  wire.each("ReplicaGroup", bytes, [&](const Field& field) {
    if (field.number == 1) wire.integers(field, members);
  });
  if (std::find(members.begin(), members.end(), 0) != members.end()) group = std::move(members);
}

/// Devices numbered row by row in `dims`, transposed by `order`, and cut into groups of `size`: the first
/// holds device 0.
std::vector<int64_t> iotaGroup(const std::vector<int64_t>& dims, const std::vector<int64_t>& order,
                               int64_t size) {
  constexpr int64_t kMostDevices = 1 << 16;
  std::vector<int64_t> strides(dims.size(), 1), group;
  for (size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  for (int64_t i = 0; i < std::min(size, kMostDevices); ++i) {
    int64_t rest = i, device = 0;
    for (size_t k = dims.size(); k-- > 0;) {
      const size_t axis = k < order.size() ? static_cast<size_t>(order[k]) : k;
      if (axis >= dims.size() || dims[axis] < 1) return {};
      device += rest % dims[axis] * strides[axis];
      rest /= dims[axis];
    }
    group.push_back(device);
  }
  return group;
}

void decodeDeviceList(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  wire.each("CollectiveDeviceListProto", bytes, [&](const Field& field) {
    if (field.number == 1) decodeReplicaGroup(wire, wire.text(field), group);
    if (field.number != 2) return;
    std::vector<int64_t> dims, order;
    int64_t size = 0;
    wire.each("IotaReplicaGroupListProto", wire.text(field), [&](const Field& inner) {
      if (inner.number == 2) size = wire.integer(inner);
      if (inner.number == 3) wire.integers(inner, dims);
      if (inner.number == 4) wire.integers(inner, order);
    });
    group = iotaGroup(dims, order, size);
  });
}

/// One axis of a device mesh, or a part of it: device 0's partners are `size` devices, `stride` apart.
struct AxisPart {
  int64_t size = 1, stride = 1;
};

AxisPart decodeAxisPart(Wire& wire, std::string_view bytes, const std::vector<int64_t>& sizes) {
  int64_t index = 0, before = 1, part = 0;
  wire.each("AxisRefProto", bytes, [&](const Field& field) {
    if (field.number == 1) index = wire.integer(field);
    if (field.number != 2) return;
    wire.each("SubAxis", wire.text(field), [&](const Field& inner) {
      if (inner.number == 1) before = wire.integer(inner);
      if (inner.number == 2) part = wire.integer(inner);
    });
  });
  AxisPart axis;
  if (index < 0 || index >= static_cast<int64_t>(sizes.size())) return axis;
  for (size_t i = static_cast<size_t>(index) + 1; i < sizes.size(); ++i) axis.stride *= sizes[i];
  axis.size = sizes[static_cast<size_t>(index)];
  if (part > 0 && before > 0 && axis.size >= before * part) {
    axis.stride *= axis.size / (before * part);
    axis.size = part;
  }
  return axis;
}

/// Groups along axes of a mesh whose devices are numbered row by row.
void decodeMeshAxes(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  constexpr size_t kMostDevices = 1 << 16;
  std::vector<int64_t> sizes;
  std::vector<std::string> references;
  wire.each("MeshAxesReplicaGroupListProto", bytes, [&](const Field& field) {
    if (field.number == 2) references.emplace_back(wire.text(field));
    if (field.number != 1) return;
    wire.each("MeshProto", wire.text(field), [&](const Field& inner) {
      if (inner.number != 1) return;
      int64_t size = 1;
      wire.each("MeshAxis", wire.text(inner), [&](const Field& axis) {
        if (axis.number == 2) size = wire.integer(axis);
      });
      sizes.push_back(std::clamp<int64_t>(size, 1, int64_t{kMostDevices}));
    });
  });
  group = {0};
  for (const std::string& reference : references) {
    const AxisPart axis = decodeAxisPart(wire, reference, sizes);
    std::vector<int64_t> more;
    for (int64_t device : group) {
      for (int64_t k = 0; k < axis.size && more.size() < kMostDevices; ++k)
        more.push_back(device + k * axis.stride);
    }
    group = std::move(more);
  }
}

/// Device 0's partners in a permutation: itself, and whom it sends to.
void decodePair(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  int64_t source = 0, target = 0;  // a 0 is not written
  wire.each("SourceTarget", bytes, [&](const Field& field) {
    if (field.number == 1) source = wire.integer(field);
    if (field.number == 2) target = wire.integer(field);
  });
  if (source == 0) group = {0, target};
}

}  // namespace

void decodeGroup(Wire& wire, const Field& field, std::vector<int64_t>& group) {
  const std::string_view bytes = wire.text(field);
  if (field.number == 49) decodeReplicaGroup(wire, bytes, group);
  if (field.number == 52) decodePair(wire, bytes, group);
  if (field.number == 87) decodeDeviceList(wire, bytes, group);
  if (field.number == 93) decodeMeshAxes(wire, bytes, group);
}

}  // namespace sublane::llo
