// The same of both steps of a whole model: minutes of compiling.
#include "counterfactuals.h"

#include <cstdlib>

namespace sublane::report {
namespace {

TEST(LongCounterfactuals, OfAModelSaveWhatTheCausesClaim) {
  setenv("SUBLANE_WORKER", SUBLANE_BINARY_DIR "/sublane", /*overwrite=*/0);
  for (const bool in_loop : {false, true}) {
    SCOPED_TRACE(in_loop);
    const ModelRequest request{.model = "smollm2-135m", .layers_in_loop = in_loop, .common = {.chip = "v6e"}};
    expectClaimsHold([&](const std::vector<sim::Without>& without) -> Steps {
      SimulateOptions options;
      options.without = without;
      const Result<Simulation> simulation = simulateModel(request, options);
      EXPECT_TRUE(simulation.ok()) << simulation.error().text();
      return simulation.ok() ? simulation->steps : Steps();
    });
  }
}

}  // namespace
}  // namespace sublane::report
