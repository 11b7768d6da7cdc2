// What the runtime leaves for a program before it starts: SMEM words at fixed places, the table of output
// addresses, the arguments' bytes.
#include <cstring>

#include "sim/constants.h"
#include "sim/machine.h"

namespace sublane::sim {
namespace {

/// Byte addresses of SMEM, as the allocations' tags name them.
constexpr int64_t kOutputPointer = 0xfff90, kDescriptorState = 0xfffa8;
constexpr uint32_t kDescriptorReady = 1;

std::vector<std::byte> bytesOf(const std::vector<uint32_t>& words) {
  std::vector<std::byte> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace

/// The rows in HBM where each chip of a launch tells the first what it is about to run: all have, and the
/// same.
void Machine::letOthersArrive() {
  constexpr int64_t kMostBytes = 1 << 16, kRowBytes = 512;
  std::vector<uint32_t> row(kRowBytes / 4, 0);
  row[1] = kDescriptorReady;
  const llo::Listing& top = program_.listings[static_cast<size_t>(program_.top)];
  for (size_t i = 0; i < top.allocations.size(); ++i) {
    const llo::Allocation& allocation = top.allocations[i];
    if (allocation.space != llo::Space::kHbm || !allocation.absolute || allocation.bytes > kMostBytes)
      continue;
    const int64_t at =
        placement_.addresses[static_cast<size_t>(program_.top)][i] * placement_.hbm_address_bytes;
    for (int64_t byte = 0; byte < allocation.bytes; byte += kRowBytes) hbm_.write(at + byte, bytesOf(row));
  }
}

void Machine::prepare(const Inputs& inputs) {
  const auto set = [this](int64_t byte, uint32_t value) {
    const size_t word = static_cast<size_t>(byte / 4);
    if (word >= smem_.size()) return;
    smem_[word] = value;
    smem_origin_[word] = 0;
  };
  // Chip, core, run and program numbers, queues of the host: 0 on the one core of the one chip.
  for (const llo::Listing& listing : program_.listings) {
    for (const llo::Allocation& allocation : listing.allocations) {
      if (allocation.space != llo::Space::kSmem || !allocation.absolute || allocation.scoped) continue;
      for (int64_t byte = 0; byte < allocation.bytes; byte += 4) set(allocation.offset + byte, 0);
    }
  }
  set(kDescriptorState, kDescriptorReady);
  if (options_.slice.devices() > 1) letOthersArrive();
  if (placement_.output_table.bytes > 0) {
    std::vector<uint32_t> table;
    for (const HbmBuffer& output : placement_.outputs) table.push_back(placement_.hbmAddress(output));
    // A transfer takes whole granules; what follows the table is nobody's, but must be something.
    table.resize((table.size() + 127) / 128 * 128, 0);
    hbm_.write(placement_.output_table.begin, bytesOf(table));
    set(kOutputPointer, placement_.hbmAddress(placement_.output_table));
  } else if (!placement_.outputs.empty()) {
    set(kOutputPointer, placement_.hbmAddress(placement_.outputs.front()));
  }
  for (const PlacedConstant& constant : placeConstants(program_, placement_)) {
    const size_t words = constant.bytes.size() / 4 * 4;
    hbm_.write(constant.address, std::span(constant.bytes).first(words));
  }
  for (const auto& [number, bytes] : inputs.arguments) {
    if (number < 0 || number >= static_cast<int32_t>(placement_.parameters.size())) continue;
    const HbmBuffer& buffer = placement_.parameters[static_cast<size_t>(number)];
    const int64_t count = std::min(buffer.bytes, static_cast<int64_t>(bytes.size())) / 4 * 4;
    hbm_.write(buffer.begin, std::span(bytes).first(static_cast<size_t>(count)));
  }
}

}  // namespace sublane::sim
