#include <array>
#include <bit>
#include <optional>
#include <string_view>

#include "sim/decode_function.h"
#include "sim/vector_unit.h"

namespace sublane::sim {
namespace {

using llo::Operand;
using llo::RegisterFile;
using llo::Role;
using llo::Space;

/// Operations of two operands, or of one (the second is then the first again).
struct Rule {
  std::string_view text;
  Do op;
};
constexpr Rule kRules[] = {
    {"pmov", Do::kMove},
    {"pand", Do::kAnd},
    {"por", Do::kOr},
    {"pxor", Do::kXor},
    {"pnand", Do::kNand},
    {"pnor", Do::kNor},
    {"pneg", Do::kNot},
    {"reloc", Do::kMove},
    {"smov", Do::kMove},  // libtpu 0.0.50
    {"smov.u32", Do::kMove},
    {"smov.s32", Do::kMove},
    {"smov.f32", Do::kMove},
    {"sadd.s32", Do::kAdd},
    {"sadd.u32", Do::kAdd},
    {"sadd.f32", Do::kAddFloat},
    {"ssub.s32", Do::kSubtract},
    {"ssub.u32", Do::kSubtract},
    {"ssub.f32", Do::kSubtractFloat},
    {"smul.u32", Do::kMultiply},
    {"smul.s32", Do::kMultiply},
    {"smul.f32", Do::kMultiplyFloat},
    {"smulhi.u32", Do::kMultiplyHigh},
    {"sand.u32", Do::kAnd},
    {"sor.u32", Do::kOr},
    {"sxor.u32", Do::kXor},
    {"sshll.u32", Do::kShiftLeft},
    {"sshrl.u32", Do::kShiftRight},
    {"sshra.s32", Do::kShiftRightSigned},
    {"smin.u32", Do::kMinUnsigned},
    {"smax.u32", Do::kMaxUnsigned},
    {"smin.s32", Do::kMinSigned},
    {"smax.s32", Do::kMaxSigned},
    {"smin.f32", Do::kMinFloat},
    {"smax.f32", Do::kMaxFloat},
    {"scvt.s32.f32", Do::kToFloat},
    {"scvt.f32.s32", Do::kToInteger},
    {"sfloor.f32", Do::kFloor},
    {"sceil.f32", Do::kCeiling},
    {"sclz.u32", Do::kLeadingZeros},
    {"sshllo.u32", Do::kShiftLeftOnes},
    {"sc.u32", Do::kCarry},
    {"scalar_lea.smem", Do::kAdd},
    {"scalar_lea.vmem", Do::kAdd},
    {"scalar_lea.hbm", Do::kAdd},
    {"scalar_lea.sflag", Do::kAdd},
    {"scalar_lea.cmem", Do::kAdd},
};

/// Order does not matter, or nothing is there to be ordered: bookkeeping, ownership marks, signals to the
/// host and to other chips, which are in step with this one (slice.h): a wait for theirs takes a hop.
constexpr std::string_view kNothing[] = {"sfence",      "cfence",     "vsettm",          "vsyncpa",
                                         "vint",        "ssettag",    "vsyncadd.remote", "vsyncset.remote",
                                         "vsetiar.raw", "vsetrngseed"};

std::optional<Do> ruleOf(std::string_view word) {
  for (const Rule& rule : kRules) {
    if (rule.text == word) return rule.op;
  }
  return std::nullopt;
}

struct Comparison {
  Do op;
  bool swapped;
};
/// "scmp.lt.s32.totalorder"
std::optional<Comparison> comparisonOf(std::string_view word) {
  if (!word.starts_with("scmp.") || word.size() < 11) return std::nullopt;
  const std::string_view relation = word.substr(5, 2), type = word.substr(8, 3);
  const int kind = type == "s32" ? 0 : type == "u32" ? 1 : type == "f32" ? 2 : -1;
  if (kind < 0) return std::nullopt;
  constexpr Do kEqual[] = {Do::kEqual, Do::kEqual, Do::kEqualFloat};
  constexpr Do kNotEqual[] = {Do::kNotEqual, Do::kNotEqual, Do::kNotEqualFloat};
  constexpr Do kLess[] = {Do::kLessSigned, Do::kLessUnsigned, Do::kLessFloat};
  constexpr Do kNotGreater[] = {Do::kNotGreaterSigned, Do::kNotGreaterUnsigned, Do::kNotGreaterFloat};
  if (relation == "eq") return Comparison{kEqual[kind], false};
  if (relation == "ne") return Comparison{kNotEqual[kind], false};
  if (relation == "lt") return Comparison{kLess[kind], false};
  if (relation == "le") return Comparison{kNotGreater[kind], false};
  if (relation == "gt") return Comparison{kLess[kind], true};
  if (relation == "ge") return Comparison{kNotGreater[kind], true};
  return std::nullopt;
}

/// "dma.hbm_to_vmem"
struct Way {
  Space from = Space::kNone, to = Space::kNone;
  bool to_host = false;
};
std::optional<Way> wayOf(std::string_view word) {
  if (!word.starts_with("dma.")) return std::nullopt;
  word.remove_prefix(4);
  const size_t to = word.find("_to_");
  if (to == std::string_view::npos) return std::nullopt;
  const auto space = [](std::string_view name) {
    if (name == "smem") return Space::kSmem;
    if (name == "vmem") return Space::kVmem;
    if (name == "hbm") return Space::kHbm;
    if (name == "cmem") return Space::kCmem;
    if (name.starts_with("host")) return Space::kHost;
    return Space::kNone;
  };
  Way way{.from = space(word.substr(0, to)), .to = space(word.substr(to + 4))};
  if (way.from == Space::kNone || way.to == Space::kNone) return std::nullopt;
  way.to_host = way.from == Space::kHost || way.to == Space::kHost;
  return way;
}

Route routeOf(const Way& way) {
  const bool from_hbm = way.from == Space::kHbm, to_hbm = way.to == Space::kHbm;
  if (from_hbm && to_hbm) return Route::kCopy;
  if (from_hbm) return way.to == Space::kSmem ? Route::kSmall : Route::kRead;
  if (to_hbm) return way.from == Space::kSmem ? Route::kSmall : Route::kWrite;
  return Route::kLocal;
}

class OperationDecoder {
 public:
  OperationDecoder(const OperationContext& context, int32_t bundle_number,
                   const llo::BundleInstruction& instruction, BundleSteps& bundle)
      : context_(context),
        number_(bundle_number),
        instruction_(instruction),
        operands_(context.listing.operandsOf(instruction)),
        bundle_(bundle),
        word_(std::string(llo::name(instruction.op))) {
    const std::string& form = context.listing.formOf(instruction);
    if (!form.empty()) word_ += "." + form;
  }

  Status run() {
    if (llo::unitOf(instruction_.op) == llo::Unit::kPseudo) return Ok{};
    if (word_ == "vsyncmov" || word_ == "spop.sfrf") return flagFifo();
    if (word_ != "spop.drf" && VectorUnit::executes(context_.listing, instruction_)) return vector();
    // A register of the vector side that the values don't know; time does not depend on it.
    if (word_.starts_with("vrdreg") && !context_.valued) return Ok{};
    for (const std::string_view nothing : kNothing) {
      if (word_ == nothing) return Ok{};
    }
    if (word_.starts_with("vwait.") && context_.runtime) return Ok{};
    if (word_.starts_with("vwait.") && word_.ends_with(".trace")) return barrier();
    if (const auto rule = ruleOf(word_)) return binary(*rule, false);
    if (const auto comparison = comparisonOf(word_)) return binary(comparison->op, comparison->swapped);
    if (const auto way = wayOf(word_)) return transfer(*way);
    if (word_ == "dma.general") return general();
    return special();
  }

 private:
  Error unknown(std::string_view what) const {
    return inputError("{} (bundle {:#x}): the simulator does not know {} of \"{}\"",
                      context_.listing.function, number_, what, word_)
        .hint("a newer compiler may have brought it; docs/simulator.md says how to add an operation");
  }

  int32_t constant(int64_t value) const { return context_.constants.of(static_cast<uint32_t>(value)); }

  Result<int32_t> registerOf(llo::Register reg) const {
    if (reg.file == RegisterFile::kScalar) return static_cast<int32_t>(reg.index);
    if (reg.file == RegisterFile::kPredicate) return kPredicates + reg.index;
    return unknown("a vector operand");
  }

  int64_t addressOf(const Operand& operand) const {
    return context_.addresses[static_cast<size_t>(operand.allocation)] + operand.offset;
  }

  /// The register that holds an operand, be it a constant.
  Result<int32_t> operand(size_t i) const {
    if (i >= operands_.size()) return unknown("so few operands");
    return operand(operands_[i]);
  }
  Result<int32_t> operand(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kRegister:
        return registerOf(operand.reg);
      case Operand::Kind::kInteger:
      case Operand::Kind::kFloat:
        return constant(operand.bits);
      case Operand::Kind::kAllocation:
        return constant(addressOf(operand));
      case Operand::Kind::kMemory:
        if (operand.allocation >= 0 && !operand.reg && !operand.index) return constant(addressOf(operand));
        break;
      case Operand::Kind::kValue:
        break;
    }
    return unknown("an operand");
  }

  const Operand* role(Role wanted) const {
    for (const Operand& operand : operands_) {
      if (operand.role == wanted) return &operand;
    }
    return nullptr;
  }

  Step step(Do op) const {
    Step step{.micro = {.op = op}};
    if (instruction_.predicate) {
      step.micro.predicate = static_cast<uint16_t>(kPredicates + instruction_.predicate.index);
      step.micro.negated = instruction_.predicate_negated;
      step.reads.push_back(step.micro.predicate);
    }
    return step;
  }

  Status withResult(Step step) {
    SUBLANE_TRY(step.micro.dst, registerOf(instruction_.result));
    step.writes_register = true;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  Status binary(Do op, bool swapped) {
    Step step = this->step(op);
    SUBLANE_TRY(step.micro.a, operand(0));
    step.micro.b = step.micro.a;
    if (operands_.size() > 1 && op != Do::kMove) {
      SUBLANE_TRY(step.micro.b, operand(1));
    }
    if (swapped) std::swap(step.micro.a, step.micro.b);
    step.reads.insert(step.reads.end(), {step.micro.a, step.micro.b});
    return withResult(std::move(step));
  }

  Status vector() {
    if (context_.valued) {
      bundle_.vector = true;
      const RegisterFile file = instruction_.result.file;
      bundle_.vector_results |= file == RegisterFile::kScalar || file == RegisterFile::kPredicate;
      return Ok{};
    }
    const RegisterFile file = instruction_.result.file;
    if (file != RegisterFile::kScalar && file != RegisterFile::kPredicate) return Ok{};
    return withResult(step(Do::kUnknown));
  }

  /// Base, index and offset of an access to SMEM.
  Status smemAddress(const Operand& operand, Step& step) const {
    if (operand.kind != Operand::Kind::kMemory || operand.space != Space::kSmem) return unknown("an address");
    step.micro.c = operand.offset;
    step.micro.a = step.micro.b = constant(0);
    if (operand.allocation >= 0) step.micro.a = constant(addressOf(operand) - operand.offset);
    if (operand.reg) {
      SUBLANE_TRY(const int32_t base, registerOf(operand.reg));
      (operand.allocation >= 0 ? step.micro.b : step.micro.a) = base;
    }
    if (operand.index) {
      if (operand.allocation >= 0 && operand.reg) return unknown("two registers");
      SUBLANE_TRY(step.micro.b, registerOf(operand.index));
    }
    step.reads.insert(step.reads.end(), {step.micro.a, step.micro.b});
    return Ok{};
  }

  Status flagOperands(Step& step, size_t least) const {
    SUBLANE_TRY(step.micro.a, operand(0));
    step.micro.b = constant(0);
    if (operands_.size() > 1) {
      SUBLANE_TRY(step.micro.b, operand(1));
    }
    if (operands_.size() < least) return unknown("so few operands");
    step.reads.insert(step.reads.end(), {step.micro.a, step.micro.b});
    return Ok{};
  }

  Status flagFifo() {
    if (word_ == "spop.sfrf") return withResult(step(Do::kFlagPop));
    Step step = this->step(Do::kFlagRead);
    SUBLANE_CHECK_OK(flagOperands(step, 1));
    step.reads_flags = bundle_.timed = true;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  Status flagWrite(Do op, size_t least) {
    Step step = this->step(op);
    SUBLANE_CHECK_OK(flagOperands(step, least));
    step.writes_flags = true;
    bundle_.timed |= op == Do::kFlagSet;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  Status wait() {
    Step step = this->step(Do::kWait);
    SUBLANE_CHECK_OK(flagOperands(step, 2));
    step.micro.c = instruction_.remark >= 0 &&
                   context_.listing.remarks[static_cast<size_t>(instruction_.remark)].find("megacore-wait") !=
                       std::string::npos;
    bundle_.timed = true;
    bundle_.waits.push_back(std::move(step));
    return Ok{};
  }

  Status select() {
    Step step = this->step(Do::kSelect);
    const Operand *predicate = role(Role::kPredicate), *yes = role(Role::kOnTrue), *no = role(Role::kOnFalse);
    if (!predicate || !yes || !no) return unknown("the operands");
    SUBLANE_TRY(step.micro.c, operand(*predicate));
    SUBLANE_TRY(step.micro.a, operand(*yes));
    SUBLANE_TRY(step.micro.b, operand(*no));
    step.reads.insert(step.reads.end(), {step.micro.a, step.micro.b, step.micro.c});
    return withResult(std::move(step));
  }

  Status load() {
    Step step = this->step(Do::kLoad);
    if (operands_.empty()) return unknown("so few operands");
    SUBLANE_CHECK_OK(smemAddress(operands_[0], step));
    step.loads = true;
    return withResult(std::move(step));
  }

  Status store() {
    Step step = this->step(Do::kStore);
    if (operands_.size() < 2) return unknown("so few operands");
    SUBLANE_CHECK_OK(smemAddress(operands_[0], step));
    SUBLANE_TRY(step.micro.dst, operand(1));
    step.reads.push_back(step.micro.dst);
    step.stores = true;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  /// The results wait in a FIFO: the quotient before the remainder where both are taken. Which are, the
  /// listing remarks.
  Status divide() {
    Step step = this->step(Do::kDivide);
    SUBLANE_TRY(step.micro.a, operand(0));
    SUBLANE_TRY(step.micro.b, operand(1));
    const std::string wanted =
        instruction_.remark < 0 ? "" : context_.listing.remarks[static_cast<size_t>(instruction_.remark)];
    step.micro.c = wanted == "kDiv" ? 1 : wanted == "kRem" ? 2 : wanted == "kDivAndRem" ? 3 : 0;
    if (step.micro.c == 0) return unknown("the wanted result");
    step.reads.insert(step.reads.end(), {step.micro.a, step.micro.b});
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  Status parameterAddress() {
    if (operands_.empty() || operands_[0].kind != Operand::Kind::kInteger) return unknown("the operand");
    const auto& parameters = context_.placement.parameters;
    if (operands_[0].bits >= parameters.size()) {
      return inputError("{} (bundle {:#x}): parameter {} of a program that has {}", context_.listing.function,
                        number_, operands_[0].bits, parameters.size());
    }
    Step step = this->step(Do::kMove);
    step.micro.a = step.micro.b = constant(context_.placement.hbmAddress(parameters[operands_[0].bits]));
    return withResult(std::move(step));
  }

  Status branch() {
    if (bundle_.branch_target >= 0) return unknown("a second branch");
    bundle_.branch_target = instruction_.target;
    Step step = this->step(Do::kBranch);
    step.micro.dst = context_.taken;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  Status oneOperand(Do op) {
    Step step = this->step(op);
    SUBLANE_TRY(step.micro.a, operand(0));
    step.reads.push_back(step.micro.a);
    bundle_.timed = true;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  Status special() {
    if (word_ == "sld") return load();
    if (word_ == "sst") return store();
    if (word_ == "scalar_select") return select();
    if (word_ == "scalar_parameter_address") return parameterAddress();
    if (word_ == "sbr.rel") return branch();
    if (word_ == "inlined_call" || word_ == "inlined_call.call") {
      bundle_.callee = instruction_.callee;
      return Ok{};
    }
    if (word_ == "shalt.err") {
      Step step = this->step(Do::kHalt);
      step.micro.a = instruction_.remark;
      bundle_.steps.push_back(std::move(step));
      return Ok{};
    }
    if (word_ == "dma.done.wait" || word_ == "vwait.ge" || word_ == "vwait.ge.s32") return wait();
    if (word_ == "vsyncadd" || word_ == "vsyncadd.s32") return flagWrite(Do::kFlagAdd, 2);
    if (word_.starts_with("vsyncset")) return flagWrite(Do::kFlagSet, 2);
    if (word_ == "sdivrem.u32") return divide();
    if (word_ == "spop.drf") return withResult(step(Do::kDividePop));
    if (word_ == "vtrace") return oneOperand(Do::kTrace);
    if (word_ == "vdelay") return oneOperand(Do::kDelay);
    return unknown("the meaning");
  }

  Status barrier() {
    bundle_.timed = true;
    bundle_.steps.push_back(step(Do::kBarrier));
    return Ok{};
  }

  Status field(const Operand* operand, int32_t& place, Step& step) const {
    if (!operand) return Ok{};
    SUBLANE_TRY(place, this->operand(*operand));
    step.reads.push_back(place);
    return Ok{};
  }

  Status transfer(const Way& way) {
    Step step = this->step(Do::kTransfer);
    DmaSite site{.route = routeOf(way), .from = way.from, .to = way.to, .to_host = way.to_host};
    site.thread = static_cast<int32_t>(instruction_.part);
    if (!way.to_host) {
      // The address before the size is the source, the one after it the destination.
      bool after = false;
      for (const Operand& operand : operands_) {
        const bool address = operand.role == Role::kHbm || operand.role == Role::kVmem ||
                             operand.role == Role::kSmem || operand.role == Role::kCmem ||
                             operand.role == Role::kSrcAddress || operand.role == Role::kDstAddress ||
                             operand.role == Role::kOther;
        if (operand.role == Role::kSizeInGranules) after = true;
        if (!address) continue;
        int32_t& place = after ? site.destination : site.source;
        if (place < 0) SUBLANE_CHECK_OK(field(&operand, place, step));
      }
      SUBLANE_CHECK_OK(field(role(Role::kSizeInGranules), site.size, step));
      SUBLANE_CHECK_OK(field(role(Role::kDstSyncFlag), site.flag, step));
      SUBLANE_CHECK_OK(field(role(Role::kSrcStride), site.source_stride, step));
      SUBLANE_CHECK_OK(field(role(Role::kDstStride), site.destination_stride, step));
      SUBLANE_CHECK_OK(field(role(Role::kStepsPerStride), site.steps, step));
      if (site.source < 0 || site.destination < 0 || site.size < 0 || site.flag < 0)
        return unknown("the fields");
    }
    step.micro.a = static_cast<int32_t>(context_.code.transfers.size());
    step.loads = way.from == Space::kSmem;
    context_.code.transfers.push_back(site);
    bundle_.timed = true;
    bundle_.steps.push_back(std::move(step));
    return Ok{};
  }

  /// The memories that the listing remarks: "vmem-to-vmem".
  Way remarkedWay() const {
    if (instruction_.remark < 0) return {};
    const std::string& remark = context_.listing.remarks[static_cast<size_t>(instruction_.remark)];
    const size_t to = remark.find("-to-");
    if (to == std::string::npos) return {};
    return wayOf("dma." + remark.substr(0, to) + "_to_" + remark.substr(to + 4)).value_or(Way{});
  }

  /// The memory that an address points into, by what made it: "int_to_ptr.vmem", "scalar_lea.hbm", or the
  /// caller.
  Space spaceOf(const Operand* address) const {
    if (!address || address->kind != Operand::Kind::kRegister) return Space::kNone;
    for (const llo::BundleInstruction& i : context_.listing.instructions) {
      if (i.value != address->value) continue;
      const std::string word = std::string(llo::name(i.op)) + "." + context_.listing.formOf(i);
      if (word == "int_to_ptr.vmem" || word == "scalar_lea.vmem") return Space::kVmem;
      if (word == "int_to_ptr.hbm" || word == "scalar_lea.hbm") return Space::kHbm;
      if (word == "inlined_call_operand.vmem") return Space::kVmem;
      if (word == "inlined_call_operand.hbm") return Space::kHbm;
    }
    return Space::kNone;
  }

  /// A transfer with two levels of strides, perhaps to another chip.
  Status general() {
    Way way = remarkedWay();
    if (way.from == Space::kNone) way.from = spaceOf(role(Role::kSrcAddress));
    if (way.to == Space::kNone) way.to = spaceOf(role(Role::kDstAddress));
    const Operand *flag = role(Role::kSrcSyncFlag), *descriptor = role(Role::kStrideDescriptor),
                  *second = role(Role::kDstSyncFlag1);
    if (way.from == Space::kNone || way.to == Space::kNone) return unknown("the memories");
    if (!flag || !descriptor || !second || second->kind != Operand::Kind::kInteger || second->bits != 0)
      return unknown("the fields");
    SUBLANE_CHECK_OK(transfer(way));
    Step& step = bundle_.steps.back();
    DmaSite& site = context_.code.transfers.back();
    SUBLANE_CHECK_OK(field(flag, site.source_flag, step));
    SUBLANE_CHECK_OK(field(descriptor, site.descriptor, step));
    SUBLANE_CHECK_OK(field(role(Role::kOverrides), site.overrides, step));
    step.loads = true;
    return Ok{};
  }

  const OperationContext& context_;
  int32_t number_;
  const llo::BundleInstruction& instruction_;
  std::span<const Operand> operands_;
  BundleSteps& bundle_;
  std::string word_;
};

}  // namespace

Status decodeOperation(const OperationContext& context, int32_t bundle_number,
                       const llo::BundleInstruction& instruction, BundleSteps& bundle) {
  return OperationDecoder(context, bundle_number, instruction, bundle).run();
}

}  // namespace sublane::sim
