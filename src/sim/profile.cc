#include "sim/profile.h"

#include <algorithm>

namespace sublane::sim {
namespace {

constexpr size_t kMostStretches = 200'000;
constexpr int32_t kNeverTraced = -2;

}  // namespace

Profile::Profile(const llo::Program& program, const Code& code)
    : program_(program),
      code_(code),
      issued_(code.segments.size()),
      executions_(code.segments.size(), 0),
      waits_(code.functions.size()),
      waited_(code.micros.size(), 0),
      traced_of_(program.listings.size()),
      last_traced_(program.listings.size(), kNeverTraced) {
  for (size_t s = 0; s < code.segments.size(); ++s) {
    const Segment& segment = code.segments[s];
    const int32_t listing = code.functions[static_cast<size_t>(segment.function)].listing;
    const llo::Listing& text = program.listings[static_cast<size_t>(listing)];
    for (int32_t b = segment.first_bundle; b < segment.first_bundle + segment.bundles; ++b) {
      for (const llo::BundleInstruction& i : text.of(text.bundles[static_cast<size_t>(b)]))
        ++issued_[s][static_cast<size_t>(llo::unitOf(i.op))];
    }
  }
}

void Profile::pass(int32_t traced, int32_t segment, int64_t count) {
  executions_[static_cast<size_t>(segment)] += count;
  const int32_t function = code_.segments[static_cast<size_t>(segment)].function;
  const auto listing = static_cast<size_t>(code_.functions[static_cast<size_t>(function)].listing);
  if (last_traced_[listing] == traced) return;
  last_traced_[listing] = traced;
  std::vector<int32_t>& ops = traced_of_[listing];
  if (std::find(ops.begin(), ops.end(), traced) == ops.end()) ops.push_back(traced);
}

int32_t Profile::functionOf(int32_t micro) const {
  // They lie one behind the other.
  const auto after =
      std::upper_bound(code_.functions.begin(), code_.functions.end(), micro,
                       [](int32_t at, const Function& function) { return at < function.entry; });
  return static_cast<int32_t>(after - code_.functions.begin()) - 1;
}

void Profile::stall(int32_t micro, events::Cause cause, int64_t cycles) {
  waited_[static_cast<size_t>(micro)] += cycles;
  waits_[static_cast<size_t>(functionOf(micro))][static_cast<size_t>(cause)] += cycles;
}

int32_t Profile::issue(TransferKey key, int32_t function, int32_t bundle, const TransferShape& shape) {
  const auto [entry, added] = use_of_.try_emplace(key, static_cast<int32_t>(uses_.size()));
  if (added) {
    const DmaSite& site = code_.transfers[static_cast<size_t>(key.site)];
    uses_.push_back({.traced = key.traced,
                     .listing = code_.functions[static_cast<size_t>(function)].listing,
                     .bundle = bundle,
                     .from = site.from,
                     .to = site.to});
  }
  TransferProfile& use = uses_[static_cast<size_t>(entry->second)];
  use.remote |= shape.route == Route::kLink;
  ++use.count;
  use.bytes += shape.bytes;
  use.runs += shape.runs;
  return entry->second;
}

void Profile::complete(int32_t use, int64_t cycles) {
  if (use >= 0) uses_[static_cast<size_t>(use)].flight_cycles += cycles;
}

void Profile::waited(int32_t use, int64_t cycles) {
  if (use >= 0) uses_[static_cast<size_t>(use)].waited_cycles += cycles;
}

void Profile::enter(int32_t traced, int64_t clock) {
  if (left_out_ > 0 || (!timeline_.empty() && timeline_.back().traced == traced)) return;
  if (!timeline_.empty()) {
    timeline_.back().end = clock;
    if (timeline_.back().begin == clock) timeline_.pop_back();
  }
  if (!timeline_.empty() && timeline_.back().traced == traced) return;
  if (timeline_.size() >= kMostStretches) {
    left_out_ = 1;
    return;
  }
  timeline_.push_back({.traced = traced, .begin = clock, .end = clock});
}

ListingProfile& Profile::profileOf(Run& run, int32_t listing) const {
  // Mostly the last one.
  for (auto profile = run.listings.rbegin(); profile != run.listings.rend(); ++profile) {
    if (profile->listing == listing) return *profile;
  }
  const size_t bundles = program_.listings[static_cast<size_t>(listing)].bundles.size();
  run.listings.push_back({.listing = listing,
                          .executions = std::vector<int64_t>(bundles, 0),
                          .waited = std::vector<int64_t>(bundles, 0),
                          .causes = std::vector<events::Cause>(bundles, events::Cause::kNotModelled),
                          .traced = traced_of_[static_cast<size_t>(listing)]});
  return run.listings.back();
}

void Profile::addBundles(Run& run) const {
  for (size_t s = 0; s < executions_.size(); ++s) {
    if (executions_[s] == 0) continue;
    const Segment& segment = code_.segments[s];
    ListingProfile& profile = profileOf(run, code_.functions[static_cast<size_t>(segment.function)].listing);
    for (int32_t b = segment.first_bundle; b < segment.first_bundle + segment.bundles; ++b)
      profile.executions[static_cast<size_t>(b)] += executions_[s];
    const size_t end = static_cast<size_t>(segment.first_bundle + segment.bundles);
    for (int32_t i = segment.first_span; i < segment.first_span + segment.spans; ++i) {
      const Span& span = code_.spans[static_cast<size_t>(i)];
      const size_t stop = std::min(end, static_cast<size_t>(span.bundle + span.cycles));
      for (size_t b = static_cast<size_t>(span.bundle); b < stop; ++b) profile.causes[b] = span.cause;
    }
  }
}

void Profile::addWaits(Run& run) const {
  for (size_t f = 0; f < code_.functions.size(); ++f) {
    const Function& function = code_.functions[f];
    if (events::total(waits_[f]) == 0) continue;
    ListingProfile& profile = profileOf(run, function.listing);
    for (size_t c = 0; c < profile.waits.size(); ++c) profile.waits[c] += waits_[f][c];
    for (int32_t m = function.entry; m < function.end; ++m)
      profile.waited[static_cast<size_t>(code_.bundles[static_cast<size_t>(m)])] +=
          waited_[static_cast<size_t>(m)];
  }
}

void Profile::into(Run& run, int64_t clock) {
  addBundles(run);
  addWaits(run);
  run.transfer_uses = std::move(uses_);
  if (!timeline_.empty() && left_out_ == 0) timeline_.back().end = clock;
  if (left_out_ > 0) {
    run.notes.push_back(fmt::format("the timeline ends at cycle {}, after {} stretches", timeline_.back().end,
                                    timeline_.size()));
  }
  run.timeline = std::move(timeline_);
}

}  // namespace sublane::sim
