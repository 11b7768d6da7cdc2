// Our own programs, compiled by libtpu and executed for values, against XLA's CPU plugin.
#include <gtest/gtest.h>

#include <chrono>

#include "values_cases.h"

namespace sublane::sim {
namespace {

void expectAsOnTheCpu(const Subject& subject, const std::string& chip) {
  const Result<Compiled> compiled = compile(subject.stablehlo, chip, subject.fill);
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  const auto start = std::chrono::steady_clock::now();
  const Result<Executed> executed = execute(*compiled);
  ASSERT_TRUE(executed.ok()) << executed.error().text();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("[ measured ] %lld bundles, %.3g s\n", static_cast<long long>(executed->run.bundles), seconds);
  EXPECT_GE(executed->run.bundles, subject.least_bundles);
  const auto want = onCpu(subject.reference, *compiled);
  ASSERT_TRUE(want.ok()) << want.error().text();
  ASSERT_EQ(want->size(), executed->outputs.size());
  for (size_t i = 0; i < want->size(); ++i) {
    const llo::Shape& shape = compiled->results[i];
    const Bound bound = subject.bound(shape, i);
    const Result<Comparison> c = compareValues(shape, executed->outputs[i], (*want)[i], bound);
    ASSERT_TRUE(c.ok()) << c.error().text();
    EXPECT_TRUE(c->equal()) << "output " << i << ": " << describe(shape, *c);
    std::printf("[ measured ]   output %zu: worst %.3g, bound %.3g + %.3g of the value\n", i, c->worst,
                bound.absolute, bound.relative);
  }
}

class Values : public testing::TestWithParam<std::tuple<std::string, Case>> {};

TEST_P(Values, EqualTheCpu) {
  const auto& [chip, c] = GetParam();
  const Result<Subject> subject = subjectOf(c);
  ASSERT_TRUE(subject.ok()) << subject.error().text();
  expectAsOnTheCpu(*subject, chip);
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(, Values,
                         testing::Combine(testing::Values("v6e", "tpu7x", "v5e"), testing::ValuesIn(cases())),
                         nameOf);

class ValuesOfAModel : public testing::TestWithParam<std::string> {};

TEST_P(ValuesOfAModel, ADecodeLayerEqualsTheCpu) {
  const Result<Subject> subject = decodeLayer();
  ASSERT_TRUE(subject.ok()) << subject.error().text();
  expectAsOnTheCpu(*subject, GetParam());
}
INSTANTIATE_TEST_SUITE_P(, ValuesOfAModel, testing::Values("v6e", "tpu7x", "v5e"),
                         [](const testing::TestParamInfo<std::string>& info) { return info.param; });

}  // namespace
}  // namespace sublane::sim
