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

/// What an event tells. Those of cycles follow one another without a gap; the others take no time.
enum class Kind : uint8_t {
  kCycles,  // `duration` cycles passed
  kIssued,  // a transfer began: of `bytes`, `from` one memory `to` another
  kDone,    // it is complete since `cycle`, which may lie before what was told already, or behind the end
  kTaken,   // the program has waited for it
};
std::string_view name(Kind kind);  // "cycles", "issued", "done", "taken"

/// kCode: the instruction memory, into which the program's own code is fetched.
enum class Memory : uint8_t { kNone, kHbm, kVmem, kSmem, kCmem, kCode, kOther };
std::string_view name(Memory memory);  // "hbm", "vmem"; kNone: ""

/// `op` and `listing` index the program's tables; -1: none. Of a transfer that is done they are those of its
/// issue.
struct Event {
  int64_t cycle = 0, duration = 0;
  int32_t core = 0;
  Kind kind = Kind::kCycles;
  Cause cause = Cause::kNotModelled;  // of transfers kDma
  int32_t op = -1, listing = -1, bundle = -1;
  int64_t bytes = 0;      // of a transfer that is issued
  int32_t transfer = -1;  // which is issued, done, taken; the last one that a stall waited for
  Memory from = Memory::kNone, to = Memory::kNone;  // kIssued
  bool link = false;                                // kIssued: `to` is another chip's
  int64_t first_byte = 0, last_byte = 0;            // kDone: the cycles between which its bytes moved
};

}  // namespace sublane::events
