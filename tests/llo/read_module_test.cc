#include <gtest/gtest.h>

#include "hlo_writer.h"
#include "llo/llo.h"

namespace sublane::llo {
namespace {

using namespace testing;  // NOLINT: the encoder

std::string faultOf(const std::string& bytes) {
  auto module = readHloModule(bytes);
  return module.ok() ? "no fault" : module.error().text();
}

TEST(ReadModule, GivesTypedInstructionsInScheduleOrder) {
  HloWriter hlo;
  const auto entry = hlo.computation(
      "main",
      {parameter(1, "x", bf16({8, 576}, {{1, 0}, {{8, 128}, {2, 1}}, 0}), 0, opName("x")),
       parameter(2, "w", bf16({576, 64}, {{1, 0}, {{8, 128}, {2, 1}}, 1}), 1),
       instruction(3, "dot", "dot", bf16({8, 64}), {1, 2},
                   bytes(30, numbers(1, {1}) + numbers(2, {0})) + bytes(51, numbers(1, {2, 2})) +
                       opName("layer.3/attention.qkv") + config(R"({"estimated_cycles": "77"})"))},
      3);
  hlo.schedule(entry, {2, 1, 3});
  hlo.alias(0, 0);
  auto module = readHloModule(hlo.module(entry));
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_TRUE(module->is_scheduled);
  const Computation& main = module->entryComputation();
  EXPECT_EQ(main.schedule, (std::vector<int32_t>{1, 0, 2}));
  const Instruction& dot = main.at(main.root);
  EXPECT_EQ(dot.opcode, "dot");
  EXPECT_EQ(dot.operands, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(dot.dot.lhs_contract, std::vector<int64_t>{1});
  EXPECT_EQ(dot.precision, (std::vector<Precision>{Precision::kHighest, Precision::kHighest}));
  EXPECT_EQ(dot.metadata.op_name, "layer.3/attention.qkv");
  EXPECT_EQ(readBackendConfig(dot.backend_config).estimated_cycles, 77);
  EXPECT_EQ(main.at(0).shape.memory(), Memory::kHbm);
  EXPECT_EQ(main.at(1).shape.memory(), Memory::kVmem);
  EXPECT_EQ(main.parameter(1), 1);
  EXPECT_EQ(main.parameter(2), -1);
  ASSERT_EQ(module->aliases.size(), 1u);
}

TEST(ReadModule, SourceLinesComeFromTheFrames) {
  const std::string location = number(1, 1) + number(3, 42);
  const std::string frames = bytes(17, bytes(1, "model.py") + bytes(3, location) + bytes(4, number(1, 1)));
  HloWriter hlo;
  const auto entry = hlo.computation("main", {parameter(1, "x", f32({8}), 0, bytes(7, number(15, 1)))}, 1);
  auto module = readHloModule(hlo.module(entry) + frames);
  ASSERT_TRUE(module.ok()) << module.error().text();
  EXPECT_EQ(module->entryComputation().at(0).metadata.source_file, "model.py");
  EXPECT_EQ(module->entryComputation().at(0).metadata.source_line, 42);
}

TEST(ReadModule, SaysWhatIsWrong) {
  EXPECT_EQ(faultOf(""), "optimised HLO: no computation in 0 bytes");
  EXPECT_EQ(faultOf("not a proto at all"),
            "optimised HLO: HloModuleProto at byte 0: field 13 has wire type 6, which is unknown");
  HloWriter unknown;
  EXPECT_EQ(
      faultOf(unknown.module(unknown.computation("main", {instruction(1, "a", "add", f32({8}), {7})}, 1))),
      "optimised HLO: computation main, instruction a: operand 7 does not exist");
  HloWriter root;
  EXPECT_EQ(faultOf(root.module(root.computation("main", {parameter(1, "x", f32({8}), 0)}, 9))),
            "optimised HLO: computation main: root 9 does not exist");
  HloWriter entry;
  entry.computation("main", {parameter(1, "x", f32({8}), 0)}, 1);
  EXPECT_EQ(faultOf(entry.module(77)), "optimised HLO: entry computation 77 does not exist");
  HloWriter layout;
  EXPECT_NE(
      faultOf(layout.module(layout.computation("main", {parameter(1, "x", f32({8}, {{3}, {}, 0}), 0)}, 1)))
          .find("layout {3} does not order the 1 dimensions"),
      std::string::npos);
  HloWriter negative;
  EXPECT_NE(faultOf(negative.module(negative.computation("main", {parameter(1, "x", f32({-8}), 0)}, 1)))
                .find("a dimension of -8"),
            std::string::npos);
}

TEST(ReadModule, DeepNestingIsRefused) {
  std::string shape = f32({8});
  for (int i = 0; i < 200; ++i) shape = tuple({shape});
  HloWriter hlo;
  EXPECT_NE(
      faultOf(hlo.module(hlo.computation("main", {parameter(1, "x", shape, 0)}, 1))).find("nested deeper"),
      std::string::npos);
}

TEST(ReadModule, ACutAtAnyByteIsAnErrorOrASmallerModule) {
  const std::string whole = loopModule(0, 24, 1);
  ASSERT_TRUE(readHloModule(whole).ok());
  int refused = 0;
  for (size_t length = 0; length < whole.size(); ++length)
    refused += !readHloModule(whole.substr(0, length)).ok();
  EXPECT_GT(refused, static_cast<int>(whole.size()) * 9 / 10);
}

TEST(ReadModule, FlippedBytesNeverCrash) {
  const std::string whole = loopModule(0, 24, 1);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      auto module = readHloModule(broken);
      if (!module.ok()) continue;
      for (const Computation& computation : module->computations) {
        for (const Instruction& one : computation.instructions) {
          paddedBytes(one.shape);
          if (one.is("while")) (void)tripCount(*module, computation, one);
        }
      }
    }
  }
}

TEST(ReadModule, ConstantsKeepTheirElements) {
  const auto literalOf = [](const std::string& of, const std::string& elements) {
    const std::string constant = instruction(1, "c", "constant", of, {}, bytes(8, bytes(1, of) + elements));
    HloWriter hlo;
    const Result<HloModule> module = readHloModule(hlo.module(hlo.computation("main", {constant}, 1)));
    EXPECT_TRUE(module.ok()) << module.error().text();
    return module.ok() ? module->entryComputation().at(0).literal : "fault";
  };
  EXPECT_EQ(literalOf(shape(2, {2, 3}), bytes(15, "abcdef")), "abcdef");  // s8, row-major
  EXPECT_EQ(literalOf(shape(2, {2, 3}, {.minor_to_major = {0, 1}}), bytes(15, "adbecf")), "abcdef");
  EXPECT_EQ(literalOf(s32({2}), numbers(4, {-1, 5})), std::string("\xff\xff\xff\xff\x05\0\0\0", 8));
  EXPECT_EQ(literalOf(s32({3}), numbers(4, {-1, 5})), "");  // too few
  EXPECT_EQ(literalOf(shape(2, {1 << 21}), ""), "");        // a weight
}

}  // namespace
}  // namespace sublane::llo
