#include <gtest/gtest.h>

#include "pjrt/pjrt.h"

namespace sublane::pjrt {
namespace {

std::string hex(const std::string& bytes) {
  std::string out;
  for (unsigned char byte : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", byte);
  return out;
}

TEST(CompileOptions, SmallestIsSixBytes) { EXPECT_EQ(hex(encodeCompileOptions({})), "1a 04 20 01 28 01"); }

TEST(CompileOptions, PartitionsTurnOnShardy) {
  EXPECT_EQ(hex(encodeCompileOptions({.partitions = 8})), "1a 09 20 01 28 08 30 01 98 01 01");
}

// The same message from protobuf: map entry (field 7) { key = 1, value = 2 { string 1 | bool 2 | int64 3 |
// double 4 } }.
TEST(CompileOptions, EachKindOfOverride) {
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"a", std::string("x")}}})),
            "1a 04 20 01 28 01 3a 08 0a 01 61 12 03 0a 01 78");
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"b", true}}})),
            "1a 04 20 01 28 01 3a 07 0a 01 62 12 02 10 01");
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"c", int64_t{300}}}})),
            "1a 04 20 01 28 01 3a 08 0a 01 63 12 03 18 ac 02");
  EXPECT_EQ(hex(encodeCompileOptions({.overrides = {{"d", 1.0}}})),
            "1a 04 20 01 28 01 3a 0e 0a 01 64 12 09 21 00 00 00 00 00 00 f0 3f");
}

}  // namespace
}  // namespace sublane::pjrt
