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

VectorMemory::VectorMemory(int64_t row_count) : rows(row_count) {
  words = static_cast<uint32_t*>(reserve(static_cast<size_t>(rows) * kRowBytes));
  written = static_cast<Written*>(reserve(static_cast<size_t>(rows) * sizeof(Written)));
  if (words == nullptr || written == nullptr) rows = 0;
}
VectorMemory::~VectorMemory() {
  if (words != nullptr) munmap(words, static_cast<size_t>(rows) * kRowBytes);
  if (written != nullptr) munmap(written, static_cast<size_t>(rows) * sizeof(Written));
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

void copyRow(uint32_t* to, const uint32_t* from, const VectorMemory::Written& written) {
  std::memcpy(to, from, kRowBytes);
  if (written.all()) return;
  for (int lane = 0; lane < kLanes; ++lane)
    if (!((lane < 64 ? written.low : written.high) >> (lane % 64) & 1)) to[lane] = kPoison;
}

/// Sublanes that the mask leaves out, and words that nothing wrote, are poison in the register.
bool load(State& s, const Micro& m) {
  uint32_t* d = s.words(m.result);
  const int64_t base = baseOf(s, m);
  for (int k = 0; k < kSublanes; ++k) {
    uint32_t* to = d + k * kLanes;
    if (!(m.sublane_mask >> k & 1)) {
      std::fill_n(to, kLanes, kPoison);
      continue;
    }
    const int64_t row = base + rowOf(m, k);
    if (row < 0 || row >= s.memory.rows) return outside(s, row);
    const VectorMemory::Written& written = s.memory.written[row];
    if (written.none()) return s.fail(fmt::format("a load of row {:#x} of VMEM, which nothing wrote", row));
    copyRow(to, s.memory.words + row * kLanes, written);
  }
  return true;
}

void storeMasked(uint32_t* to, const uint32_t* from, const uint32_t* mask, VectorMemory::Written& written) {
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = (from[lane] & mask[lane]) | (to[lane] & ~mask[lane]);
    (lane < 64 ? written.low : written.high) |= uint64_t{mask[lane] != 0} << (lane % 64);
  }
}

bool store(State& s, const Micro& m) {
  VectorRegister room;
  const uint32_t* a = wordsOf(s, m.a, room);
  const int64_t base = baseOf(s, m);
  for (int k = 0; k < kSublanes; ++k) {
    if (!(m.sublane_mask >> k & 1)) continue;
    const int64_t row = base + rowOf(m, k);
    if (row < 0 || row >= s.memory.rows) return outside(s, row);
    uint32_t* to = s.memory.words + row * kLanes;
    if (m.mask != kNoRegister) {
      storeMasked(to, a + k * kLanes, s.words(m.mask) + k * kLanes, s.memory.written[row]);
    } else {
      std::memcpy(to, a + k * kLanes, kRowBytes);
      s.memory.written[row] = kWholeRow;
    }
    if (!s.memory.writers.empty()) s.memory.writers[static_cast<size_t>(row)] = {s.listing, s.bundle};
  }
  return true;
}

bool setIndices(State& s, const Micro& m) {
  std::memcpy(s.iar[m.unit & 1].words, s.words(m.a.index), kWords * 4);
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
  return true;
}

constexpr Mnemonic kMnemonics[] = {
    {"vld", decodeLoad, load},
    {"vst", decodeStore, store},
    {"vst.msk", decodeStore, store},
    {"vsetiar.raw", decodeIndices, setIndices},
    {"vsetrngseed", decodeSeed, nothing},
    {"vrng.u32", decodeSeed, poison},
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
  return true;
}

std::span<const Mnemonic> memoryMnemonics() { return kMnemonics; }

}  // namespace sublane::sim
