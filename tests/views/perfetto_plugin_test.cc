// Traces of what libtpu really compiles, decoded and held against the reports of the same runs.
#include "views/perfetto.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/paths.h"
#include "trace_decoder.h"

namespace sublane::views {
namespace {

using events::Cause;

struct Traced {
  report::SimulatedStep step;
  DecodedTrace trace;
};

Traced traced(const std::string& name) {
  setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0);
  const TemporaryDirectory folder = *TemporaryDirectory::create();
  const std::string path = folder.path() + "/t.pftrace";
  PerfettoTrace trace = *PerfettoTrace::create(path);
  report::SimulateOptions options;
  options.sink_for = [&](const auto&... of) { return trace.sinkFor(of...); };
  Result<report::Simulation> simulation =
      report::simulateFile(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/" + name, {.chip = "v6e"}, options);
  EXPECT_TRUE(simulation.ok()) << (simulation.ok() ? "" : simulation.error().text());
  if (!simulation.ok()) return {};
  const Status status = trace.finish(*simulation);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().text());
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return {simulation->steps[0], decodeTrace(bytes)};
}

/// What slices say, under the names of causes and operations.
struct Sums {
  std::map<std::string, int64_t> causes, ops;
  int64_t read = 0, written = 0, code = 0, transfers = 0;
};

Sums sumsOf(DecodedTrace& trace, const std::string& process) {
  Sums sums;
  for (const std::string& name : tracksOf(trace, process)) {
    for (const DecodedSlice& slice : slicesOf(trace, process, name)) {
      const DecodedArguments& arguments = slice.arguments;
      if (name == "step") continue;
      if (name == "operations") {
        if (slice.category == "operation") sums.ops[slice.name] += arguments.number("cycles");
      } else if (name.starts_with("DMA")) {
        sums.transfers += arguments.number("transfers");
        const int64_t bytes = arguments.number("bytes");
        if (name == "DMA hbm to code")
          sums.code += bytes;
        else if (name.starts_with("DMA hbm"))
          sums.read += bytes;
        if (name.find("to hbm") != std::string::npos) sums.written += bytes;
      } else {
        sums.causes[slice.name] += arguments.number("cycles");
      }
    }
  }
  return sums;
}

int64_t sumOf(const std::map<std::string, int64_t>& causes, const std::vector<std::string>& beginnings) {
  int64_t sum = 0;
  for (const auto& [name, cycles] : causes)
    for (const std::string& beginning : beginnings)
      if (name.starts_with(beginning)) sum += cycles;
  return sum;
}

class TraceOf : public testing::TestWithParam<const char*> {};

TEST_P(TraceOf, SumsAreTheReports) {
  Traced traced = views::traced(GetParam());
  ASSERT_EQ(traced.trace.fault, "");
  const report::SimulatedStep& step = traced.step;
  ASSERT_EQ(step.rung, report::Rung::kBundles) << step.reason;
  std::map<std::string, int64_t> causes, ops;
  for (size_t c = 0; c < step.causes.size(); ++c)
    if (step.causes[c] != 0) causes[std::string(events::name(static_cast<Cause>(c)))] = step.causes[c];
  for (const report::SimulatedRow& row : step.rows) {
    if (row.row.cycles > 0) ops[row.row.op] += row.row.cycles;
  }
  const std::string process = step.name + ", core 0";
  const Sums sums = sumsOf(traced.trace, process);
  EXPECT_EQ(traced.trace.fault, "");
  EXPECT_EQ(sums.ops, ops);
  EXPECT_EQ(sums.read, step.hbm_read_bytes);
  EXPECT_EQ(sums.written, step.hbm_write_bytes);
  EXPECT_EQ(sums.transfers, step.transfers);
  EXPECT_EQ(sumOf(sums.causes, {""}), step.cycles);
  // The report says what each cause's absence would save; what it moves stays within these.
  for (const std::vector<std::string>& kept :
       std::vector<std::vector<std::string>>{{"issue:"},
                                             {"launch"},
                                             {"overlay"},
                                             {"semaphore"},
                                             {"dma"},
                                             {"dependency:", "spill", "branch", "overlapped"}})
    EXPECT_EQ(sumOf(sums.causes, kept), sumOf(causes, kept)) << kept[0];
  for (const auto& [name, cycles] : causes) {
    if (!name.starts_with("issue:")) continue;
    ASSERT_TRUE(sums.causes.contains(name)) << name;
    EXPECT_EQ(sums.causes.at(name), cycles) << name;
  }
  const std::vector<DecodedSlice> report = slicesOf(traced.trace, step.name + ", report", "report");
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0].arguments.parts.at("causes"), causes);
}

INSTANTIATE_TEST_SUITE_P(, TraceOf, testing::Values("mlp_softmax.mlir", "scan_24.mlir"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace sublane::views
