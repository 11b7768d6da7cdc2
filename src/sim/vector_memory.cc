// Loads, stores and masked stores of VMEM, the index registers, and the memory itself.
#include <sys/mman.h>

#include <algorithm>

#include "sim/vector_state.h"

namespace sublane::sim {

namespace {
/// Zero pages that the system gives when they are touched; null if there is no such room.
void* reserve(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}
}  // namespace

VectorMemory::VectorMemory(int64_t row_count, bool guarded) : rows(row_count) {
  words = static_cast<uint32_t*>(reserve(static_cast<size_t>(rows) * kRowBytes));
  written = static_cast<Written*>(reserve(static_cast<size_t>(rows) * sizeof(Written)));
  if (guarded) claims = static_cast<Claim*>(reserve(static_cast<size_t>(rows) * sizeof(Claim)));
  if (words == nullptr || written == nullptr || (guarded && claims == nullptr)) rows = 0;
}
VectorMemory::~VectorMemory() {
  if (words != nullptr) munmap(words, static_cast<size_t>(rows) * kRowBytes);
  if (written != nullptr) munmap(written, static_cast<size_t>(rows) * sizeof(Written));
  if (claims != nullptr) munmap(claims, static_cast<size_t>(rows) * sizeof(Claim));
}

namespace {

using State = VectorUnit::State;
constexpr VectorMemory::Written kWholeRow{~uint64_t{0}, ~uint64_t{0}};

int64_t rowOf(const Micro& m, int sublane) {
  return static_cast<int64_t>(sublane / m.sublanes_per_stride) * m.sublane_stride +
         sublane % m.sublanes_per_stride;
}
int64_t baseOf(const State& s, const Micro& m) {
  int64_t row = m.address;
  if (m.base != kNoRegister) row += static_cast<int32_t>(s.scalars->registers[m.base]);
  if (m.index != kNoRegister) row += static_cast<int32_t>(s.scalars->registers[m.index]);
  return row;
}
bool outside(State& s, int64_t row) {
  return s.fail(fmt::format("row {:#x} of VMEM, which has {:#x} rows", row, s.memory.rows));
}

bool contested(State& s, int64_t row, const char* what) {
  s.contested_row = row;
  return s.fail(fmt::format("{} row {:#x} of VMEM while a transfer {} it", what, row,
                            s.memory.claims[row].incoming != 0 ? "writes" : "reads"));
}

uint8_t sublanesOf(const State& s, const Micro& m) {
  return m.sublane_mask_register == kNoRegister
             ? m.sublane_mask
             : static_cast<uint8_t>(s.scalars->registers[m.sublane_mask_register]);
}
bool isWritten(const VectorMemory::Written& written, int lane) {
  return (lane < 64 ? written.low : written.high) >> (lane % 64) & 1;
}

/// Marks the words of a sublane that nothing wrote; they read as poison.
void taintRow(State& s, const Micro& m, int sublane, int64_t row, bool first) {
  const VectorMemory::Written& written = s.memory.written[row];
  uint32_t *words = s.words(m.result) + sublane * kLanes,
           *shadow = s.shadows[m.result].words + sublane * kLanes;
  if (first) std::memset(s.shadows[m.result].words, 0, sizeof s.shadows[m.result].words);
  s.taint_seen = s.tainted[m.result] = true;
  const auto partial = s.memory.partial.find(row);
  for (int lane = 0; lane < kLanes; ++lane) {
    if (isWritten(written, lane)) continue;
    shadow[lane] = partial == s.memory.partial.end() ? 0 : partial->second[static_cast<size_t>(lane)];
    if (shadow[lane] != 0) continue;
    words[lane] = kPoison;
    shadow[lane] = ~uint32_t{0};
  }
  const auto& loads = s.unwritten_loads;
  if (loads.size() < 64 && std::none_of(loads.begin(), loads.end(), [&](const UnwrittenLoad& load) {
        return load.listing == s.listing && load.bundle == s.bundle;
      }))
    s.unwritten_loads.push_back({s.listing, s.bundle, row});
}

/// Sublanes that the mask leaves out are 0.
bool load(State& s, const Micro& m) {
  uint32_t* d = s.words(m.result);
  const int64_t base = baseOf(s, m);
  const uint8_t sublanes = sublanesOf(s, m);
  s.tainted[m.result] = false;
  for (int k = 0; k < kSublanes; ++k) {
    uint32_t* to = d + k * kLanes;
    if (!(sublanes >> k & 1)) {
      std::memset(to, 0, kRowBytes);
      continue;
    }
    const int64_t row = base + rowOf(m, k);
    if (row < 0 || row >= s.memory.rows) return outside(s, row);
    if (s.memory.claims != nullptr && s.memory.claims[row].incoming != 0) return contested(s, row, "loads");
    std::memcpy(to, s.memory.words + row * kLanes, kRowBytes);
    if (!s.memory.written[row].all()) taintRow(s, m, k, row, !s.tainted[m.result]);
  }
  return true;
}

void storeMasked(uint32_t* to, const uint32_t* from, const uint32_t* mask, VectorMemory::Written& written) {
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = (from[lane] & mask[lane]) | (to[lane] & ~mask[lane]);
    (lane < 64 ? written.low : written.high) |= uint64_t{mask[lane] != 0} << (lane % 64);
  }
}

/// After a store of tainted words: they are not written, or only a part of their bits is.
void taintStored(State& s, int64_t row, const uint32_t* shadow, const uint32_t* mask) {
  VectorMemory::Written& written = s.memory.written[row];
  std::array<uint32_t, kLanes>* partial = nullptr;
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t bits = mask == nullptr ? shadow[lane] : shadow[lane] & mask[lane];
    if (bits == 0) continue;
    (lane < 64 ? written.low : written.high) &= ~(uint64_t{1} << (lane % 64));
    const bool whole = bits == ~uint32_t{0};
    if (partial == nullptr && !(whole && s.memory.partial.empty())) partial = &s.memory.partial[row];
    if (partial != nullptr) (*partial)[static_cast<size_t>(lane)] = whole ? 0 : bits;
  }
}

void noteStore(State& s, int64_t row) {
  s.memory.writers[static_cast<size_t>(row)] = {s.listing, s.bundle};
  const uint32_t* words = s.memory.words + row * kLanes;
  s.stores_hash = hashed(s.stores_hash, static_cast<uint64_t>(row));
  for (int lane = 0; lane < kLanes; lane += 2)
    s.stores_hash = hashed(s.stores_hash, words[lane] | uint64_t{words[lane + 1]} << 32);
}

bool store(State& s, const Micro& m) {
  VectorRegister room;
  const uint32_t* a = wordsOf(s, m.a, room);
  const int64_t base = baseOf(s, m);
  const uint8_t sublanes = sublanesOf(s, m);
  for (int k = 0; k < kSublanes; ++k) {
    if (!(sublanes >> k & 1)) continue;
    const int64_t row = base + rowOf(m, k);
    if (row < 0 || row >= s.memory.rows) return outside(s, row);
    if (s.memory.claims != nullptr && (s.memory.claims[row].incoming | s.memory.claims[row].outgoing) != 0)
      return contested(s, row, "stores into");
    uint32_t* to = s.memory.words + row * kLanes;
    const uint32_t* mask = m.mask == kNoRegister ? nullptr : s.words(m.mask) + k * kLanes;
    if (mask != nullptr) {
      storeMasked(to, a + k * kLanes, mask, s.memory.written[row]);
    } else {
      std::memcpy(to, a + k * kLanes, kRowBytes);
      s.memory.written[row] = kWholeRow;
      if (!s.memory.partial.empty()) s.memory.partial.erase(row);
    }
    if (s.isTainted(m.a)) taintStored(s, row, s.shadows[m.a.index].words + k * kLanes, mask);
    if (!s.memory.writers.empty()) noteStore(s, row);
  }
  return true;
}

bool setIndices(State& s, const Micro& m) {
  std::memcpy(s.iar[m.unit & 1].words, wordsOf(s, m.a, 0), kWords * 4);
  return true;
}
bool nothing(State&, const Micro&) { return true; }

bool decodeLoad(const Decoding& d, Micro& m, Run run) {
  if (d.operands.size() != 1 || m.result == kNoRegister || !decodeAddress(d, d.operands[0], m)) return false;
  m.order = 0;
  m.run = run;
  return true;
}
bool decodeStore(const Decoding& d, Micro& m, Run run) {
  bool has_address = false;
  for (const llo::Operand& operand : d.operands) {
    if (operand.kind == llo::Operand::Kind::kMemory)
      has_address = decodeAddress(d, operand, m);
    else if (operand.reg.file == llo::RegisterFile::kMask)
      m.mask = static_cast<uint8_t>(kFirstMask + operand.reg.index);
    else
      m.a = sourceOf(operand);
  }
  m.order = 4;
  m.run = run;
  return has_address && m.a.kind != Source::Kind::kNone &&
         (m.mask != kNoRegister) == d.mnemonic.ends_with(".msk");
}
bool decodeIndices(const Decoding& d, Micro& m, Run run) {
  m.order = 3;
  return decodeUnary(d, m, run) && m.a.kind == Source::Kind::kVector;
}
/// The random numbers of a TPU are not known: the seed is taken, a number that is asked for is poison.
bool decodeSeed(const Decoding&, Micro& m, Run run) {
  m.run = run;
  return true;
}
bool poison(State& s, const Micro& m) {
  std::fill_n(s.words(m.result), kWords, kPoison);
  std::fill_n(s.shadows[m.result].words, kWords, ~uint32_t{0});
  s.taint_seen = s.tainted[m.result] = true;
  return true;
}

constexpr Mnemonic kMnemonics[] = {
    {"vld", decodeLoad, load, Taint::kOwn},
    {"vst", decodeStore, store, Taint::kOwn},
    {"vst.msk", decodeStore, store, Taint::kOwn},
    {"vsetiar.raw", decodeIndices, setIndices, Taint::kOwn},
    {"vsetrngseed", decodeSeed, nothing, Taint::kOwn},
    {"vrng.u32", decodeSeed, poison, Taint::kOwn},
};

}  // namespace

bool decodeAddress(const Decoding& d, const llo::Operand& operand, Micro& m) {
  if (operand.kind != llo::Operand::Kind::kMemory || operand.space != llo::Space::kVmem) return false;
  m.address = operand.offset;
  if (operand.allocation >= 0) {
    if (static_cast<size_t>(operand.allocation) >= d.addresses.size()) return false;
    m.address += d.addresses[static_cast<size_t>(operand.allocation)];
  }
  for (const llo::Register& reg : {operand.reg, operand.index}) {
    if (!reg) continue;
    if (reg.file != llo::RegisterFile::kScalar) return false;
    (m.base == kNoRegister ? m.base : m.index) = reg.index;
  }
  m.sublane_stride = operand.sublane_stride;
  m.sublanes_per_stride = std::max(operand.sublanes_per_stride, 1);
  m.sublane_mask = operand.sublane_mask;
  if (operand.mask) {
    if (operand.mask.file != llo::RegisterFile::kScalar) return false;
    m.sublane_mask_register = operand.mask.index;
  }
  return true;
}

std::span<const Mnemonic> memoryMnemonics() { return kMnemonics; }

}  // namespace sublane::sim
