// Which devices a collective joins, in HLO text.
#include <algorithm>

#include "llo/device_group.h"
#include "llo/hlo_text_reader.h"

namespace sublane::llo {
namespace {

/// "{{0,1},{2,3}}": the group that holds device 0.
void readLists(HloCursor& cursor, std::vector<int64_t>& group) {
  cursor.each('{', '}', [&] {
    std::vector<int64_t> members = cursor.integers('{', '}', "a device's number");
    if (std::find(members.begin(), members.end(), 0) != members.end()) group = std::move(members);
  });
}

/// "[2,4]<=[4,2]T(1,0)": 2 groups of 4.
void readIota(HloCursor& cursor, std::vector<int64_t>& group) {
  const std::vector<int64_t> groups = cursor.integers('[', ']', "a number of devices");
  if (!cursor.take("<=")) return cursor.expected("'<='");
  const std::vector<int64_t> dims = cursor.integers('[', ']', "a number of devices");
  std::vector<int64_t> order;
  if (cursor.take('T')) order = cursor.integers('(', ')', "a dimension");
  group = iotaGroup(dims, order, groups.empty() ? 0 : groups.back());
}

std::string_view axisName(HloCursor& cursor) {
  const bool in_quotes = cursor.take('\'') || cursor.take('"');
  const std::string_view name = cursor.word("a mesh axis");
  if (in_quotes && !cursor.take('\'') && !cursor.take('"')) cursor.expected("a quote");
  return name;
}

/// "mesh['a'=2,'b'=4] {'b':(1)2}": along an axis, or a part of it.
void readMesh(HloCursor& cursor, std::vector<int64_t>& group) {
  std::vector<std::string_view> names;
  std::vector<int64_t> sizes;
  std::vector<MeshAxis> axes;
  cursor.each('[', ']', [&] {
    names.push_back(axisName(cursor));
    cursor.expect('=');
    sizes.push_back(cursor.integer("a number of devices"));
  });
  if (cursor.take(',')) {  // devices in an order of their own, which the proto's reader ignores too
    if (!cursor.take("device_ids=")) return cursor.expected("device_ids=");
    cursor.bracketed();
  }
  cursor.each('{', '}', [&] {
    const char* place = cursor.place();
    const auto found = std::find(names.begin(), names.end(), axisName(cursor));
    if (found == names.end()) return cursor.failAt(place, "this axis is not one of the mesh");
    MeshAxis axis{.index = found - names.begin()};
    if (cursor.take(':')) {
      cursor.expect('(');
      axis.before = cursor.integer("a number of devices");
      cursor.expect(')');
      axis.size = cursor.integer("a number of devices");
    }
    axes.push_back(axis);
  });
  group = meshGroup(sizes, axes);
}

}  // namespace

void readGroupText(HloCursor& cursor, std::vector<int64_t>& group) {
  if (cursor.take("mesh")) return readMesh(cursor, group);
  if (cursor.peek() == '[') return readIota(cursor, group);
  readLists(cursor, group);
}

/// "{{0,1},{1,0}}": device 0's partners are itself and whom it sends to.
void readPairsText(HloCursor& cursor, std::vector<int64_t>& group) {
  cursor.each('{', '}', [&] {
    const char* place = cursor.place();
    const std::vector<int64_t> pair = cursor.integers('{', '}', "a device's number");
    if (pair.size() != 2) return cursor.failAt(place, fmt::format("a pair of {} devices", pair.size()));
    if (pair[0] == 0) group = pair;
  });
}

}  // namespace sublane::llo
