// What lies where while a schedule runs.
#include <gtest/gtest.h>

#include "report/anatomy_of.h"

namespace sublane::report {
namespace {

llo::Shape shape(std::vector<int64_t> dims) {
  return {.type = llo::ElementType::kF32, .dims = std::move(dims)};
}

/// parameter -> negate -> (the second, an empty value)
llo::HloModule module() {
  llo::Computation entry;
  llo::Shape both{.type = llo::ElementType::kTuple, .elements = {shape({8}), shape({0, 128})}};
  entry.instructions = {{.name = "p", .opcode = "parameter", .shape = shape({8})},
                        {.name = "none", .opcode = "constant", .shape = shape({0, 128})},
                        {.name = "n", .opcode = "negate", .shape = shape({8}), .operands = {0}},
                        {.name = "t", .opcode = "tuple", .shape = both, .operands = {2, 1}}};
  entry.schedule = {0, 1, 2, 3};
  entry.root = 3;
  return {.name = "m", .computations = {entry}};
}

TEST(Buffers, LiveFromWhatMakesThemToTheirLastUse) {
  Anatomy anatomy;
  addBuffers(module(), anatomy);
  ASSERT_EQ(anatomy.buffers.size(), 2u) << "a value of no bytes takes no room, also as a result";
  EXPECT_EQ(anatomy.buffers[0].what, "argument");
  EXPECT_EQ(anatomy.buffers[0].first, 0);
  EXPECT_EQ(anatomy.buffers[0].last, 3);
  EXPECT_EQ(anatomy.buffers[1].op, "n");
  EXPECT_EQ(anatomy.buffers[1].what, "result");
  EXPECT_EQ(anatomy.buffers[1].first, 2);
  EXPECT_EQ(anatomy.buffers[1].last, 3);
}

}  // namespace
}  // namespace sublane::report
