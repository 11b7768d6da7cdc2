// The loop that executes micro operations. It exists twice: without origins of unknown values, which is the
// normal case, and with them (kShadow), while a register holds one.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/machine.h"

namespace sublane::sim {
namespace {

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }
int32_t asSigned(uint32_t bits) { return static_cast<int32_t>(bits); }

/// Towards zero; what does not fit becomes the nearest that does, NaN 0.
uint32_t toInteger(float value) {
  if (!(value == value)) return 0;
  if (value >= 2147483648.0f) return 0x7fffffff;
  if (value < -2147483648.0f) return 0x80000000;
  return static_cast<uint32_t>(static_cast<int32_t>(value));
}

/// Operations whose result is a function of a and b.
inline uint32_t combine(Do op, uint32_t a, uint32_t b) {
  switch (op) {
    case Do::kMove:
      return a;
    case Do::kAdd:
      return a + b;
    case Do::kSubtract:
      return a - b;
    case Do::kMultiply:
      return a * b;
    case Do::kMultiplyHigh:
      return static_cast<uint32_t>(uint64_t{a} * b >> 32);
    case Do::kAnd:
      return a & b;
    case Do::kOr:
      return a | b;
    case Do::kXor:
      return a ^ b;
    case Do::kShiftLeft:
      return b < 32 ? a << b : 0;
    case Do::kShiftRight:
      return b < 32 ? a >> b : 0;
    case Do::kShiftRightSigned:
      return static_cast<uint32_t>(asSigned(a) >> std::min(b, 31u));
    case Do::kMinUnsigned:
      return std::min(a, b);
    case Do::kMaxUnsigned:
      return std::max(a, b);
    case Do::kMinSigned:
      return asSigned(a) < asSigned(b) ? a : b;
    case Do::kMaxSigned:
      return asSigned(a) > asSigned(b) ? a : b;
    case Do::kAddFloat:
      return asBits(asFloat(a) + asFloat(b));
    case Do::kSubtractFloat:
      return asBits(asFloat(a) - asFloat(b));
    case Do::kMultiplyFloat:
      return asBits(asFloat(a) * asFloat(b));
    case Do::kMaxFloat:
      return asFloat(a) > asFloat(b) ? a : b;
    case Do::kMinFloat:
      return asFloat(a) < asFloat(b) ? a : b;
    case Do::kToFloat:
      return asBits(static_cast<float>(asSigned(a)));
    case Do::kToInteger:
      return toInteger(asFloat(a));
    case Do::kFloor:
      return asBits(std::floor(asFloat(a)));
    case Do::kCeiling:
      return asBits(std::ceil(asFloat(a)));
    case Do::kLeadingZeros:
      return static_cast<uint32_t>(std::countl_zero(a));
    case Do::kShiftLeftOnes:
      return b < 32 ? (a << b) | ((uint32_t{1} << b) - 1) : ~uint32_t{0};
    case Do::kEqual:
      return a == b;
    case Do::kNotEqual:
      return a != b;
    case Do::kLessSigned:
      return asSigned(a) < asSigned(b);
    case Do::kNotGreaterSigned:
      return asSigned(a) <= asSigned(b);
    case Do::kLessUnsigned:
      return a < b;
    case Do::kNotGreaterUnsigned:
      return a <= b;
    case Do::kEqualFloat:
      return asFloat(a) == asFloat(b);
    case Do::kNotEqualFloat:
      return asFloat(a) != asFloat(b);
    case Do::kLessFloat:
      return asFloat(a) < asFloat(b);
    case Do::kNotGreaterFloat:
      return asFloat(a) <= asFloat(b);
    case Do::kCarry:
      return a + b < a;
    case Do::kNand:
      return (a & b) ^ 1;
    case Do::kNor:
      return (a | b) ^ 1;
    case Do::kNot:
      return a ^ 1;
    default:
      return 0;
  }
}

}  // namespace

/// SUBLANE_COMBINE: one case an operation, so that each has its own jump and its own inlined `combine`.
#define SUBLANE_COMBINE(op)                               \
  case Do::op:                                            \
    r[m->dst] = combine(Do::op, r[m->a], r[m->b]);        \
    if constexpr (kShadow) o[m->dst] = worse(m->a, m->b); \
    break;

template <bool kShadow>
Machine::Outcome Machine::execute() {
  uint32_t* const r = registers_.data();
  uint32_t* const o = register_origin_.data();
  const MicroOp* const code = code_.micros.data();
  const MicroOp* m = code + pc_;
  int64_t clock = clock_;
  const auto save = [&] { pc_ = static_cast<int32_t>(m - code), clock_ = clock; };
  const auto origin = [&](int32_t reg) { return kShadow && reg < kConstants ? o[reg] : 0u; };
  const auto worse = [&](int32_t a, int32_t b) { return origin(a) ? origin(a) : origin(b); };

  for (;; ++m) {
    if constexpr (kShadow) {
      if (origin(m->predicate)) {
        save();
        // Whether it happens is not known: its result is not, either. Control must know.
        if (m->op <= Do::kSelect || m->op == Do::kLoad || m->op == Do::kUnknown) {
          o[m->dst] = origin(m->predicate);
        } else if (m->op == Do::kStore) {
          const uint32_t address = r[m->a] + r[m->b] + static_cast<uint32_t>(m->c);
          if (origin(m->a) || origin(m->b)) {
            unknownUsed(worse(m->a, m->b), "the address of a store");
            return Outcome::kFault;
          }
          if (address >= smem_.size()) return smemFault(address, "write"), Outcome::kFault;
          smem_origin_[address] = origin(m->predicate);
        } else if (m->op == Do::kHalt) {
          ++unchecked_;
        } else {
          unknownUsed(origin(m->predicate), "control");
          return Outcome::kFault;
        }
        continue;
      }
    }
    if ((r[m->predicate] != 0) == m->negated) continue;
    switch (m->op) {
      SUBLANE_COMBINE(kMove)
      SUBLANE_COMBINE(kAdd)
      SUBLANE_COMBINE(kSubtract)
      SUBLANE_COMBINE(kMultiply)
      SUBLANE_COMBINE(kMultiplyHigh)
      SUBLANE_COMBINE(kAnd)
      SUBLANE_COMBINE(kOr)
      SUBLANE_COMBINE(kXor)
      SUBLANE_COMBINE(kShiftLeft)
      SUBLANE_COMBINE(kShiftRight)
      SUBLANE_COMBINE(kShiftRightSigned)
      SUBLANE_COMBINE(kMinUnsigned)
      SUBLANE_COMBINE(kMaxUnsigned)
      SUBLANE_COMBINE(kMinSigned)
      SUBLANE_COMBINE(kMaxSigned)
      SUBLANE_COMBINE(kAddFloat)
      SUBLANE_COMBINE(kSubtractFloat)
      SUBLANE_COMBINE(kMultiplyFloat)
      SUBLANE_COMBINE(kMaxFloat)
      SUBLANE_COMBINE(kMinFloat)
      SUBLANE_COMBINE(kToFloat)
      SUBLANE_COMBINE(kToInteger)
      SUBLANE_COMBINE(kFloor)
      SUBLANE_COMBINE(kCeiling)
      SUBLANE_COMBINE(kLeadingZeros)
      SUBLANE_COMBINE(kShiftLeftOnes)
      SUBLANE_COMBINE(kEqual)
      SUBLANE_COMBINE(kNotEqual)
      SUBLANE_COMBINE(kLessSigned)
      SUBLANE_COMBINE(kNotGreaterSigned)
      SUBLANE_COMBINE(kLessUnsigned)
      SUBLANE_COMBINE(kNotGreaterUnsigned)
      SUBLANE_COMBINE(kEqualFloat)
      SUBLANE_COMBINE(kNotEqualFloat)
      SUBLANE_COMBINE(kLessFloat)
      SUBLANE_COMBINE(kNotGreaterFloat)
      SUBLANE_COMBINE(kCarry)
      SUBLANE_COMBINE(kNand)
      SUBLANE_COMBINE(kNor)
      SUBLANE_COMBINE(kNot)
      case Do::kSelect:
        if constexpr (kShadow) {
          o[m->dst] = origin(m->c) ? origin(m->c) : origin(r[m->c] ? m->a : m->b);
        }
        r[m->dst] = r[m->c] ? r[m->a] : r[m->b];
        break;
      case Do::kLoad: {
        const uint32_t address = r[m->a] + r[m->b] + static_cast<uint32_t>(m->c);
        if constexpr (kShadow) {
          if (worse(m->a, m->b)) {  // loaded ahead of a check, perhaps
            o[m->dst] = worse(m->a, m->b);
            break;
          }
        }
        if (address >= smem_.size()) [[unlikely]] {
          save();
          return smemFault(address, "read"), Outcome::kFault;
        }
        r[m->dst] = smem_[address];
        if (smem_origin_[address]) [[unlikely]] {
          save();
          smemLoadUnknown(m->dst, address);
          if constexpr (!kShadow) {
            ++pc_;
            return Outcome::kSwitch;
          }
          break;
        }
        if constexpr (kShadow) o[m->dst] = 0;
        break;
      }
      case Do::kStore: {
        const uint32_t address = r[m->a] + r[m->b] + static_cast<uint32_t>(m->c);
        if constexpr (kShadow) {
          if (worse(m->a, m->b)) {
            save();
            unknownUsed(worse(m->a, m->b), "the address of a store");
            return Outcome::kFault;
          }
        }
        if (address >= smem_.size()) [[unlikely]] {
          save();
          return smemFault(address, "write"), Outcome::kFault;
        }
        smem_[address] = r[m->dst];
        smem_origin_[address] = origin(m->dst);
        break;
      }
      case Do::kBranch:
        r[m->dst] = 1;
        break;
      case Do::kJump:
        if (!r[m->dst]) break;
        r[m->dst] = 0;
        if (m->b) [[unlikely]] {
          save();
          if (std::any_of(r + kTaken, r + kTemporaries, [](uint32_t t) { return t != 0; })) {
            fault("two branches are taken at once");
            return Outcome::kFault;
          }
        }
        if (--jumps_left_ <= 0) [[unlikely]] {
          save();
          if (tooLong()) return Outcome::kFault;
        }
        if constexpr (!kShadow) {
          if (m->c > 0 && options_.fast_forward)
            clock += fastForward(code_.loops[static_cast<size_t>(m->c - 1)]);
        }
        m = code + m->a - 1;
        if constexpr (kShadow) {
          if (divide_fifo_.empty() && std::all_of(o, o + kConstants, [](uint32_t x) { return x == 0; })) {
            ++m;
            save();
            return Outcome::kSwitch;
          }
        }
        break;
      case Do::kCall:
        save();
        if (!callFunction(m->a)) return Outcome::kFault;
        m = code + pc_ - 1;
        break;
      case Do::kReturn:
        function_ = frames_.back().function;
        m = code + frames_.back().back;
        frames_.pop_back();
        break;
      case Do::kStop:
        save();
        return Outcome::kDone;
      case Do::kHalt:
        save();
        return checkFailed(m->a), Outcome::kFault;
      case Do::kSegment:
        clock += m->b;
        if (counts_[static_cast<size_t>(m->a)]++ == 0) touched_.push_back(m->a);
        if (options_.sink) [[unlikely]]
          emitSegment(m->a, clock);
        break;
      case Do::kWait:
      case Do::kFlagAdd:
      case Do::kFlagSet:
      case Do::kFlagRead: {
        save();
        if (kShadow && worse(m->a, m->b)) {
          unknownUsed(worse(m->a, m->b), "a sync flag");
          return Outcome::kFault;
        }
        const uint32_t flag = r[m->a];
        if (!flagInRange(flag)) return Outcome::kFault;
        if (m->op == Do::kWait && m->c) waitForOtherCore(flag, asSigned(r[m->b]));
        tellWhatIfs(m->op, flag, asSigned(r[m->b]));
        if (m->op == Do::kFlagAdd) {
          addToFlag(static_cast<int32_t>(flag), asSigned(r[m->b]));
          break;
        }
        if (!(m->op == Do::kWait ? waitFor(flag, asSigned(r[m->b])) : deliver(clock))) return Outcome::kFault;
        clock = clock_;
        if (m->op != Do::kWait && options_.late_transfers) settleAll(static_cast<int32_t>(flag));
        if (m->op != Do::kWait && options_.sink) tellAllTaken(static_cast<int32_t>(flag));
        if (m->op == Do::kFlagSet) flags_[flag] = asSigned(r[m->b]);
        if (m->op == Do::kFlagRead) flag_fifo_.push_back(flags_[flag]);
        break;
      }
      case Do::kFlagPop:
        save();
        if (flag_fifo_.empty()) return fault("a flag is popped that was not read"), Outcome::kFault;
        r[m->dst] = static_cast<uint32_t>(flag_fifo_.front());
        if constexpr (kShadow) o[m->dst] = 0;
        flag_fifo_.erase(flag_fifo_.begin());
        break;
      case Do::kDivide: {
        const uint32_t a = r[m->a], b = r[m->b];
        const uint32_t unknown = worse(m->a, m->b);
        if (m->c & 1) divide_fifo_.push_back({b ? a / b : ~uint32_t{0}, unknown});
        if (m->c & 2) divide_fifo_.push_back({b ? a % b : a, unknown});
        break;
      }
      case Do::kDividePop:
        save();
        if (divide_fifo_.empty()) return fault("a division's result is popped twice"), Outcome::kFault;
        r[m->dst] = divide_fifo_.front().first;
        if constexpr (kShadow) o[m->dst] = divide_fifo_.front().second;
        divide_fifo_.erase(divide_fifo_.begin());
        break;
      case Do::kTransfer:
        save();
        if (!issue(code_.transfers[static_cast<size_t>(m->a)])) return Outcome::kFault;
        break;
      case Do::kTrace:
        save();
        if (origin(m->a) == 0 && !enterOp(r[m->a])) return Outcome::kFault;
        clock = clock_;
        break;
      case Do::kDelay:
        save();
        // The program asks for it: not a stall.
        forWhatIfs([&](WhatIf& what_if) { what_if.pause(r[m->a]); });
        addStall(events::Cause::kIssueOther, r[m->a], -1);
        clock = clock_;
        break;
      case Do::kBarrier:
        save();
        waitForOthers();
        clock = clock_;
        break;
      case Do::kUnknown:
        save();
        o[m->dst] = originOf(
            {Origin::Kind::kVector, function_, code_.bundles[static_cast<size_t>(pc_)], currentOp()});
        r[m->dst] = kPoison;
        if constexpr (!kShadow) {
          ++pc_;
          return Outcome::kSwitch;
        }
        break;
      case Do::kVector:
        save();
        if (!executeVector(m->a)) return Outcome::kFault;
        break;
      case Do::kCommit:
        save();
        if (commitVector() && !kShadow) {
          ++pc_;
          return Outcome::kSwitch;
        }
        break;
    }
  }
}
#undef SUBLANE_COMBINE

template Machine::Outcome Machine::execute<true>();
template Machine::Outcome Machine::execute<false>();

}  // namespace sublane::sim
