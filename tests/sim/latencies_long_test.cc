// Where src/sim/latencies/<chip>.csv come from: the listings of our own compiled programs, as far as the
// compile cache holds them (run the other tests first). SUBLANE_WRITE_GOLDENS=1 writes the tables anew. The
// programs of tests/sim/programs are left out, so that scoreboard_plugin_test.cc judges with others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/paths.h"
#include "sim/latencies.h"
#include "values_programs.h"

namespace sublane::sim {
namespace {

namespace fs = std::filesystem;

/// Larger entries are whole models, whose operations the others have.
constexpr uintmax_t kLargestEntry = 3'000'000;

std::set<std::string> keysLeftOut() {
  std::set<std::string> keys;
  for (const auto& file : fs::directory_iterator(SUBLANE_SOURCE_DIR "/tests/sim/programs")) {
    if (file.path().extension() != ".mlir") continue;
    for (const auto& [chip, topology] : kTopologies) {
      pjrt::AheadOfTimeRequest request{.stablehlo = *readFile(file.path()), .topology = topology};
      request.want_listings = true;
      if (Result<std::string> key = artifact::compileKey(request); key.ok()) keys.insert(*key);
    }
  }
  return keys;
}

const char* chipOf(const std::string& device_kind) {
  if (device_kind.find("v6 lite") != std::string::npos) return "v6e";
  if (device_kind.find("v5 lite") != std::string::npos) return "v5e";
  return device_kind.find("TPU7x") != std::string::npos ? "tpu7x" : nullptr;
}

struct Corpus {
  Seen seen;
  int programs = 0, listings = 0;
};

std::map<std::string, Corpus> corpora() {
  std::map<std::string, Corpus> corpora;
  const std::set<std::string> left_out = keysLeftOut();
  for (const auto& file : fs::directory_iterator(*cacheDirectory() + "/compiles")) {
    const std::string key = file.path().filename();
    if (left_out.contains(key) || file.file_size() > kLargestEntry) continue;
    const Result<std::string> bytes = readFile(file.path());
    const auto entry = bytes.ok() ? artifact::decodeEntry(key, *bytes) : std::nullopt;
    const char* chip = entry ? chipOf(entry->device_kind) : nullptr;
    if (chip == nullptr || entry->dump.empty()) continue;
    Result<llo::HloModule> module = llo::readHloModule(entry->optimized_hlo);
    if (!module.ok()) continue;
    const Result<llo::Program> program = llo::readProgram(
        entry->dump, std::move(*module), {.chip = chip, .compiler = entry->platform_version});
    if (!program.ok()) continue;
    Corpus& corpus = corpora[chip];
    ++corpus.programs;
    corpus.listings += static_cast<int>(program->listings.size());
    for (const llo::Listing& listing : program->listings)
      corpus.seen.add(listing, chipModel(chip)->branch_delay_slots);
  }
  return corpora;
}

TEST(LatencyTables, NoScheduleUndercutsThem) {
  for (const auto& [chip, corpus] : corpora()) {
    std::printf("[ measured ] %s: %d programs, %d listings\n", chip.c_str(), corpus.programs,
                corpus.listings);
    if (std::getenv("SUBLANE_WRITE_GOLDENS") != nullptr) {
      const std::string header = fmt::format(
          "# Cycles between an operation and the unit that takes its result, or the next one of its\n"
          "# unit: the smallest that libtpu 0.0.52 keeps in its listings of {} programs that we\n"
          "# compiled ({} listings), how often, and of how many pairs. Origin: compiler.\n"
          "# Written by tests/sim/latencies_long_test.cc.\n",
          corpus.programs, corpus.listings);
      ASSERT_TRUE(writeFileAtomically(SUBLANE_SOURCE_DIR "/src/sim/latencies/" + chip + ".csv",
                                      header + corpus.seen.toCsv())
                      .ok());
      continue;
    }
    const Result<Latencies> table = latenciesOf(chip);
    ASSERT_TRUE(table.ok()) << table.error().text();
    for (const auto& [key, row] : corpus.seen.results)
      for (int unit = 0; unit <= static_cast<int>(llo::Unit::kMisc); ++unit)
        if (row.hits >= Latencies::kFewestHits && key.second == llo::name(static_cast<llo::Unit>(unit))) {
          EXPECT_LE(table->result(key.first, static_cast<llo::Unit>(unit)), row.cycles)
              << chip << ": " << key.first << " to " << key.second;
        }
    for (const auto& [key, row] : corpus.seen.intervals)
      if (row.hits >= Latencies::kFewestHits) {
        EXPECT_LE(table->interval(key.first, key.second), row.cycles)
            << chip << ": " << key.first << " to " << key.second;
      }
  }
}

}  // namespace
}  // namespace sublane::sim
