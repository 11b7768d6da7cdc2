// Listings that libtpu writes of our own programs, for every chip. The goldens hold counts and hashes of our
// normal form, never a listing; SUBLANE_WRITE_GOLDENS=1 writes them anew.
#include "llo/program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "artifact/compile_cache.h"
#include "base/sha256.h"
#include "chips/chips.h"

namespace sublane::llo {
namespace {

constexpr const char* kPrograms[] = {"scan_24", "scan_cache", "mlp_softmax", "gather_top_k_sort"};

std::string readAll(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<Program> compiled(const std::string& name, const chips::Chip& chip) {
  pjrt::AheadOfTimeRequest request;
  request.stablehlo = readAll(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/" + name + ".mlir");
  request.topology = chip.topology;
  for (const auto& [key, value] : chip.topology_options) request.topology_options[key] = value;
  request.want_listings = true;
  request.timeout_seconds = 600;
  SUBLANE_TRY(pjrt::AheadOfTimeResult result, artifact::compileCached(request));
  SUBLANE_TRY(HloModule module, readHloModule(result.optimized_hlo));
  return readProgram(result.dump, std::move(module),
                     {.chip = chip.name, .compiler = result.platform_version});
}

/// Bundles, instructions, operands and allocations of every listing, and a hash of all that was understood.
std::string summaryOf(const std::string& name, const Program& program) {
  size_t bundles = 0, instructions = 0, operands = 0, allocations = 0;
  std::string text;
  for (const Listing& listing : program.listings) {
    bundles += listing.bundles.size();
    instructions += listing.instructions.size();
    operands += listing.operands.size();
    allocations += listing.allocations.size();
    text += toText(listing);
  }
  for (const TracedOp& traced : program.traced) text += traced.name + "\n";
  return fmt::format(
      "{}: {} listings, {} names, {} numbers, {} bundles, {} instructions, {} operands, "
      "{} allocations, {}\n",
      name, program.listings.size(), program.functions.size(), program.traced.size(), bundles, instructions,
      operands, allocations, sha256Of(std::as_bytes(std::span(text.data(), text.size()))).substr(0, 16));
}

const Instruction& operationOf(const Program& program, const TracedOp& traced) {
  return program.module.at(traced.computation).at(traced.instruction);
}

/// Every number has an operation, no operation has two, and where no call says which one it is, it is a
/// transfer or control flow: what else computes is a listing of its own.
void expectJoined(const Program& program) {
  std::set<std::string> called;
  for (const std::string& callee : program.listings[program.top].callees) called.insert(callee);
  std::set<std::string> seen;
  for (size_t number = 0; number < program.traced.size(); ++number) {
    const TracedOp& traced = program.traced[number];
    ASSERT_GE(traced.instruction, 0) << number;
    const Instruction& op = operationOf(program, traced);
    EXPECT_EQ(op.name, traced.name);
    EXPECT_TRUE(seen.insert(traced.name).second) << traced.name << " has two numbers";
    if (called.contains(traced.name)) continue;
    const bool moves =
        op.opcode.ends_with("-start") || op.opcode.ends_with("-update") || op.opcode.ends_with("-done");
    EXPECT_TRUE(moves || op.is("while") || op.is("conditional") || op.is("custom-call")) << op.opcode;
  }
  for (const std::string& callee : called)
    EXPECT_TRUE(callee.starts_with('<') || seen.contains(callee)) << callee << " has no number";
}

class Listings : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

TEST_P(Listings, OfOurProgramsAreReadWhole) {
  Result<const chips::Chip*> chip = chips::findChip(GetParam());
  ASSERT_TRUE(chip.ok()) << chip.error().text();
  std::string summary;
  for (const char* name : kPrograms) {
    SCOPED_TRACE(name);
    Result<Program> program = compiled(name, **chip);
    ASSERT_TRUE(program.ok()) << program.error().text();
    expectJoined(*program);
    summary += summaryOf(name, *program);
  }
  const std::string golden = fmt::format("{}/tests/llo/goldens/{}.txt", SUBLANE_SOURCE_DIR, GetParam());
  if (std::getenv("SUBLANE_WRITE_GOLDENS")) std::ofstream(golden) << summary;
  EXPECT_EQ(summary, readAll(golden));
}
INSTANTIATE_TEST_SUITE_P(Chips, Listings, testing::Values("v4", "v5e", "v5p", "v6e", "tpu7x"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sublane::llo
