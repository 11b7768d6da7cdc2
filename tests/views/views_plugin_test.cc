// Of every golden program, compiled and executed: sums are exact, and all views say something.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "views/views.h"

namespace sublane::views {
namespace {

using report::SimulatedRow;

class Golden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

template <class Rows>
void expectExact(const report::SimulatedStep& step, const Rows& rows) {
  int64_t cycles = 0, read = 0, written = 0;
  events::CauseCycles causes{};
  for (const SimulatedRow& row : rows) {
    EXPECT_EQ(events::total(row.causes), row.row.cycles) << row.row.op;
    cycles += row.row.cycles;
    read += row.hbm_read_bytes;
    written += row.hbm_write_bytes;
    for (size_t c = 0; c < causes.size(); ++c) causes[c] += row.causes[c];
  }
  EXPECT_EQ(cycles, step.cycles) << "operations are the program";
  EXPECT_EQ(causes, step.causes) << "causes are its cycles";
  EXPECT_EQ(read, step.hbm_read_bytes);
  EXPECT_EQ(written, step.hbm_write_bytes);
}

void expectExact(const report::SimulatedStep& step) {
  expectExact(step, step.rows);
  const report::Anatomy& anatomy = step.anatomy;
  int64_t cycles = 0, executions = 0, read = 0, written = 0, count = 0;
  for (const report::KernelUse& kernel : anatomy.kernels) {
    cycles += kernel.cycles;
    EXPECT_EQ(events::total(kernel.causes), kernel.cycles) << kernel.name;
    for (const report::BundleUse& bundle : kernel.bundles) executions += bundle.executions;
    for (const report::LoopUse& loop : kernel.loops) {
      EXPECT_LE(loop.cycles,
                loop.parent < 0 ? kernel.cycles : kernel.loops[static_cast<size_t>(loop.parent)].cycles);
      EXPECT_EQ(events::total(loop.causes), loop.cycles) << kernel.name;
    }
  }
  EXPECT_EQ(cycles, step.cycles) << "kernels are the program";
  EXPECT_EQ(executions, step.bundles);
  for (const report::TransferUse& transfer : anatomy.transfers) {
    if (transfer.from == "hbm") read += transfer.bytes;
    if (transfer.to == "hbm") written += transfer.bytes;
    count += transfer.count;
    EXPECT_LE(transfer.waited_cycles, transfer.flight_cycles);
  }
  EXPECT_EQ(read, step.hbm_read_bytes) << "bytes are the transfers";
  EXPECT_EQ(written, step.hbm_write_bytes);
  EXPECT_LE(count, step.transfers) << "the others fetch code";
  int64_t at = 0;
  for (const report::Stretch& stretch : anatomy.timeline) {
    EXPECT_EQ(stretch.begin, at) << "the timeline has no gap";
    at = stretch.end;
  }
  EXPECT_EQ(at, step.cycles);
}

TEST_P(Golden, IsExact) {
  Result<report::Simulation> simulation = report::simulateFile(
      SUBLANE_SOURCE_DIR "/tests/report/stablehlo/" + GetParam(), {.chip = "v6e"}, {.bundle_texts = true});
  ASSERT_TRUE(simulation.ok()) << simulation.error().text();
  const report::SimulatedStep& step = simulation->steps.at(0);
  ASSERT_EQ(step.rung, report::Rung::kBundles) << step.reason;
  expectExact(step);
  const Report report = reportOf(*simulation);
  for (const View* view : allViews()) {
    Result<std::string> text = toText(report, {.views = {std::string(view->name)}});
    ASSERT_TRUE(text.ok()) << text.error().text();
    if (view->name != "findings") {
      EXPECT_FALSE(view->text({.simulation = *simulation,
                               .step = step,
                               .findings = report.findings[0],
                               .in_focus = std::vector<char>(step.rows.size(), 1)})
                       .empty())
          << view->name;
    }
  }
  Result<std::string> json = toJson(report, {.bundles = true});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(nlohmann::json::parse(*json)["steps"][0]["cycles"], step.cycles);
}

INSTANTIATE_TEST_SUITE_P(, Golden, testing::Values("mlp_softmax.mlir", "scan_24.mlir", "unrolled_24.mlir"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

TEST_F(Golden, TheStepsOfAModelAreExact) {
  Result<report::Simulation> simulation =
      report::simulateModel({.model = "smollm2-135m", .common = {.chip = "v6e"}}, {});
  ASSERT_TRUE(simulation.ok()) << simulation.error().text();
  for (const report::SimulatedStep& step : simulation->steps) expectExact(step);
}

}  // namespace
}  // namespace sublane::views
