// The three newest libtpu versions (tools/setup.sh long): each is explained and simulated, on the bundles.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/paths.h"
#include "report/request.h"
#include "report/simulate.h"

namespace sublane::report {
namespace {

namespace fs = std::filesystem;

/// Libraries of all versions that are installed: the pinned one and those for this test.
std::vector<std::string> installed() {
  std::vector<std::string> libraries;
  for (const auto& folder : fs::directory_iterator(cacheDirectory().value() + "/parts")) {
    const std::string library = folder.path().string() + "/libtpu/libtpu.so";
    if (fs::is_regular_file(library)) libraries.push_back(library);
  }
  std::sort(libraries.rbegin(), libraries.rend());
  return libraries;
}

class LibtpuVersions : public testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { unsetenv("SUBLANE_LIBTPU"); }
};

TEST_P(LibtpuVersions, AreExplainedAndSimulated) {
  const std::vector<std::string> libraries = installed();
  ASSERT_GE(libraries.size(), 3u) << "run tools/setup.sh long";
  for (const char* file : {"scan_24", "mlp_softmax", "unrolled_24"}) {
    const std::string path = fmt::format("{}/tests/report/stablehlo/{}.mlir", SUBLANE_SOURCE_DIR, file);
    double pinned_us = 0;
    for (const std::string& library : libraries) {
      setenv("SUBLANE_LIBTPU", library.c_str(), 1);
      const Result<Simulation> explained = simulateFile(path, {.chip = GetParam()}, {.estimates = true});
      ASSERT_TRUE(explained.ok()) << library << "\n" << explained.error().text();
      const Result<Simulation> simulated = simulateFile(path, {.chip = GetParam()}, {});
      ASSERT_TRUE(simulated.ok()) << library << "\n" << simulated.error().text();
      const SimulatedStep& step = simulated->steps.at(0);
      EXPECT_EQ(step.rung, Rung::kBundles) << library << ": " << step.reason;
      fmt::print("[ simulated] {} {} {}: {:.1f} us, compiler {:.1f} us\n", GetParam(), file,
                 simulated->compiler, step.us, explained->steps.at(0).us);
      if (pinned_us == 0) pinned_us = step.us;
      // Another version is another compiler; the same program still takes about as long.
      EXPECT_NEAR(step.us, pinned_us, 0.25 * pinned_us) << library;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, LibtpuVersions, testing::Values("v6e", "v5e", "tpu7x"));

}  // namespace
}  // namespace sublane::report
