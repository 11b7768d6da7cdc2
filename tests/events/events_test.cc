#include "events/events.h"

#include <gtest/gtest.h>

#include <set>

namespace sublane::events {
namespace {

TEST(Causes, HaveDistinctNamesThatReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kCauseCount; ++i) {
    const Cause cause = static_cast<Cause>(i);
    EXPECT_TRUE(names.insert(name(cause)).second) << name(cause);
    EXPECT_EQ(causeNamed(name(cause)), cause);
  }
  EXPECT_EQ(name(Cause::kIssueMatrix), "issue:mxu");
  EXPECT_EQ(name(Cause::kNotModelled), "not_modelled");
  EXPECT_EQ(causeNamed("weather"), std::nullopt);
}

TEST(Kinds, AndMemoriesHaveNames) {
  EXPECT_EQ(name(Kind::kCycles), "cycles");
  EXPECT_EQ(name(Kind::kTaken), "taken");
  EXPECT_EQ(name(Memory::kNone), "");
  EXPECT_EQ(name(Memory::kOther), "other");
}

TEST(Causes, Total) {
  CauseCycles cycles{};
  cycles[static_cast<size_t>(Cause::kDma)] = 3;
  cycles[static_cast<size_t>(Cause::kHost)] = 4;
  EXPECT_EQ(total(cycles), 7);
}

}  // namespace
}  // namespace sublane::events
