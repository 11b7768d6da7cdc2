#include "sim/loop_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace sublane::sim {
namespace {

using Terms = std::vector<LoopPlan::Term>;

/// A register's value within an iteration: what `base` held at its beginning, plus or minus registers that
/// the loop does not write.
struct Value {
  int32_t base = 0;
  Terms terms;
};

bool isComparison(Do op) { return op >= Do::kEqual && op <= Do::kNotGreaterUnsigned; }
bool isRegisterOperation(Do op) { return op <= Do::kSelect; }

/// Reads one loop body; gives up at the first thing that a plan can't hold.
class Reader {
 public:
  explicit Reader(std::span<const MicroOp> body) : body_(body) {
    for (const MicroOp& m : body_) {
      if (isRegisterOperation(m.op)) written_.insert(m.dst);
    }
  }

  std::optional<LoopPlan> read() {
    for (const MicroOp& m : body_) {
      if (m.op == Do::kSegment) {
        plan_.segments.push_back({m.a, m.b});
      } else if (m.op == Do::kBranch) {
        if (!branch(m)) return std::nullopt;
      } else if (m.op == Do::kJump) {
        if (!has_branch_ || m.dst != taken_ || m.b != 0 || &m != &body_.back()) return std::nullopt;
      } else if (!isRegisterOperation(m.op) || !registerOperation(m)) {
        return std::nullopt;
      }
    }
    return has_branch_ && carriedFit() ? std::optional(plan_) : std::nullopt;
  }

 private:
  bool invariant(int32_t reg) const { return !written_.contains(reg); }

  /// The value of a register that is read now; nothing: not a sum.
  std::optional<Value> valueOf(int32_t reg) {
    if (invariant(reg)) return Value{reg, {}};
    const auto known = now_.find(reg);
    if (known != now_.end()) return known->second;
    carried_.insert(reg);  // read before it is written: the iteration before wrote it
    return Value{reg, {}};
  }

  std::optional<Value> sum(const MicroOp& m) {
    const std::optional<Value> a = valueOf(m.a), b = valueOf(m.b);
    if (!a || !b) return std::nullopt;
    const auto plain = [&](const Value& v) { return v.terms.empty() && invariant(v.base); };
    const bool subtracts = m.op == Do::kSubtract;
    Value result = *a;
    if (plain(*b)) {
      result.terms.push_back({b->base, subtracts});
    } else if (plain(*a) && !subtracts) {
      result = *b;
      result.terms.push_back({a->base, false});
    } else {
      return std::nullopt;
    }
    return result;
  }

  bool registerOperation(const MicroOp& m) {
    // What happens or not, by a predicate, may leave the old value: that of the iteration before.
    const bool always = m.predicate == kAlways && !m.negated;
    std::optional<Value> result;
    if (m.op == Do::kMove) {
      result = valueOf(m.a);
    } else if (m.op == Do::kAdd || m.op == Do::kSubtract) {
      result = sum(m);
    } else {
      (void)valueOf(m.a);
      (void)valueOf(m.b);
      if (m.op == Do::kSelect) (void)valueOf(m.c);
    }
    if (!always) {
      (void)valueOf(m.predicate);
      (void)valueOf(m.dst);
      result.reset();
    }
    comparisons_.erase(m.dst);
    if (always && isComparison(m.op)) {
      if (const auto a = valueOf(m.a), b = valueOf(m.b); a && b)
        comparisons_[m.dst] = {.op = m.op, .left = {a->base, a->terms}, .right = {b->base, b->terms}};
    }
    now_[m.dst] = result;
    return true;
  }

  bool branch(const MicroOp& m) {
    const auto condition = comparisons_.find(m.predicate);
    if (has_branch_ || condition == comparisons_.end()) return false;
    plan_.condition = condition->second;
    plan_.negated = m.negated;
    has_branch_ = true;
    taken_ = m.dst;
    return true;
  }

  /// Every carried register must end as itself plus what the loop does not change.
  bool carriedFit() {
    for (const int32_t reg : carried_) {
      const auto end = now_.find(reg);
      if (end == now_.end() || !end->second || end->second->base != reg) return false;
      plan_.carried.push_back({reg, end->second->terms});
    }
    const auto fits = [&](int32_t base) { return invariant(base) || carried_.contains(base); };
    return fits(plan_.condition.left.base) && fits(plan_.condition.right.base);
  }

  std::span<const MicroOp> body_;
  std::set<int32_t> written_, carried_;
  std::map<int32_t, std::optional<Value>> now_;
  std::map<int32_t, LoopPlan::Condition> comparisons_;
  LoopPlan plan_;
  bool has_branch_ = false;
  int32_t taken_ = -1;
};

/// How many of D, D + k, D + 2k, ... fulfil "below 0", from the first on; nothing: all.
std::optional<int64_t> countBelow(int64_t d, int64_t k) {
  if (d >= 0) return 0;
  if (k <= 0) return std::nullopt;
  return (-d + k - 1) / k;
}

struct Side {
  int64_t start = 0, step = 0;
};

Side sideOf(const LoopPlan& plan, const LoopPlan::Sum& sum, std::span<const uint32_t> registers,
            bool is_signed) {
  uint32_t value = registers[static_cast<size_t>(sum.base)], step = 0;
  for (const LoopPlan::Term& term : sum.terms) {
    const uint32_t by = registers[static_cast<size_t>(term.reg)];
    value += term.subtracted ? 0 - by : by;
  }
  for (const LoopPlan::Carried& carried : plan.carried) {
    if (carried.reg == sum.base) step = stepOf(carried, registers);
  }
  return {is_signed ? int64_t{static_cast<int32_t>(value)} : int64_t{value},
          int64_t{static_cast<int32_t>(step)}};
}

bool staysInRange(const Side& side, int64_t times, bool is_signed) {
  const int64_t low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : int64_t{UINT32_MAX};
  int64_t last = 0;
  if (__builtin_mul_overflow(side.step, times, &last) || __builtin_add_overflow(last, side.start, &last))
    return false;
  return last >= low && last <= high;
}

}  // namespace

void planLoops(Code& code) {
  for (size_t at = 0; at < code.micros.size(); ++at) {
    MicroOp& jump = code.micros[at];
    if (jump.op != Do::kJump) continue;
    jump.c = 0;
    if (jump.a < 0 || static_cast<size_t>(jump.a) > at) continue;
    const auto first = static_cast<size_t>(jump.a);
    std::optional<LoopPlan> plan = Reader(std::span(code.micros).subspan(first, at + 1 - first)).read();
    if (!plan) continue;
    code.loops.push_back(std::move(*plan));
    jump.c = static_cast<int32_t>(code.loops.size());
  }
}

uint32_t stepOf(const LoopPlan::Carried& carried, std::span<const uint32_t> registers) {
  uint32_t step = 0;
  for (const LoopPlan::Term& term : carried.terms) {
    const uint32_t by = registers[static_cast<size_t>(term.reg)];
    step += term.subtracted ? 0 - by : by;
  }
  return step;
}

int64_t iterationsLeft(const LoopPlan& plan, std::span<const uint32_t> registers) {
  const Do op = plan.condition.op;
  const bool is_signed = op != Do::kLessUnsigned && op != Do::kNotGreaterUnsigned;
  const Side left = sideOf(plan, plan.condition.left, registers, is_signed),
             right = sideOf(plan, plan.condition.right, registers, is_signed);
  const int64_t d = left.start - right.start, k = left.step - right.step;
  std::optional<int64_t> times;
  const bool less = op == Do::kLessSigned || op == Do::kLessUnsigned;
  if (less || op == Do::kNotGreaterSigned || op == Do::kNotGreaterUnsigned) {
    // a < b is d < 0, a <= b is d - 1 < 0; their opposites, mirrored.
    const int64_t shifted = less ? d : d - 1;
    times = plan.negated ? countBelow(-shifted - 1, -k) : countBelow(shifted, k);
  } else if ((op == Do::kEqual) != plan.negated) {
    times = d != 0 ? 0 : k != 0 ? std::optional<int64_t>(1) : std::nullopt;
  } else if (k != 0 && d % k == 0 && -d / k >= 0) {
    times = -d / k;
  }
  if (!times || *times <= 0) return 0;
  if (!staysInRange(left, *times, is_signed) || !staysInRange(right, *times, is_signed)) return 0;
  return *times;
}

}  // namespace sublane::sim
