// The devices that a collective joins, in the five ways in which modules say it.
#include <gtest/gtest.h>

#include "hlo_writer.h"
#include "llo/llo.h"

namespace sublane::llo {
namespace {

using namespace testing;  // NOLINT: the encoder
using Devices = std::vector<int64_t>;

Devices groupOf(const std::string& fields) {
  HloWriter hlo;
  const auto entry = hlo.computation(
      "main",
      {parameter(1, "x", f32({8}), 0), instruction(2, "all-reduce", "all-reduce", f32({8}), {1}, fields)}, 2);
  auto module = readHloModule(hlo.module(entry));
  EXPECT_TRUE(module.ok()) << module.error().text();
  return module.ok() ? module->entryComputation().at(1).group : Devices{};
}

TEST(CollectiveGroup, Listed) {
  EXPECT_EQ(groupOf(bytes(49, numbers(1, {1, 3})) + bytes(49, numbers(1, {2, 0}))), (Devices{2, 0}));
  EXPECT_EQ(groupOf(bytes(87, bytes(1, numbers(1, {0, 4})))), (Devices{0, 4}));
  EXPECT_EQ(groupOf(""), Devices{});
}

TEST(CollectiveGroup, CountedInATransposedGrid) {
  const auto iota = [](int64_t size, const Devices& dims, const Devices& order) {
    const std::string list = number(1, 2) + number(2, size) + numbers(3, dims) + numbers(4, order);
    EXPECT_EQ(groupOf(bytes(87, bytes(2, list))), groupOf(bytes(92, list))) << "in a field of its own";
    return bytes(87, bytes(2, list));
  };
  EXPECT_EQ(groupOf(iota(4, {8}, {0})), (Devices{0, 1, 2, 3}));
  EXPECT_EQ(groupOf(iota(2, {2, 4}, {1, 0})), (Devices{0, 4}));
  EXPECT_EQ(groupOf(iota(4, {2, 4}, {1, 0})), (Devices{0, 4, 1, 5}));
  EXPECT_EQ(groupOf(iota(2, {2, 4}, {7, 0})), Devices{}) << "an axis that is not there";
}

TEST(CollectiveGroup, AlongAxesOfAMesh) {
  const auto mesh = [](const std::string& axes, const std::string& references) {
    return bytes(93, bytes(1, axes) + references);
  };
  const std::string two_by_four =
      bytes(1, bytes(1, "x") + number(2, 2)) + bytes(1, bytes(1, "y") + number(2, 4));
  EXPECT_EQ(groupOf(mesh(two_by_four, bytes(2, ""))), (Devices{0, 4}));
  EXPECT_EQ(groupOf(mesh(two_by_four, bytes(2, number(1, 1)))), (Devices{0, 1, 2, 3}));
  EXPECT_EQ(groupOf(mesh(two_by_four, bytes(2, "") + bytes(2, number(1, 1)))),
            (Devices{0, 1, 2, 3, 4, 5, 6, 7}));
  const std::string outer_half = number(1, 1) + bytes(2, number(1, 1) + number(2, 2));
  EXPECT_EQ(groupOf(mesh(two_by_four, bytes(2, outer_half))), (Devices{0, 2}));
}

TEST(CollectiveGroup, APermutationsTarget) {
  EXPECT_EQ(groupOf(bytes(52, number(1, 1) + number(2, 2)) + bytes(52, number(2, 3))), (Devices{0, 3}));
}

}  // namespace
}  // namespace sublane::llo
