#include "sim/vector_unit.h"

#include <fmt/format.h>

#include "sim/vector_state.h"

namespace sublane::sim {

VectorUnit::State::State(VectorOptions o)
    : options(std::move(o)),
      registers(new VectorRegister[kRegisters]()),
      shadows(new VectorRegister[kRegisters]),
      memory(options.vmem_rows, options.guard_transfers),
      matrix(4) {
  if (options.track_writers) memory.writers.resize(static_cast<size_t>(memory.rows));
  if (options.chip == "v4" || options.chip == "v5e" || options.chip == "v5p") matrix_width = 128;
  std::memset(&iar, 0, sizeof iar);
}

VectorUnit::VectorUnit(VectorOptions options) : state_(std::make_unique<State>(std::move(options))) {}
VectorUnit::~VectorUnit() = default;
VectorUnit::VectorUnit(VectorUnit&&) noexcept = default;
VectorUnit& VectorUnit::operator=(VectorUnit&&) noexcept = default;

bool VectorUnit::idle(int32_t listing, int32_t bundle) const {
  return state_->listings[static_cast<size_t>(listing)]->bundles[static_cast<size_t>(bundle)].count == 0;
}

bool VectorUnit::execute(int32_t listing, int32_t bundle, const ScalarView& scalars,
                         std::vector<ScalarWrite>& results) {
  State& s = *state_;
  const PreparedListing& prepared = *s.listings[static_cast<size_t>(listing)];
  const PreparedBundle& now = prepared.bundles[static_cast<size_t>(bundle)];
  if (now.count == 0) return true;
  s.scalars = &scalars;
  s.results = &results;
  s.listing = listing;
  s.bundle = bundle;
  ++s.bundles_executed;
  s.instructions_executed += now.count;
  for (const Micro* m = prepared.micros.data() + now.first;
       m != prepared.micros.data() + now.first + now.count; ++m) {
    if (m->predicate >= 0 && (scalars.predicates >> m->predicate & 1) == m->negated) continue;
    if (s.taint_seen && m->shadow != nullptr && m->order != 2) m->shadow(s, *m);
    s.pushed = 0;
    const bool fine = m->run(s, *m);
    if (fine && s.taint_seen && m->shadow != nullptr && m->order == 2) m->shadow(s, *m);
    if (!fine) {
      s.fault = fmt::format("{}, bundle {:#x}: {}: {}", prepared.function, bundle,
                            prepared.mnemonics[static_cast<size_t>(m->mnemonic)], s.fault);
      return false;
    }
  }
  return true;
}

Error VectorUnit::takeError() { return inputError("{}", state_->fault); }

std::vector<std::string> VectorUnit::unknown() const {
  std::vector<std::string> all;
  for (const auto& listing : state_->listings)
    all.insert(all.end(), listing->unknown.begin(), listing->unknown.end());
  return all;
}

namespace {
bool inside(const VectorMemory& memory, int64_t address, size_t bytes) {
  return address >= 0 && address % 4 == 0 && bytes % 4 == 0 &&
         address + static_cast<int64_t>(bytes) <= memory.rows * kRowBytes;
}
/// Calls `visit(row, first lane, lanes, offset into the bytes)` for each row that the range touches.
template <class Visit>
void forRows(int64_t address, size_t bytes, Visit visit) {
  for (size_t done = 0; done < bytes;) {
    const int64_t at = address + static_cast<int64_t>(done);
    const int lane = static_cast<int>(at % kRowBytes / 4);
    const int lanes =
        static_cast<int>(std::min<size_t>(static_cast<size_t>(kLanes - lane), (bytes - done) / 4));
    visit(at / kRowBytes, lane, lanes, done);
    done += static_cast<size_t>(lanes) * 4;
  }
}
/// `lanes` ones from `first`, as two words.
VectorMemory::Written lanesOf(int first, int lanes) {
  const auto low = [](int count) {
    return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << std::max(count, 0)) - 1;
  };
  const int end = first + lanes;
  return {low(end) & ~low(first), low(end - 64) & ~low(first - 64)};
}
}  // namespace

Result<int64_t> VectorUnit::readVmem(int64_t address, std::span<std::byte> bytes) {
  const VectorMemory& memory = state_->memory;
  if (!inside(memory, address, bytes.size()))
    return inputError("a transfer of {} bytes from {:#x} of VMEM, which has {:#x}", bytes.size(), address,
                      memory.rows * kRowBytes);
  int64_t unwritten = 0;
  forRows(address, bytes.size(), [&](int64_t row, int lane, int lanes, size_t at) {
    std::memcpy(bytes.data() + at, memory.words + row * kLanes + lane, static_cast<size_t>(lanes) * 4);
    const VectorMemory::Written& written = memory.written[row];
    if (written.all()) return;
    const auto partial = memory.partial.find(row);
    for (int k = 0; k < lanes; ++k) {
      if ((lane + k < 64 ? written.low : written.high) >> ((lane + k) % 64) & 1) continue;
      // Of a word of two rows, one may be padding that nothing wrote.
      if (partial != memory.partial.end() &&
          partial->second[static_cast<size_t>(lane) + static_cast<size_t>(k)] != 0)
        continue;
      std::memcpy(bytes.data() + at + static_cast<size_t>(k) * 4, &kPoison, 4);
      ++unwritten;
    }
  });
  return unwritten;
}

Status VectorUnit::writeVmem(int64_t address, std::span<const std::byte> bytes) {
  VectorMemory& memory = state_->memory;
  if (!inside(memory, address, bytes.size()))
    return inputError("a transfer of {} bytes to {:#x} of VMEM, which has {:#x}", bytes.size(), address,
                      memory.rows * kRowBytes);
  forRows(address, bytes.size(), [&](int64_t row, int lane, int lanes, size_t at) {
    std::memcpy(memory.words + row * kLanes + lane, bytes.data() + at, static_cast<size_t>(lanes) * 4);
    const VectorMemory::Written now = lanesOf(lane, lanes);
    memory.written[row].low |= now.low;
    memory.written[row].high |= now.high;
    if (!memory.partial.empty()) memory.partial.erase(row);
  });
  return Ok{};
}

void VectorUnit::forgetVmem(int64_t row, int64_t rows) {
  VectorMemory& memory = state_->memory;
  const int64_t end = std::min(row + rows, memory.rows);
  for (int64_t r = std::max<int64_t>(row, 0); r < end; ++r) memory.written[r] = {};
  for (int64_t r = std::max<int64_t>(row, 0); r < end && !memory.writers.empty(); ++r)
    memory.writers[static_cast<size_t>(r)] = {};
  memory.partial.erase(memory.partial.lower_bound(row), memory.partial.lower_bound(end));
}

Writer VectorUnit::writerOf(int64_t row) const {
  const auto& writers = state_->memory.writers;
  return row >= 0 && row < static_cast<int64_t>(writers.size()) ? writers[static_cast<size_t>(row)]
                                                                : Writer{};
}

void VectorUnit::setWriter(int64_t row, Writer writer) {
  auto& writers = state_->memory.writers;
  if (row >= 0 && row < static_cast<int64_t>(writers.size())) writers[static_cast<size_t>(row)] = writer;
}

void VectorUnit::claimVmem(int64_t row, int64_t rows, bool incoming, bool begins) {
  VectorMemory& memory = state_->memory;
  if (memory.claims == nullptr) return;
  const int64_t end = std::min(row + rows, memory.rows);
  for (int64_t r = std::max<int64_t>(row, 0); r < end; ++r) {
    uint16_t& count = incoming ? memory.claims[r].incoming : memory.claims[r].outgoing;
    count = static_cast<uint16_t>(begins ? count + 1 : count - 1);
  }
}

int64_t VectorUnit::contestedRow() const { return state_->contested_row; }

std::span<const UnwrittenLoad> VectorUnit::unwrittenLoads() const { return state_->unwritten_loads; }

std::span<uint32_t> VectorUnit::vector(int index) {
  return {state_->words(static_cast<uint8_t>(index)), kWords};
}
std::span<uint32_t> VectorUnit::mask(int index) {
  return {state_->words(static_cast<uint8_t>(kFirstMask + index)), kWords};
}

uint64_t VectorUnit::storesHash() const { return state_->stores_hash; }
int64_t VectorUnit::bundles() const { return state_->bundles_executed; }
int64_t VectorUnit::instructions() const { return state_->instructions_executed; }

}  // namespace sublane::sim
