#include "events/events.h"

namespace sublane::events {
namespace {

constexpr std::string_view kNames[] = {"issue:scalar",
                                       "issue:valu",
                                       "issue:vld",
                                       "issue:vst",
                                       "issue:eup",
                                       "issue:xlu",
                                       "issue:mxu",
                                       "issue:other",
                                       "dependency:scalar",
                                       "dependency:valu",
                                       "dependency:vld",
                                       "dependency:eup",
                                       "dependency:xlu",
                                       "dependency:mxu",
                                       "dependency:other",
                                       "dma",
                                       "dma_latency",
                                       "dma_either",
                                       "dma_both",
                                       "semaphore",
                                       "branch",
                                       "overlay",
                                       "spill",
                                       "launch",
                                       "host",
                                       "overlapped",
                                       "not_modelled"};
static_assert(std::size(kNames) == kCauseCount);

constexpr std::string_view kKinds[] = {"cycles", "issued", "done", "taken"};
constexpr std::string_view kMemories[] = {"", "hbm", "vmem", "smem", "cmem", "code", "other"};

}  // namespace

std::string_view name(Cause cause) { return kNames[static_cast<size_t>(cause)]; }

std::string_view name(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string_view name(Memory memory) { return kMemories[static_cast<size_t>(memory)]; }

std::optional<Cause> causeNamed(std::string_view text) {
  for (int i = 0; i < kCauseCount; ++i)
    if (kNames[i] == text) return static_cast<Cause>(i);
  return std::nullopt;
}

int64_t total(const CauseCycles& cycles) {
  int64_t sum = 0;
  for (const int64_t c : cycles) sum += c;
  return sum;
}

}  // namespace sublane::events
