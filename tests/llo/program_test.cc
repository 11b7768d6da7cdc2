// Whole programs from small dumps: what is called, what is equal, and which operation a trace number means.
#include "llo/program.h"

#include <gtest/gtest.h>

#include "listing_writer.h"

namespace sublane::llo {
namespace {

constexpr std::string_view kListing = "packed-bundles-post-ra", kTable = "post-delay-converter";

std::string begin(uint32_t number) { return fmt::format(":  {{ %1 = vtrace {} }}", 0x80000000u | number); }
std::string end(uint32_t number) { return fmt::format(":  {{ %1 = vtrace {} }}", 0x90000000u | number); }
std::string call(std::string_view name) {
  return fmt::format(":  {{ %1 = inlined_call %s1_s0 /* {} */ }}", name);
}
/// A listing and an empty table of allocations for each function.
std::vector<DumpFile> dumpOf(const std::vector<std::pair<std::string, std::vector<std::string>>>& functions) {
  std::vector<DumpFile> dump;
  for (const auto& [name, lines] : functions) {
    dump.push_back({name, std::string(kListing), listingOf(lines)});
    dump.push_back({name, std::string(kTable), ""});
  }
  return dump;
}

Instruction op(std::string name, std::string opcode, std::vector<int64_t> dims = {8, 128}) {
  Instruction made;
  made.name = std::move(name), made.opcode = std::move(opcode);
  made.shape.type = ElementType::kF32;
  made.shape.dims = std::move(dims);
  return made;
}
Computation computation(std::vector<Instruction> ops) {
  Computation made;
  made.instructions = std::move(ops);
  for (size_t i = 0; i < made.instructions.size(); ++i) made.schedule.push_back(static_cast<int32_t>(i));
  return made;
}
/// An entry that copies, loops over a body with a fusion, and copies out. Computation 0 is the loop's body,
/// 1 its condition, which calls a reduction.
HloModule loopModule() {
  HloModule module;
  module.computations.push_back(computation(
      {op("param", "parameter"), op("add.2", "add", {}), op("fusion.16", "fusion"), op("tuple.1", "tuple")}));
  module.computations.push_back(computation({op("reduce.1", "reduce", {}), op("lt.1", "compare", {})}));
  Instruction loop = op("while.3", "while");
  loop.called = {0, 1};
  module.computations.push_back(
      computation({op("x", "parameter"), op("copy.9", "copy"), loop, op("copy-start", "copy-start"),
                   op("copy-done", "copy-done", {})}));
  module.entry = 2;
  return module;
}
std::vector<std::string> loopTop() {
  return {begin(0),
          call("%copy.9 = copy(%x)"),
          end(0),
          begin(3),
          begin(1),
          call("%reduce.1 = reduce()"),
          end(1),
          begin(2),
          call("%fusion.16 = fusion()"),
          end(2),
          end(3),
          begin(4),
          end(4),
          begin(5),
          end(5),
          begin(0x0fffffff)};
}
std::vector<std::string> names(const Program& program) {
  std::vector<std::string> all;
  for (const TracedOp& traced : program.traced) all.push_back(traced.name);
  return all;
}
std::string errorOf(const std::vector<DumpFile>& dump) {
  auto program = readProgram(dump, {}, {.chip = "v6e", .compiler = "libtpu 0.0.52"});
  return program.ok() ? "no error" : program.error().text();
}
Program read(const std::vector<DumpFile>& dump, HloModule module = {}) {
  auto program = readProgram(dump, std::move(module), {.chip = "v6e", .compiler = "libtpu 0.0.52"});
  if (program.ok()) return std::move(*program);
  ADD_FAILURE() << program.error().text();
  return {};
}

TEST(Program, HoldsWhatTheTopCalls) {
  const Program program = read(dumpOf({{"TLP", {call("<late-initialization>"), call("%a = copy(%x)")}},
                                       {"a", {":  { %1 = sfence }"}},
                                       {"unused", {":  {}"}},
                                       {"<late-initialization>", {":  {}", ":  {}"}}}));
  ASSERT_EQ(program.listings.size(), 3u);
  EXPECT_EQ(program.listings[program.top].function, "TLP");
  EXPECT_EQ(program.listings[program.functions.at("a")].instructions.size(), 1u);
  EXPECT_EQ(program.listings[program.functions.at("<late-initialization>")].bundles.size(), 2u);
  EXPECT_FALSE(program.functions.contains("unused"));
}

TEST(Program, EqualOperationsShareAListing) {
  auto dump = dumpOf({{"TLP", {call("%f.2 = fusion()"), call("%f.1 = fusion()"), call("%f.3 = fusion()")}},
                      {"f.1", {":  {}"}},
                      {"f.3", {":  { %1 = sfence }"}}});
  dump.push_back({"TLP", "deduplication-map",
                  "key:<top>\nordinal:0\nequivalent_hlos[size=0]:\nkey:f.1\nordinal:1\n"
                  "equivalent_hlos[size=3]:\n  f.1\n  f.2\n  f.3\n"});
  const Program program = read(dump);
  EXPECT_EQ(program.listings.size(), 3u);
  EXPECT_EQ(program.functions.at("f.2"), program.functions.at("f.1"));
  EXPECT_NE(program.functions.at("f.3"), program.functions.at("f.1"));  // its own listing goes first
}

TEST(Program, ACallWithoutAListingIsAnError) {
  EXPECT_EQ(errorOf(dumpOf({{"TLP", {call("%f.2 = fusion()")}}})),
            "TLP calls f.2, which has no listing among 1 and equals none that has (libtpu 0.0.52)\n"
            "  hint: a program without it would look cheap; compile again, with a dump of every function");
}

TEST(Program, OtherFaultsOfADump) {
  EXPECT_EQ(errorOf({{"f", std::string(kListing), ""}}),
            "dump: no listing of the top-level program (TLP) among 1 files (libtpu 0.0.52)\n"
            "  hint: another libtpu may name its dump flags or files otherwise");
  EXPECT_EQ(errorOf({{"TLP", std::string(kListing), "0 : {}"}}),
            "dump: TLP has a listing, but no table of its allocations (post-delay-converter)");
  EXPECT_EQ(errorOf({{"TLP", std::string(kListing), "0 : {}"}, {"TLP", std::string(kListing), "0 : { }"}}),
            "dump: TLP has two different files packed-bundles-post-ra");
  EXPECT_EQ(errorOf({{"TLP", std::string(kListing), "0 : { %1 = sst [smem:[#allocation1]] %s1_s1 }"},
                     {"TLP", std::string(kTable), ""}}),
            "listing TLP, bundle 0x0: #allocation1 is not in the table of allocations");
}

TEST(Program, TraceNumbersFollowTheSchedule) {
  const Program program = read(
      dumpOf({{"TLP", loopTop()}, {"copy.9", {":  {}"}}, {"reduce.1", {":  {}"}}, {"fusion.16", {":  {}"}}}),
      loopModule());
  const std::vector<std::string> want = {"copy.9",  "reduce.1",   "fusion.16",
                                         "while.3", "copy-start", "copy-done"};
  EXPECT_EQ(names(program), want);
  EXPECT_EQ(program.traced[2].computation, 0);
  EXPECT_EQ(program.traced[2].instruction, 2);
  EXPECT_EQ(program.traced[4].computation, 2);
  EXPECT_EQ(program.traced[4].instruction, 3);
}

TEST(Program, NumbersThatDoNotFitHaveNoName) {
  HloModule module = loopModule();
  // One operation more between copy.9 and the end than the program has numbers: nobody knows which one it is.
  module.computations[2].instructions.push_back(op("sin.1", "sine"));
  module.computations[2].schedule.push_back(5);
  const Program program = read(
      dumpOf({{"TLP", loopTop()}, {"copy.9", {":  {}"}}, {"reduce.1", {":  {}"}}, {"fusion.16", {":  {}"}}}),
      module);
  const std::vector<std::string> want = {"copy.9", "reduce.1", "fusion.16", "", "", ""};
  EXPECT_EQ(names(program), want);
  EXPECT_EQ(program.traced[3].instruction, -1);
}

TEST(Program, ACalledNameThatTheModuleLacksIsKept) {
  const Program program =
      read(dumpOf({{"TLP", {begin(0), call("%mystery.1 = fusion()"), end(0), begin(1), end(1)}},
                   {"mystery.1", {":  {}"}}}),
           loopModule());
  const std::vector<std::string> want = {"mystery.1", ""};
  EXPECT_EQ(names(program), want);
  EXPECT_EQ(program.traced[0].instruction, -1);
}

TEST(Program, OperationsLieInPartsOfTheCode) {
  std::vector<DumpFile> dump = dumpOf(
      {{"TLP", loopTop()}, {"copy.9", {":  { }"}}, {"reduce.1", {":  { }"}}, {"fusion.16", {":  { }"}}});
  dump.push_back({"TLP", "hlo-details",
                  "HLO:\n"
                  "  operation: %copy.9 = f32[8,128] copy(f32[8,128] %x)\n"
                  "  emitted bundle range: [TensorCoreSequencer:1:0x94, TensorCoreSequencer:1:0xa2)\n"
                  "HLO:\n"
                  "  operation: %x = f32[8,128] parameter()\n"
                  "  emitted bundle range: <empty>\n"
                  "HLO:\n"
                  "  operation: %fusion.16 = f32[8,128] fusion()\n"
                  "  emitted bundle range: [TensorCoreSequencer:2:0x10, TensorCoreSequencer:3:0x20)\n"
                  "HLO:\n"
                  "  operation: %copy-start = f32[8,128] copy-start()\n"
                  "  emitted bundle range: [TensorCoreSequencer:99999999999:0x1, nonsense)\n"});
  const Result<Program> program = readProgram(dump, loopModule(), {.chip = "v6e", .compiler = "a test"});
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(program->overlay_bundles, (std::vector<int64_t>{0, 0xa2, 0x10, 0x20}));
  for (const TracedOp& traced : program->traced) {
    const int32_t expected = traced.name == "copy.9" ? 1 : traced.name == "fusion.16" ? 2 : -1;
    EXPECT_EQ(traced.overlay, expected) << traced.name;
  }
}

}  // namespace
}  // namespace sublane::llo
