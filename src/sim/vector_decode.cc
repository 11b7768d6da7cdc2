// From a listing's instructions to the vector unit's compact form: what to run on which registers, and in
// which order, so that every read of a bundle comes before the writes of the same bundle.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "sim/vector_state.h"

namespace sublane::sim {

Source sourceOf(const llo::Operand& operand) {
  using Kind = llo::Operand::Kind;
  if (operand.kind == Kind::kInteger || operand.kind == Kind::kFloat)
    return {.kind = Source::Kind::kImmediate, .bits = operand.bits};
  if (operand.kind != Kind::kRegister) return {};
  switch (operand.reg.file) {
    case llo::RegisterFile::kVector:
      return {.kind = Source::Kind::kVector, .index = operand.reg.index};
    case llo::RegisterFile::kMask:
      return {.kind = Source::Kind::kVector, .index = static_cast<uint8_t>(kFirstMask + operand.reg.index)};
    case llo::RegisterFile::kScalar:
      return {.kind = Source::Kind::kScalar, .index = operand.reg.index};
    default:
      return {};
  }
}

bool decodeUnary(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 1) return false;
  m.a = sourceOf(d.operands[0]);
  m.run = run;
  return m.a.kind != Source::Kind::kNone;
}
bool decodeBinary(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 2) return false;
  m.a = sourceOf(d.operands[0]);
  m.b = sourceOf(d.operands[1]);
  m.run = run;
  return m.a.kind != Source::Kind::kNone && m.b.kind != Source::Kind::kNone;
}

namespace {

using State = VectorUnit::State;

/// By the whole mnemonic, or by its beginning where a table says "vmatmul*".
const Mnemonic* find(std::string_view text) {
  static const auto all = [] {
    std::vector<const Mnemonic*> list;
    for (const auto& part :
         {aluMnemonics(), packMnemonics(), memoryMnemonics(), crossLaneMnemonics(), matrixMnemonics()})
      for (const Mnemonic& m : part) list.push_back(&m);
    return list;
  }();
  for (const Mnemonic* m : all)
    if (m->text == text) return m;
  for (const Mnemonic* m : all)
    if (m->text.back() == '*' && text.starts_with(m->text.substr(0, m->text.size() - 1))) return m;
  return nullptr;
}

std::string mnemonicOf(const llo::Listing& listing, const llo::BundleInstruction& instruction) {
  std::string text(llo::name(instruction.op));
  if (const std::string& form = listing.formOf(instruction); !form.empty()) text.append(".").append(form);
  return text;
}

bool refuse(State& s, const Micro&) { return s.fail("this operation or form is not known to the values"); }
bool copyRegister(State& s, const Micro& m) {
  std::memcpy(s.words(m.result), wordsOf(s, m.a, 0), kWords * 4);
  return true;
}

bool reads(const Micro& m, uint8_t reg) {
  const auto is = [&](const Source& source) {
    return source.kind == Source::Kind::kVector && source.index == reg;
  };
  return is(m.a) || is(m.b) || is(m.c) || m.mask == reg;
}

/// Puts an instruction that reads a register before the one that writes it; where that is a circle, the
/// write goes to a temporary first.
void order(std::vector<Micro>& bundle) {
  std::stable_sort(bundle.begin(), bundle.end(),
                   [](const Micro& a, const Micro& b) { return a.order < b.order; });
  std::vector<Micro> done, late;
  uint8_t temporary = kFirstTemporary;
  while (!bundle.empty()) {
    size_t pick = bundle.size();
    for (size_t i = 0; i < bundle.size() && pick == bundle.size(); ++i) {
      const uint8_t result = bundle[i].result;
      bool free = true;
      for (size_t j = 0; j < bundle.size() && free && result != kNoRegister; ++j)
        free = j == i || !reads(bundle[j], result);
      if (free) pick = i;
    }
    if (pick == bundle.size()) {
      pick = 0;
      Micro copy{.run = copyRegister,
                 .shadow = shadowOf(Taint::kMoves),
                 .result = bundle[0].result,
                 .predicate = bundle[0].predicate,
                 .negated = bundle[0].negated};
      copy.a = {.kind = Source::Kind::kVector, .index = temporary};
      copy.mnemonic = bundle[0].mnemonic;
      bundle[0].result = temporary++;
      late.push_back(copy);
    }
    done.push_back(bundle[pick]);
    bundle.erase(bundle.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  done.insert(done.end(), late.begin(), late.end());
  bundle = std::move(done);
}

class Preparation {
 public:
  Preparation(const llo::Listing& listing, std::span<const int64_t> addresses, std::string_view chip)
      : listing_(listing), addresses_(addresses), chip_(chip) {
    prepared_->function = listing.function;
  }

  std::unique_ptr<PreparedListing> run() && {
    for (size_t b = 0; b < listing_.bundles.size(); ++b) {
      std::vector<Micro> bundle;
      for (const llo::BundleInstruction& i : listing_.of(listing_.bundles[b]))
        if (VectorUnit::executes(listing_, i)) bundle.push_back(decode(i, b));
      if (bundle.size() > 1) order(bundle);
      prepared_->bundles.push_back(
          {static_cast<uint32_t>(prepared_->micros.size()), static_cast<uint32_t>(bundle.size())});
      prepared_->micros.insert(prepared_->micros.end(), bundle.begin(), bundle.end());
    }
    return std::move(prepared_);
  }

 private:
  Micro decode(const llo::BundleInstruction& i, size_t bundle) {
    const std::string text = mnemonicOf(listing_, i);
    const auto [found, fresh] = mnemonics_.emplace(text, static_cast<int32_t>(prepared_->mnemonics.size()));
    if (fresh) prepared_->mnemonics.push_back(text), known_.push_back(find(text));
    const auto empty = [&] {
      Micro m{.mnemonic = found->second};
      if (i.result.file == llo::RegisterFile::kVector) m.result = i.result.index;
      if (i.result.file == llo::RegisterFile::kMask)
        m.result = static_cast<uint8_t>(kFirstMask + i.result.index);
      if (i.predicate) m.predicate = static_cast<int8_t>(i.predicate.index);
      m.negated = i.predicate_negated;
      return m;
    };
    Micro m = empty();
    const Decoding decoding{listing_,
                            i,
                            listing_.operandsOf(i),
                            addresses_,
                            prepared_->mnemonics[static_cast<size_t>(found->second)],
                            chip_};
    const Mnemonic* known = known_[static_cast<size_t>(found->second)];
    if (known != nullptr && known->decode(decoding, m, known->run)) {
      m.shadow = shadowOf(known->taint);
      return m;
    }
    m = empty();
    m.run = refuse;
    prepared_->unknown.push_back(fmt::format("{} (bundle {:#x} of {})", text, bundle, listing_.function));
    return m;
  }

  const llo::Listing& listing_;
  std::span<const int64_t> addresses_;
  std::string_view chip_;
  std::unordered_map<std::string, int32_t> mnemonics_;
  std::vector<const Mnemonic*> known_;  // by mnemonic
  std::unique_ptr<PreparedListing> prepared_ = std::make_unique<PreparedListing>();
};

}  // namespace

bool VectorUnit::executes(const llo::Listing& listing, const llo::BundleInstruction& instruction) {
  using llo::Unit;
  switch (llo::unitOf(instruction.op)) {
    case Unit::kVectorAlu:
    case Unit::kVectorLoad:
    case Unit::kVectorStore:
    case Unit::kExtended:
    case Unit::kCrossLane:
    case Unit::kMatrix:
      return true;
    case Unit::kPop:
      // spop.sfrf takes a sync flag's value.
      return listing.formOf(instruction).find("sfrf") == std::string::npos;
    case Unit::kMisc: {
      const std::string_view op = llo::name(instruction.op);
      return op.starts_with("vsetiar") || op == "vsetrngseed";
    }
    default:
      return false;
  }
}

Result<int32_t> VectorUnit::prepare(const llo::Listing& listing, std::span<const int64_t> addresses) {
  if (state_->memory.rows == 0)
    return machineError("no memory for {} rows of VMEM", state_->options.vmem_rows);
  if (addresses.size() != listing.allocations.size())
    return inputError("{}: {} addresses for {} allocations", listing.function, addresses.size(),
                      listing.allocations.size());
  state_->listings.push_back(Preparation(listing, addresses, state_->options.chip).run());
  return static_cast<int32_t>(state_->listings.size()) - 1;
}

}  // namespace sublane::sim
