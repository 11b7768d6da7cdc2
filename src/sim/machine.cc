#include "sim/machine.h"

#include <algorithm>
#include <numeric>

#include "sim/loop_plan.h"

namespace sublane::sim {
namespace {

constexpr int64_t kJumpsBetweenChecks = 1 << 16;
constexpr size_t kDeepestCall = 64;
constexpr uint32_t kNeverWritten = 1, kFirstOrigin = 2;
/// Marker that opens an operation, in the upper 4 bits of a trace word; 9 closes it.
constexpr uint32_t kOpens = 8, kCloses = 9, kMarkerMask = 0x0fffffff;

}  // namespace

Machine::Machine(const llo::Program& program, const Placement& placement, const Code& code,
                 MachineOptions options, VectorUnit* vector)
    : program_(program),
      placement_(placement),
      code_(code),
      options_(std::move(options)),
      vector_(vector),
      memory_(options_.timing),
      registers_(code.registers),
      smem_(static_cast<size_t>(placement.smem_words), kPoison),
      smem_origin_(smem_.size(), kNeverWritten),
      register_origin_(kConstants, 0),
      flags_(static_cast<size_t>(placement.sync_flags) + 1, 0),
      counts_(code.segments.size(), 0),
      account_of_(program.traced.size() + 1, -1),
      profile_(program, code) {
  for (const llo::TracedOp& op : program.traced) {
    valued_ops_.push_back(options_.all_valued || options_.valued.contains(op.name));
  }
  for (WhatIfOptions what_if : options_.what_ifs) {
    what_if.sync_flags = flags_.size();
    what_ifs_.emplace_back(code, what_if);
  }
  pc_ = code.functions[static_cast<size_t>(code.top)].entry;
  function_ = code.top;
  jumps_left_ = std::min(kJumpsBetweenChecks, options_.most_bundles);
}

Status Machine::run() {
  switchAccount(-1);
  bool shadow = false;
  for (;;) {
    const Outcome outcome = shadow ? execute<true>() : execute<false>();
    if (outcome == Outcome::kFault && vector_fault_) return inputError("{}", message_);
    if (outcome == Outcome::kFault) return inputError("{}: {}", here(), message_);
    if (outcome == Outcome::kDone && !nothingIsLeft()) return inputError("{}", message_);
    if (outcome == Outcome::kDone) break;
    shadow = !shadow;
  }
  flush();
  if (options_.sink) tellTheRest();
  return Ok{};
}

bool Machine::fault(std::string message) {
  message_ = std::move(message);
  return false;
}

std::string Machine::place(int32_t function, int32_t bundle) const {
  const int32_t listing = code_.functions[static_cast<size_t>(function)].listing;
  return fmt::format("{}, bundle {:#x}", program_.listings[static_cast<size_t>(listing)].function, bundle);
}

std::string Machine::opName(int32_t op) const {
  return op < 0 ? "" : program_.traced[static_cast<size_t>(op)].name;
}

uint32_t Machine::originOf(const Origin& origin) {
  const auto key = std::tuple(static_cast<int>(origin.kind), origin.function, origin.bundle, origin.op);
  const auto [entry, added] =
      origin_places_.try_emplace(key, kFirstOrigin + static_cast<uint32_t>(origins_.size()));
  if (added) origins_.push_back(origin);
  return entry->second;
}

bool Machine::unknownUsed(uint32_t origin, const char* what) {
  const Origin& from = origins_[origin - kFirstOrigin];
  missing_ = from;
  const std::string where = place(from.function, from.bundle);
  switch (from.kind) {
    case Origin::Kind::kUnwritten:
      return fault(fmt::format("{} depends on SMEM word {:#x}, which {} reads and nothing wrote", what,
                               from.address, where));
    case Origin::Kind::kVector:
      return fault(fmt::format("{} depends on what vector work computes at {}", what, where));
    case Origin::Kind::kTransfer:
      return fault(
          fmt::format("{} depends on data that the transfer at {} brings from {} {:#x}, and that is not "
                      "known",
                      what, where, llo::name(from.space), from.address));
  }
  return false;
}

bool Machine::checkFailed(int32_t remark) {
  const int32_t listing = code_.functions[static_cast<size_t>(function_)].listing;
  const std::vector<std::string>& remarks = program_.listings[static_cast<size_t>(listing)].remarks;
  return fault(fmt::format("the program stopped itself: {}",
                           remark < 0 ? "a check of its own failed" : remarks[static_cast<size_t>(remark)]));
}

bool Machine::smemFault(uint32_t address, const char* what) {
  return fault(fmt::format("a {} of SMEM word {:#x}; there are {:#x}", what, address, smem_.size()));
}

void Machine::smemLoadUnknown(int32_t reg, uint32_t address) {
  uint32_t origin = smem_origin_[address];
  if (origin == kNeverWritten) {
    origin = originOf({.kind = Origin::Kind::kUnwritten,
                       .function = function_,
                       .bundle = code_.bundles[static_cast<size_t>(pc_)],
                       .op = currentOp(),
                       .address = address,
                       .space = llo::Space::kSmem});
  }
  register_origin_[static_cast<size_t>(reg)] = origin;
  registers_[static_cast<size_t>(reg)] = kPoison;
}

bool Machine::callFunction(int32_t function) {
  if (frames_.size() >= kDeepestCall) return fault("calls are nested too deeply");
  frames_.push_back({pc_, function_});
  const Function& callee = code_.functions[static_cast<size_t>(function)];
  function_ = function;
  pc_ = callee.entry;
  if (callee.valued && vector_) {
    // What a kernel finds in its own memory is nobody's.
    const llo::Listing& listing = program_.listings[static_cast<size_t>(callee.listing)];
    const std::vector<int64_t>& addresses = placement_.addresses[static_cast<size_t>(callee.listing)];
    for (size_t i = 0; i < addresses.size(); ++i) {
      const llo::Allocation& allocation = listing.allocations[i];
      if (allocation.space == llo::Space::kVmem && !allocation.absolute)
        vector_->forgetVmem(addresses[i], (allocation.bytes + kRowBytes - 1) / kRowBytes);
    }
  }
  return true;
}

bool Machine::tooLong() {
  flush();
  jumps_left_ = kJumpsBetweenChecks;
  if (options_.cancel != nullptr && options_.cancel->load()) {
    fault("interrupted");
    return true;
  }
  if (bundles_ <= options_.most_bundles) return false;
  fault(fmt::format("{} bundles were executed, {} are allowed", bundles_, options_.most_bundles));
  return true;
}

bool Machine::enterOp(uint32_t marker) {
  const uint32_t kind = marker >> 28, number = marker & kMarkerMask;
  if (number >= program_.traced.size()) return true;
  if (kind == kOpens) {
    op_stack_.push_back(static_cast<int32_t>(number));
  } else if (kind == kCloses) {
    const auto open = std::find(op_stack_.rbegin(), op_stack_.rend(), static_cast<int32_t>(number));
    if (open == op_stack_.rend()) return true;
    op_stack_.erase(std::prev(open.base()), op_stack_.end());
  } else {
    return true;
  }
  switchAccount(currentOp());
  if (kind != kOpens) return true;
  ++accounts_[static_cast<size_t>(account_)].time.executions;
  return enterOverlay(program_.traced[number].overlay);
}

void Machine::switchAccount(int32_t traced) {
  flush();
  int32_t& account = account_of_[static_cast<size_t>(traced) + 1];
  if (account < 0) {
    account = static_cast<int32_t>(accounts_.size());
    accounts_.push_back({.traced = traced, .time = {.traced = traced}});
  }
  account_ = account;
  profile_.enter(traced, clock_);
  for (WhatIf& what_if : what_ifs_) what_if.switchAccount(static_cast<size_t>(account));
}

/// Skips to a loop's last iteration; returns the cycles that pass. The registers are as its next one begins.
int64_t Machine::fastForward(const LoopPlan& plan) {
  constexpr int64_t kWorthwhile = 4;
  const int64_t times = iterationsLeft(plan, registers_);
  if (times < kWorthwhile) return 0;
  int64_t cycles = 0;
  for (const LoopPlan::Passed& passed : plan.segments) {
    int64_t& count = counts_[static_cast<size_t>(passed.segment)];
    if (count == 0) touched_.push_back(passed.segment);
    count += times;
    cycles += times * passed.cycles;
  }
  for (const LoopPlan::Carried& carried : plan.carried)
    registers_[static_cast<size_t>(carried.reg)] +=
        static_cast<uint32_t>(times) * stepOf(carried, registers_);
  jumps_left_ -= times;
  return cycles;
}

void Machine::flush() {
  if (account_ < 0) return;
  OpTime& time = accounts_[static_cast<size_t>(account_)].time;
  for (const int32_t s : touched_) {
    const Segment& segment = code_.segments[static_cast<size_t>(s)];
    const int64_t count = std::exchange(counts_[static_cast<size_t>(s)], 0);
    for (WhatIf& what_if : what_ifs_) what_if.pass(s, count);
    bundles_ += count * segment.bundles;
    profile_.pass(time.traced, s, count);
    const llo::UnitCounts& issued = profile_.issuedBy(s);
    for (size_t u = 0; u < issued.size(); ++u) time.issued[u] += count * issued[u];
    time.cycles += count * segment.cycles;
    for (int32_t i = segment.first_span; i < segment.first_span + segment.spans; ++i) {
      const Span& span = code_.spans[static_cast<size_t>(i)];
      time.causes[static_cast<size_t>(span.cause)] += count * span.cycles;
    }
  }
  touched_.clear();
}

void Machine::addStall(events::Cause cause, int64_t cycles, int32_t transfer) {
  if (cycles <= 0) return;
  OpTime& time = accounts_[static_cast<size_t>(account_)].time;
  time.cycles += cycles;
  time.causes[static_cast<size_t>(cause)] += cycles;
  profile_.stall(pc_, cause, cycles);
  if (options_.sink) tell({.cycle = clock_, .duration = cycles, .cause = cause, .transfer = transfer});
  clock_ += cycles;
}

Run Machine::takeRun() {
  Run run{.cycles = clock_, .bundles = bundles_, .transfers = memory_.issued()};
  std::vector<OpTime> times;
  for (const Account& account : accounts_) times.push_back(account.time);
  const std::vector<Saving> saved = savings();
  attribute(times, saved);
  for (size_t i = 0; i < times.size(); ++i) accounts_[i].time = times[i];
  for (const Saving& saving : saved)
    run.savings[saving.without] = std::accumulate(saving.cycles.begin(), saving.cycles.end(), int64_t{0});
  // Outside of all operations: the first account that was opened, shown last.
  std::rotate(accounts_.begin(), accounts_.begin() + std::min<ptrdiff_t>(1, std::ssize(accounts_)),
              accounts_.end());
  for (const Account& account : accounts_) {
    run.hbm_read_bytes += account.time.hbm_read_bytes;
    run.hbm_write_bytes += account.time.hbm_write_bytes;
    for (size_t c = 0; c < run.causes.size(); ++c) run.causes[c] += account.time.causes[c];
    run.ops.push_back(account.time);
  }
  profile_.into(run, clock_);
  if (overlay_fetches_ > 0) {
    run.notes.push_back(fmt::format(
        "{} of {} parts of the code were fetched while it ran: {} bytes that no operation's HBM bytes hold",
        overlay_fetches_, program_.overlay_bundles.size() - 1, overlay_bytes_));
  }
  if (unchecked_ > 0) {
    run.notes.push_back(fmt::format(
        "{} checks of the program's own were not evaluated: they depend on vector work that is not executed",
        unchecked_));
  }
  return run;
}

}  // namespace sublane::sim
