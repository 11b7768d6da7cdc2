#include "sim/decode.h"

#include <algorithm>
#include <map>

#include "sim/decode_function.h"
#include "sim/loop_plan.h"
#include "sim/scoreboard.h"
#include "sim/what_if.h"

namespace sublane::sim {
namespace {

constexpr int32_t kTakenRegisters = kTemporaries - kTaken;

bool removed(events::Cause cause, const std::vector<Without>& without) {
  return std::any_of(without.begin(), without.end(), [&](Without w) { return takenAway(cause, w); });
}

/// Turns one listing into micro operations at the end of `code`.
class FunctionDecoder {
 public:
  FunctionDecoder(const llo::Listing& listing, const std::vector<int64_t>& addresses,
                  const Placement& placement, const DecodeOptions& options, std::vector<events::Cause> causes,
                  Function& function, int32_t number, Code& code, ConstantPool& constants)
      : listing_(listing),
        options_(options),
        causes_(std::move(causes)),
        function_(function),
        number_(number),
        code_(code),
        context_{listing,
                 addresses,
                 placement,
                 code,
                 constants,
                 function.valued,
                 listing.function.starts_with("<late-")} {}

  /// `function_of` gives the code that a callee of this name has.
  Status run(const std::function<Result<int32_t>(const std::string&)>& function_of) {
    function_.entry = here();
    function_.first_segment = static_cast<int32_t>(code_.segments.size());
    findLeaders();
    if (options_.scoreboard) issues_ = scoreboard(listing_, *options_.scoreboard, options_.delay_slots);
    labels_.assign(listing_.bundles.size() + 1, -1);
    for (int32_t b = 0; b < count(); ++b) SUBLANE_CHECK_OK(bundle(b, function_of));
    closeSegment(count());
    for (const int32_t jump : jumpsAfter(count())) emitJump(jump);
    labels_[static_cast<size_t>(count())] = here();
    emit({.op = top_ ? Do::kStop : Do::kReturn}, count() - 1);
    function_.end = here();
    for (const auto& [micro, target] : jumps_) {
      code_.micros[static_cast<size_t>(micro)].a = labels_[static_cast<size_t>(target)];
    }
    return Ok{};
  }

  void asTop() { top_ = true; }

 private:
  int32_t count() const { return static_cast<int32_t>(listing_.bundles.size()); }
  int32_t here() const { return static_cast<int32_t>(code_.micros.size()); }

  void emit(MicroOp micro, int32_t bundle) {
    code_.micros.push_back(micro);
    code_.bundles.push_back(std::max(bundle, 0));
  }

  /// Bundles that a segment must begin with: what a branch can reach.
  void findLeaders() {
    leaders_.assign(listing_.bundles.size() + 1, !options_.merge);
    for (int32_t b = 0; b < count(); ++b) {
      for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[static_cast<size_t>(b)])) {
        if (i.target >= 0) leaders_[static_cast<size_t>(i.target)] = true;
      }
    }
  }

  Status bundle(int32_t b, const std::function<Result<int32_t>(const std::string&)>& function_of) {
    for (const int32_t jump : jumpsAfter(b)) {
      closeSegment(b);
      emitJump(jump);
    }
    BundleSteps steps;
    context_.taken = kTaken + branches_ % kTakenRegisters;
    for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[static_cast<size_t>(b)])) {
      SUBLANE_CHECK_OK(decodeOperation(context_, b, i, steps));
    }
    const bool leader = leaders_[static_cast<size_t>(b)] != 0;
    if (leader || steps.timed || steps.callee >= 0) closeSegment(b, !leader);
    if (segment_from_ < 0) segment_from_ = b;
    labels_[static_cast<size_t>(b)] = here();
    emitSteps(std::move(steps.waits), b);
    if (steps.vector) emit({.op = Do::kVector, .a = b}, b);
    emitSteps(std::move(steps.steps), b);
    if (steps.vector_results) emit({.op = Do::kCommit}, b);
    if (steps.branch_target >= 0) {
      pending_.push_back({b + options_.delay_slots + 1, context_.taken, steps.branch_target});
      ++branches_;
    }
    if (steps.callee >= 0) {
      closeSegment(b + 1);
      SUBLANE_TRY(const int32_t callee, function_of(listing_.callees[static_cast<size_t>(steps.callee)]));
      emit({.op = Do::kCall, .a = callee}, b);
    }
    return Ok{};
  }

  void emitSteps(std::vector<Step> steps, int32_t b) {
    if (steps.size() == 1) return emit(steps.front().micro, b);
    for (const MicroOp& micro : inOrder(std::move(steps))) emit(micro, b);
  }

  struct Pending {
    int32_t at = 0, taken = 0, target = 0;
  };
  std::vector<int32_t> jumpsAfter(int32_t b) {
    std::vector<int32_t> due;
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].at <= b || b == count()) due.push_back(static_cast<int32_t>(i));
    }
    return due;
  }
  void emitJump(int32_t) {
    const Pending jump = pending_.front();
    pending_.erase(pending_.begin());
    jumps_.emplace_back(here(), jump.target);
    // b: whether another branch was issued in these delay slots; both taken would be a fault.
    emit({.op = Do::kJump, .dst = jump.taken, .b = pending_.empty() ? 0 : 1}, jump.at - 1);
  }

  /// Ends the current segment before bundle `end`. `runs_on`: control always goes on there, and what that
  /// bundle waits for is waited for here, before it does anything.
  void closeSegment(int32_t end, bool runs_on = false) {
    if (segment_from_ < 0 || segment_from_ >= end) return;
    Segment segment{.function = number_,
                    .first_bundle = segment_from_,
                    .bundles = end - segment_from_,
                    .first_span = static_cast<int32_t>(code_.spans.size())};
    for (int32_t b = segment_from_; b < end; ++b) {
      spendStall(segment, b);
      if (issues_.empty() || issues_[static_cast<size_t>(b)].issued)
        spend(segment, causes_[static_cast<size_t>(b)], b, 1);
      else
        --segment.bundles;
    }
    if (runs_on) spendStall(segment, end);
    segment.spans = static_cast<int32_t>(code_.spans.size()) - segment.first_span;
    emit({.op = Do::kSegment, .a = static_cast<int32_t>(code_.segments.size()), .b = segment.cycles},
         end - 1);
    code_.segments.push_back(segment);
    segment_from_ = end < count() ? end : -1;
  }

  void spend(Segment& segment, events::Cause cause, int32_t b, int32_t cycles) {
    if (removed(cause, options_.without)) return;
    segment.cycles += cycles;
    if (segment.first_span == static_cast<int32_t>(code_.spans.size()) || code_.spans.back().cause != cause ||
        code_.spans.back().bundle + code_.spans.back().cycles != b) {
      code_.spans.push_back({.cause = cause, .bundle = b});
    }
    code_.spans.back().cycles += cycles;
  }
  /// What the scoreboard makes bundle `b` wait, once.
  void spendStall(Segment& segment, int32_t b) {
    if (issues_.empty() || b >= count()) return;
    Issue& issue = issues_[static_cast<size_t>(b)];
    if (issue.stall == 0) return;
    const bool launch = causes_[static_cast<size_t>(b)] == events::Cause::kLaunch;
    spend(segment, launch ? events::Cause::kLaunch : dependencyOn(issue.unit), b,
          std::exchange(issue.stall, 0));
  }

  const llo::Listing& listing_;
  const DecodeOptions& options_;
  std::vector<events::Cause> causes_;
  std::vector<Issue> issues_;  // empty: the schedule is taken as it is
  Function& function_;
  int32_t number_;
  Code& code_;
  OperationContext context_;
  bool top_ = false;
  std::vector<char> leaders_;
  std::vector<int32_t> labels_;
  std::vector<std::pair<int32_t, int32_t>> jumps_;  // micro operation, target bundle
  std::vector<Pending> pending_;
  int32_t segment_from_ = -1, branches_ = 0;
};

class ProgramDecoder {
 public:
  ProgramDecoder(const llo::Program& program, const Placement& placement, const DecodeOptions& options)
      : program_(program), placement_(placement), options_(options), constants_(code_.registers) {
    code_.registers.assign(kConstants, 0);
    code_.registers[kAlways] = 1;
  }

  Result<Code> run() {
    SUBLANE_TRY(code_.top, add(program_.top, options_.all_valued || options_.top_valued));
    // Functions are numbered as they are first called; decoding one may add more.
    for (size_t next = 0; next < code_.functions.size(); ++next) SUBLANE_CHECK_OK(decodeFunction(next));
    return std::move(code_);
  }

 private:
  const llo::Listing& listing(int32_t index) const { return program_.listings[static_cast<size_t>(index)]; }

  Result<int32_t> add(int32_t index, bool valued) {
    const auto [entry, added] =
        numbers_.try_emplace({index, valued}, static_cast<int32_t>(code_.functions.size()));
    if (!added) return entry->second;
    Function function{.listing = index, .valued = valued};
    if (valued && options_.prepare) {
      SUBLANE_TRY(function.vector_listing,
                  options_.prepare(listing(index), placement_.addresses[static_cast<size_t>(index)]));
    }
    code_.functions.push_back(function);
    return entry->second;
  }

  Result<int32_t> functionOf(const std::string& callee) {
    const auto found = program_.functions.find(callee);
    if (found == program_.functions.end()) {
      return inputError("simulator: {} is called, but no listing of it was dumped", callee);
    }
    return add(found->second, options_.all_valued || options_.valued.contains(callee));
  }

  Status decodeFunction(size_t number) {
    Function function = code_.functions[number];  // a copy: decoding adds functions
    const llo::Listing& listing = this->listing(function.listing);
    const bool top = function.listing == program_.top;
    std::vector<events::Cause> causes =
        bundleCauses(listing, {.delay_slots = options_.delay_slots,
                               .slots = options_.slots,
                               .all_launch = listing.function.starts_with("<late-"),
                               .launch_outside = top,
                               .traced = static_cast<int64_t>(program_.traced.size())});
    FunctionDecoder decoder(listing, placement_.addresses[static_cast<size_t>(function.listing)], placement_,
                            options_, std::move(causes), function, static_cast<int32_t>(number), code_,
                            constants_);
    if (top) decoder.asTop();
    SUBLANE_CHECK_OK(decoder.run([this](const std::string& callee) { return functionOf(callee); }));
    code_.functions[number] = function;
    return Ok{};
  }

  const llo::Program& program_;
  const Placement& placement_;
  const DecodeOptions& options_;
  Code code_;
  ConstantPool constants_;
  std::map<std::pair<int32_t, bool>, int32_t> numbers_;
};

}  // namespace

Result<Code> decode(const llo::Program& program, const Placement& placement, const DecodeOptions& options) {
  SUBLANE_TRY(Code code, ProgramDecoder(program, placement, options).run());
  planLoops(code);
  return code;
}

}  // namespace sublane::sim
