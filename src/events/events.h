// What happened and why: the one stream between the simulator, captures and reports.
//
// The simulator writes events and knows no report; reports read them and know no simulator. Every cycle of
// the sequencer belongs to exactly one cause, so that causes add up to the total.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sublane::events {

/// Why a cycle of the sequencer passed. kIssue* is useful work, by the unit that bounds the bundle;
/// kDependency* is a stall for a result of that unit.
enum class Cause : uint8_t {
  kIssueScalar,
  kIssueVectorAlu,
  kIssueVectorLoad,
  kIssueVectorStore,
  kIssueExtended,
  kIssueCrossLane,
  kIssueMatrix,
  kIssueOther,
  kDependencyScalar,
  kDependencyVectorAlu,
  kDependencyVectorLoad,
  kDependencyExtended,
  kDependencyCrossLane,
  kDependencyMatrix,
  kDependencyOther,
  kDma,         // waits for a transfer's bytes
  kDmaLatency,  // waits for a transfer's fixed latency
  kDmaEither,   // waits that end if either the bytes or the latency are taken away
  kDmaBoth,     // waits that end only if both are
  kSemaphore,
  kBranch,
  kOverlay,
  kSpill,
  kLaunch,
  kHost,
  kOverlapped,  // other causes behind which a transfer would be waited for
  kNotModelled,
};
inline constexpr int kCauseCount = static_cast<int>(Cause::kNotModelled) + 1;
std::string_view name(Cause cause);  // "issue:mxu", "dependency:xlu", "dma", "launch"
std::optional<Cause> causeNamed(std::string_view text);

using CauseCycles = std::array<int64_t, kCauseCount>;
int64_t total(const CauseCycles& cycles);

/// `op` and `kernel` index the run's tables; -1: none.
struct Event {
  int64_t cycle = 0, duration = 0;
  int32_t core = 0;
  Cause cause = Cause::kNotModelled;
  int32_t op = -1, listing = -1, bundle = -1;
  int64_t bytes = 0;      // of a transfer
  int32_t transfer = -1;  // id of the DMA that is issued, done or waited for
};

}  // namespace sublane::events
