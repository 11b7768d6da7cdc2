// Causes of programs that libtpu really compiles, each held against a run without it.
#include "counterfactuals.h"

#include <cstdlib>

namespace sublane::report {
namespace {

class Counterfactuals : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0); }
};

TEST_P(Counterfactuals, SaveWhatTheCausesClaim) {
  for (const char* name : {"scan_24", "mlp_softmax", "gather_top_k_sort"}) {
    SCOPED_TRACE(name);
    const std::string path = std::string(SUBLANE_SOURCE_DIR "/tests/report/stablehlo/") + name + ".mlir";
    expectClaimsHold([&](const std::vector<sim::Without>& without) -> Steps {
      SimulateOptions options;
      options.without = without;
      const Result<Simulation> simulation = simulateFile(path, {.chip = GetParam()}, options);
      EXPECT_TRUE(simulation.ok()) << simulation.error().text();
      return simulation.ok() ? simulation->steps : Steps();
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Chips, Counterfactuals, testing::Values("v5e", "v6e", "tpu7x"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sublane::report
