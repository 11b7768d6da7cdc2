// What the causes of a step claim, and whether a run without each of them keeps the claim.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "report/simulate.h"

namespace sublane::report {

using Steps = std::vector<SimulatedStep>;
using SimulateWithout = std::function<Steps(const std::vector<sim::Without>&)>;

inline int64_t claimOf(const events::CauseCycles& causes, sim::Without without) {
  using events::Cause;
  const auto of = [&](Cause cause) { return causes[static_cast<size_t>(cause)]; };
  switch (without) {
    case sim::Without::kHbmLimit:
      return of(Cause::kDma) + of(Cause::kDmaEither);
    case sim::Without::kDmaLatency:
      return of(Cause::kDmaLatency) + of(Cause::kDmaEither);
    case sim::Without::kDma:
      return of(Cause::kDma) + of(Cause::kDmaLatency) + of(Cause::kDmaEither) + of(Cause::kDmaBoth);
    case sim::Without::kSpills:
      return of(Cause::kSpill);
    case sim::Without::kLaunch:
      return of(Cause::kLaunch);
    case sim::Without::kBranches:
      return of(Cause::kBranch);
    case sim::Without::kOverlays:
      return of(Cause::kOverlay);
    case sim::Without::kDependencies:
      return std::accumulate(causes.begin() + static_cast<int>(Cause::kDependencyScalar),
                             causes.begin() + static_cast<int>(Cause::kDependencyOther) + 1, int64_t{0});
  }
  return 0;
}

/// Every cause above 5 % of the time saves what it claims within 10 %; all together leave what was issued.
inline void expectClaimsHold(const SimulateWithout& simulate) {
  using sim::Without;
  const std::vector<Without> all = {Without::kHbmLimit,     Without::kDmaLatency, Without::kDma,
                                    Without::kSpills,       Without::kLaunch,     Without::kBranches,
                                    Without::kDependencies, Without::kOverlays};
  const Steps whole = simulate({});
  int judged = 0;
  for (const Without without : all) {
    const Steps less = simulate({without});
    ASSERT_EQ(less.size(), whole.size());
    for (size_t s = 0; s < whole.size(); ++s) {
      const int64_t claim = claimOf(whole[s].causes, without), saved = whole[s].cycles - less[s].cycles;
      if (claim * 20 < whole[s].cycles) continue;
      ++judged;
      EXPECT_NEAR(static_cast<double>(saved), static_cast<double>(claim), 0.1 * static_cast<double>(claim))
          << whole[s].name << ", taken away: " << static_cast<int>(without);
    }
  }
  EXPECT_GE(judged, static_cast<int>(whole.size()));
  const Steps bare = simulate(all);
  for (size_t s = 0; s < whole.size(); ++s) {
    const auto& causes = whole[s].causes;
    const int64_t issued = std::accumulate(
        causes.begin(), causes.begin() + static_cast<int>(events::Cause::kIssueOther) + 1, int64_t{0});
    EXPECT_EQ(bare[s].cycles, issued) << whole[s].name;
  }
}

}  // namespace sublane::report
