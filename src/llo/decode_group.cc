// Which devices a collective joins, in the five ways in which modules say it.
#include <algorithm>

#include "llo/decode.h"
#include "llo/device_group.h"

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

void decodeIota(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  std::vector<int64_t> dims, order;
  int64_t size = 0;
  wire.each("IotaReplicaGroupListProto", bytes, [&](const Field& field) {
    if (field.number == 2) size = wire.integer(field);
    if (field.number == 3) wire.integers(field, dims);
    if (field.number == 4) wire.integers(field, order);
  });
  group = iotaGroup(dims, order, size);
}

void decodeDeviceList(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  wire.each("CollectiveDeviceListProto", bytes, [&](const Field& field) {
    if (field.number == 1) decodeReplicaGroup(wire, wire.text(field), group);
    if (field.number == 2) decodeIota(wire, wire.text(field), group);
  });
}

MeshAxis decodeAxis(Wire& wire, std::string_view bytes) {
  MeshAxis axis;
  wire.each("AxisRefProto", bytes, [&](const Field& field) {
    if (field.number == 1) axis.index = wire.integer(field);
    if (field.number != 2) return;
    wire.each("SubAxis", wire.text(field), [&](const Field& inner) {
      if (inner.number == 1) axis.before = wire.integer(inner);
      if (inner.number == 2) axis.size = wire.integer(inner);
    });
  });
  return axis;
}

void decodeMeshAxes(Wire& wire, std::string_view bytes, std::vector<int64_t>& group) {
  std::vector<int64_t> sizes;
  std::vector<MeshAxis> axes;
  wire.each("MeshAxesReplicaGroupListProto", bytes, [&](const Field& field) {
    if (field.number == 2) axes.push_back(decodeAxis(wire, wire.text(field)));
    if (field.number != 1) return;
    wire.each("MeshProto", wire.text(field), [&](const Field& inner) {
      if (inner.number != 1) return;
      int64_t size = 1;
      wire.each("MeshAxis", wire.text(inner), [&](const Field& axis) {
        if (axis.number == 2) size = wire.integer(axis);
      });
      sizes.push_back(size);
    });
  });
  group = meshGroup(sizes, axes);
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
  if (field.number == 92) decodeIota(wire, bytes, group);
  if (field.number == 93) decodeMeshAxes(wire, bytes, group);
}

}  // namespace sublane::llo
