#include "sim/what_if.h"

#include <algorithm>
#include <numeric>

namespace sublane::sim {
namespace {

using events::Cause;

size_t at(Cause cause) { return static_cast<size_t>(cause); }

/// Parts of `total` in proportion to `weights`, whose sum is not smaller; exact, and no part above its
/// weight.
std::vector<int64_t> share(int64_t total, const std::vector<int64_t>& weights) {
  const int64_t sum = std::accumulate(weights.begin(), weights.end(), int64_t{0});
  std::vector<int64_t> parts(weights.size(), 0);
  if (sum <= 0) return parts;
  __extension__ using Wide = __int128;
  int64_t seen = 0, given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    seen += weights[i];
    const int64_t until = static_cast<int64_t>(Wide{total} * seen / sum);
    parts[i] = until - given;
    given = until;
  }
  return parts;
}

/// Parts of `total`, near what each wants and not above what each has.
std::vector<int64_t> distribute(int64_t total, const std::vector<int64_t>& wants,
                                const std::vector<int64_t>& has) {
  const int64_t wanted = std::accumulate(wants.begin(), wants.end(), int64_t{0});
  if (wanted >= total) return share(total, wants);
  std::vector<int64_t> room(has.size());
  for (size_t i = 0; i < has.size(); ++i) room[i] = has[i] - wants[i];
  std::vector<int64_t> parts = share(total - wanted, room);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] += wants[i];
  return parts;
}

/// What the saving is in each account, such that it is right for the whole run and no account saves more than
/// it `has`.
std::vector<int64_t> savedOf(const Saving& saving, const std::vector<int64_t>& has) {
  const int64_t all = std::accumulate(has.begin(), has.end(), int64_t{0});
  const int64_t saved = std::accumulate(saving.cycles.begin(), saving.cycles.end(), int64_t{0});
  std::vector<int64_t> wants(has.size());
  for (size_t i = 0; i < has.size(); ++i) wants[i] = std::clamp(saving.cycles[i], int64_t{0}, has[i]);
  return distribute(std::clamp(saved, int64_t{0}, all), wants, has);
}

const Saving* savingOf(const std::vector<Saving>& savings, Without without) {
  for (const Saving& saving : savings) {
    if (saving.without == without) return &saving;
  }
  return nullptr;
}

void attributeTransfers(std::vector<OpTime>& accounts, const Saving& bytes, const Saving& latency) {
  std::vector<int64_t> stalls;
  for (const OpTime& account : accounts)
    stalls.push_back(account.causes[at(Cause::kDma)] + account.causes[at(Cause::kDmaLatency)]);
  const std::vector<int64_t> by_bytes = savedOf(bytes, stalls), by_latency = savedOf(latency, stalls);
  for (size_t i = 0; i < accounts.size(); ++i) {
    const int64_t either = std::max(by_bytes[i] + by_latency[i] - stalls[i], int64_t{0});
    accounts[i].causes[at(Cause::kDma)] = by_bytes[i] - either;
    accounts[i].causes[at(Cause::kDmaLatency)] = by_latency[i] - either;
    accounts[i].causes[at(Cause::kDmaEither)] = either;
    accounts[i].causes[at(Cause::kDmaBoth)] = stalls[i] - by_bytes[i] - by_latency[i] + either;
  }
}

void attributeBundles(std::vector<OpTime>& accounts, const Saving& saving) {
  std::vector<int64_t> has(accounts.size(), 0);
  const auto forCauses = [&](auto visit) {
    for (size_t c = 0; c < events::kCauseCount; ++c) {
      if (takenAway(static_cast<Cause>(c), saving.without)) visit(c);
    }
  };
  for (size_t i = 0; i < accounts.size(); ++i) forCauses([&](size_t c) { has[i] += accounts[i].causes[c]; });
  const std::vector<int64_t> saved = savedOf(saving, has);
  for (size_t i = 0; i < accounts.size(); ++i) {
    std::vector<int64_t> weights;
    forCauses([&](size_t c) { weights.push_back(accounts[i].causes[c]); });
    const std::vector<int64_t> hidden = share(has[i] - saved[i], weights);
    size_t next = 0;
    forCauses([&](size_t c) { accounts[i].causes[c] -= hidden[next++]; });
    accounts[i].causes[at(Cause::kOverlapped)] += has[i] - saved[i];
  }
}

}  // namespace

bool takenAway(Cause cause, Without without) {
  switch (without) {
    case Without::kSpills:
      return cause == Cause::kSpill;
    case Without::kLaunch:
      return cause == Cause::kLaunch;
    case Without::kBranches:
      return cause == Cause::kBranch;
    case Without::kDependencies:
      return cause >= Cause::kDependencyScalar && cause <= Cause::kDependencyOther;
    default:
      return false;  // not of bundles: transfers and overlays
  }
}

WhatIf::WhatIf(const Code& code, const WhatIfOptions& options)
    : without_(options.without),
      timing_(options.timing),
      memory_(options.timing),
      flags_(options.sync_flags, 0) {
  for (const Segment& segment : code.segments) {
    int32_t cycles = segment.cycles;
    for (int32_t i = segment.first_span; i < segment.first_span + segment.spans; ++i) {
      const Span& span = code.spans[static_cast<size_t>(i)];
      if (takenAway(span.cause, without_)) cycles -= span.cycles;
    }
    cycles_.push_back(cycles);
  }
}

void WhatIf::issue(const TransferShape& shape, int32_t flag, int32_t added, int32_t second) {
  int32_t tag = static_cast<int32_t>(flights_.size());
  if (free_.empty()) {
    flights_.emplace_back();
  } else {
    tag = free_.back();
    free_.pop_back();
  }
  flights_[static_cast<size_t>(tag)] = {flag, added, second};
  memory_.issue(clock_, shape, tag);
}

void WhatIf::complete(const Transfer& transfer) {
  const Flight& flight = flights_[static_cast<size_t>(transfer.tag)];
  flags_[static_cast<size_t>(flight.flag)] += flight.added;
  if (flight.second >= 0) flags_[static_cast<size_t>(flight.second)] += flight.added;
  free_.push_back(transfer.tag);
}

void WhatIf::wait(uint32_t flag, int32_t value) {
  while (const std::optional<Transfer> done = memory_.next(clock_)) complete(*done);
  while (flags_[flag] < value) {
    const std::optional<Transfer> done = memory_.next(MemorySystem::kForever);
    if (!done) return;  // the real run would have stopped
    complete(*done);
    clock_ = std::max(clock_, done->done);
  }
}

void WhatIf::receive(uint32_t flag, int32_t value, double bytes) {
  while (const std::optional<Transfer> done = memory_.next(clock_)) complete(*done);
  if (flags_[flag] >= value) return;
  clock_ += static_cast<int64_t>(timing_.before[static_cast<size_t>(Route::kLocal)]);
  clock_ += static_cast<int64_t>(bytes / timing_.local_bytes_per_cycle);
  flags_[flag] = value;
}

void WhatIf::set(uint32_t flag, int32_t value) {
  while (const std::optional<Transfer> done = memory_.next(clock_)) complete(*done);
  flags_[flag] = value;
}

void WhatIf::switchAccount(size_t account) {
  if (accounts_.size() <= std::max(account, account_)) accounts_.resize(std::max(account, account_) + 1, 0);
  accounts_[account_] += clock_ - entered_;
  entered_ = clock_;
  account_ = account;
}

const std::vector<int64_t>& WhatIf::accounts() {
  switchAccount(account_);
  return accounts_;
}

void attribute(std::vector<OpTime>& accounts, const std::vector<Saving>& savings) {
  const Saving *bytes = savingOf(savings, Without::kHbmLimit),
               *latency = savingOf(savings, Without::kDmaLatency);
  if (bytes && latency) attributeTransfers(accounts, *bytes, *latency);
  for (const Saving& saving : savings) {
    if (saving.without != Without::kHbmLimit && saving.without != Without::kDmaLatency)
      attributeBundles(accounts, saving);
  }
}

}  // namespace sublane::sim
