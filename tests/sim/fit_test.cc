#include "sim/fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sublane::sim {
namespace {

/// A machine whose time is bytes / (1000 efficiency) + transfers x latency: points of two kernels and
/// classes.
struct World {
  std::vector<FitPoint> points;
  std::vector<double> bytes, transfers;

  void add(const std::string& kernel, const std::string& group, double b, double t, double wrong = 1,
           const std::string& host = "", double launch = 0) {
    bytes.push_back(b);
    transfers.push_back(t);
    points.push_back({.key = fmt::format("{}/{}", kernel, points.size()),
                      .kernel = kernel,
                      .group = group,
                      .measured_us = time(b, t, 0.8, 2.0) * wrong + launch,
                      .host_source = host});
  }
  static double time(double b, double t, double efficiency, double latency) {
    return b / (1000 * efficiency) + t * latency;
  }
  Predict predict() const {
    return [this](const std::vector<double>& p) -> Result<std::vector<double>> {
      std::vector<double> us;
      for (size_t i = 0; i < bytes.size(); ++i) us.push_back(time(bytes[i], transfers[i], p[0], p[1]));
      return us;
    };
  }
};

const std::vector<FitParameter> kParameters = {
    {.name = "efficiency", .start = 0.95, .low = 0.3, .high = 1, .prior = 1},
    {.name = "latency", .start = 1.0, .low = 0.1, .high = 10, .prior = 1}};

World twoKernels() {
  World world;
  for (int i = 0; i < 10; ++i) {
    world.add("stream", "copy", 1e6 * (1 + i), 10);
    world.add(i % 2 ? "pages" : "rows", "small", 1e4, 100 + 50 * i);
  }
  return world;
}

TEST(Fit, FindsTheParametersThatMadeTheTimes) {
  const World world = twoKernels();
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_NEAR(found->parameters[0].value, 0.8, 0.01);
  EXPECT_NEAR(found->parameters[1].value, 2.0, 0.02);
  EXPECT_GT(found->parameters[0].standard_error, 0);
  for (const FitResidual& r : found->residuals) EXPECT_LT(r.median, 0.01) << r.group;
  EXPECT_GT(found->residuals[0].start_median, 0.1);
}

TEST(Fit, OneWrongRowDoesNotPull) {
  World world = twoKernels();
  world.add("stream", "copy", 5e6, 10, 4.0);
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->parameters[0].value, 0.8, 0.03);
}

TEST(Fit, WhatTooFewPointsSayIsNotFitted) {
  World world;
  for (int i = 0; i < 10; ++i) world.add(i % 2 ? "a" : "b", "copy", 1e7 * (1 + i), 0);
  world.add("a", "copy", 1e4, 300);  // one row that depends on latency
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->parameters[0].fitted);
  EXPECT_FALSE(found->parameters[1].fitted);
  EXPECT_EQ(found->parameters[1].points, 1);
  EXPECT_DOUBLE_EQ(found->parameters[1].value, 1.0);
}

TEST(Fit, WhatHasNoRoomIsNotFitted) {
  const World world = twoKernels();
  std::vector<FitParameter> parameters = kParameters;
  parameters[0].low = parameters[0].high = parameters[0].start = 0.8;
  Result<Fit> found = fit(world.points, parameters, world.predict(), {});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_FALSE(found->parameters[0].fitted);
  EXPECT_EQ(found->parameters[0].value, 0.8);
  EXPECT_NEAR(found->parameters[1].value, 2.0, 0.02);
}

TEST(Fit, OneKernelAloneFitsNothing) {
  World world;
  for (int i = 0; i < 10; ++i) world.add("a", "copy", 1e7 * (1 + i), 0);
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->parameters[0].fitted);
}

TEST(Fit, PairsAreOfLikeSizeAndCancelWhatBothAreWrongBy) {
  World world;  // what nothing is fitted to: the pairs are of the points as they are
  for (const double wrong : {1.5, 1.5, 1.5}) world.add("a", "copy", 1e7, 0, wrong);
  world.add("a", "copy", 1e8, 0, 3.0);  // ten times as large: pairs with none
  world.add("b", "copy", 1e7, 0, 1.2);
  std::vector<FitParameter> fixed = kParameters;
  for (FitParameter& parameter : fixed) parameter.low = parameter.high = parameter.start;
  const Result<Fit> found = fit(world.points, fixed, world.predict(), {});
  ASSERT_TRUE(found) << found.error().text();
  const FitResidual& copy = found->residuals[0];
  EXPECT_EQ(copy.paired.pairs, 3);
  EXPECT_NEAR(copy.paired.p90, 0, 1e-9);
  EXPECT_EQ(copy.paired_between_kernels.pairs, 3);
  EXPECT_NEAR(copy.paired_between_kernels.p90, 0.25, 1e-9);
}

TEST(Fit, HostTimedPointsShareALaunchConstant) {
  World world = twoKernels();
  for (int i = 0; i < 6; ++i) world.add("host", "gemm", 1e6 * (1 + i), 10, 1, "tutorial.csv", 100);
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->launch_us.at("tutorial.csv"), 100, 3);
}

TEST(Fit, PointsWithoutAClassSayOnlyWhatALaunchCosts) {
  World world = twoKernels();
  for (int i = 0; i < 4; ++i) world.add("tiny", "", 1e4, 1, 1, "tutorial.csv", 100);
  for (int i = 0; i < 6; ++i) world.add("host", "gemm", 1e7 * (1 + i), 10, 1, "tutorial.csv", 100);
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->launch_us.at("tutorial.csv"), 100, 2);
  EXPECT_EQ(found->residuals.size(), 3u);  // copy, gemm, small
}

TEST(Fit, AHeldOutKernelDoesNotHelpItself) {
  // The second kernel is 20 % slower than the machine can explain; fitted alone it would look right.
  World world;
  for (int i = 0; i < 8; ++i) {
    world.add("a", "copy", 1e6 * (1 + i), 0);
    world.add("b", "copy", 1e6 * (1 + i), 0, 1.2);
  }
  Result<Fit> found = fit(world.points, kParameters, world.predict(), {.huber = 1});
  ASSERT_TRUE(found);
  for (size_t i = 0; i < world.points.size(); ++i)
    EXPECT_GT(std::abs(found->held_out_error[i]), std::abs(found->error[i]));
}

TEST(Fit, RefusesWhatItCannotFit) {
  EXPECT_FALSE(fit({}, kParameters, nullptr, {}));
  World world = twoKernels();
  world.points[0].measured_us = 0;
  EXPECT_NE(fit(world.points, kParameters, world.predict(), {}).error().text().find("stream/0"),
            std::string::npos);
  EXPECT_FALSE(
      fit(twoKernels().points, {{.name = "x", .start = 2, .low = 0.1, .high = 1}}, world.predict(), {}));
}

}  // namespace
}  // namespace sublane::sim
