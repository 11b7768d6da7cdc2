#include "sim/placement.h"

#include <algorithm>
#include <array>

namespace sublane::sim {
namespace {

constexpr int kSpaces = static_cast<int>(llo::Space::kHost) + 1;
/// Bytes used in each space.
using Extent = std::array<int64_t, kSpaces>;

size_t at(llo::Space space) { return static_cast<size_t>(space); }
int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// HBM grows from here: 0 stays free, so that a null address is nobody's.
constexpr int64_t kHbmBegin = int64_t{1} << 20;
constexpr int64_t kHbmAlignment = 4096;

double extra(const ChipModel& model, const char* key, double otherwise) {
  const auto found = model.extra.find(key);
  return found == model.extra.end() ? otherwise : found->second;
}

class Placer {
 public:
  Placer(const llo::Program& program, const ChipModel& model) : program_(program) {
    result_.hbm_address_bytes = static_cast<int64_t>(extra(model, "hbm_address_bytes", 32));
    result_.dma_granule_bytes = static_cast<int64_t>(extra(model, "dma_granule_bytes", 32));
    result_.smem_words = static_cast<int64_t>(extra(model, "smem_bytes", 1 << 20)) / 4;
    result_.vmem_rows = static_cast<int64_t>(extra(model, "vmem_bytes", 1 << 27)) / 512;
    result_.addresses.resize(program.listings.size());
    bases_.assign(program.listings.size(), Extent{});
  }

  Result<Placement> run() {
    placeArguments();
    for (const int32_t listing : callOrder()) placeListing(listing);
    if (hbm_ / result_.hbm_address_bytes > int64_t{0xffffffff}) {
      return inputError("simulator: buffers take {} bytes of HBM; {} can be addressed", hbm_,
                        result_.hbm_address_bytes << 32);
    }
    return std::move(result_);
  }

 private:
  HbmBuffer inHbm(int64_t bytes) {
    const HbmBuffer buffer{.begin = hbm_, .bytes = bytes};
    hbm_ = roundUp(hbm_ + std::max<int64_t>(bytes, 1), kHbmAlignment);
    return buffer;
  }

  void placeArguments() {
    if (program_.module.computations.empty()) return;
    const llo::Computation& entry = program_.module.entryComputation();
    for (const llo::Instruction& instruction : entry.instructions) {
      if (!instruction.is("parameter")) continue;
      const size_t number = static_cast<size_t>(instruction.parameter_number);
      if (result_.parameters.size() <= number) result_.parameters.resize(number + 1);
      result_.parameters[number] = inHbm(llo::paddedBytes(instruction.shape));
    }
    const llo::Shape& root = entry.at(entry.root).shape;
    llo::forEachArray(root, [&](const llo::Shape& shape) {
      result_.outputs.push_back(
          outputBuffer(static_cast<int64_t>(result_.outputs.size()), root.isTuple(), shape));
    });
    if (root.isTuple()) result_.output_table = inHbm(static_cast<int64_t>(result_.outputs.size()) * 4);
  }

  HbmBuffer outputBuffer(int64_t number, bool tuple, const llo::Shape& shape) {
    for (const llo::InputOutputAlias& alias : program_.module.aliases) {
      const bool same =
          tuple ? alias.output_index == std::vector<int64_t>{number} : alias.output_index.empty();
      if (same && alias.parameter < static_cast<int64_t>(result_.parameters.size())) {
        return result_.parameters[static_cast<size_t>(alias.parameter)];
      }
    }
    return inHbm(llo::paddedBytes(shape));
  }

  /// Callers before their callees.
  std::vector<int32_t> callOrder() const {
    std::vector<int32_t> order;
    std::vector<char> seen(program_.listings.size(), 0);
    visit(program_.top, seen, order);
    std::reverse(order.begin(), order.end());
    return order;
  }
  void visit(int32_t listing, std::vector<char>& seen, std::vector<int32_t>& order) const {
    if (std::exchange(seen[static_cast<size_t>(listing)], 1)) return;
    for (const std::string& name : program_.listings[static_cast<size_t>(listing)].callees) {
      const auto callee = program_.functions.find(name);
      if (callee != program_.functions.end()) visit(callee->second, seen, order);
    }
    order.push_back(listing);
  }

  void placeListing(int32_t index) {
    const llo::Listing& listing = program_.listings[static_cast<size_t>(index)];
    const Extent& base = bases_[static_cast<size_t>(index)];
    Extent end = base;
    std::vector<int64_t>& addresses = result_.addresses[static_cast<size_t>(index)];
    addresses.assign(listing.allocations.size(), 0);
    std::vector<int64_t> bytes(listing.allocations.size(), -1);
    for (size_t i = 0; i < listing.allocations.size(); ++i) {
      const llo::Allocation& allocation = listing.allocations[i];
      if (allocation.offset < 0) continue;
      bytes[i] = allocation.offset + (allocation.absolute ? 0 : base[at(allocation.space)]);
      if (!allocation.absolute) {
        int64_t& used = end[at(allocation.space)];
        used = std::max(used, bytes[i] + allocation.bytes);
      }
    }
    // HBM offsets count from a block of the listing's own.
    const int64_t hbm = end[at(llo::Space::kHbm)] > 0 ? inHbm(end[at(llo::Space::kHbm)]).begin : 0;
    end[at(llo::Space::kHbm)] = 0;
    for (size_t i = 0; i < listing.allocations.size(); ++i) {
      const llo::Allocation& allocation = listing.allocations[i];
      if (allocation.space == llo::Space::kHbm) {
        bytes[i] = bytes[i] < 0 ? inHbm(allocation.bytes).begin : bytes[i] + (allocation.absolute ? 0 : hbm);
      } else if (bytes[i] < 0) {
        int64_t& used = end[at(allocation.space)];
        bytes[i] = roundUp(used, unitBytes(allocation.space, result_.hbm_address_bytes));
        used = bytes[i] + allocation.bytes;
      }
      addresses[i] = bytes[i] / unitBytes(allocation.space, result_.hbm_address_bytes);
    }
    grow(listing, addresses);
    for (const std::string& name : listing.callees) {
      const auto callee = program_.functions.find(name);
      if (callee == program_.functions.end()) continue;
      Extent& later = bases_[static_cast<size_t>(callee->second)];
      for (int s = 0; s < kSpaces; ++s) {
        const size_t space = static_cast<size_t>(s);
        later[space] =
            std::max(later[space], roundUp(end[space], s == static_cast<int>(llo::Space::kVmem) ? 4096 : 4));
      }
    }
  }

  /// The memories are at least as large as what lies in them.
  void grow(const llo::Listing& listing, const std::vector<int64_t>& addresses) {
    for (size_t i = 0; i < addresses.size(); ++i) {
      const llo::Allocation& allocation = listing.allocations[i];
      const int64_t unit = unitBytes(allocation.space, result_.hbm_address_bytes);
      const int64_t end = addresses[i] + roundUp(allocation.bytes, unit) / unit;
      if (allocation.space == llo::Space::kSmem) result_.smem_words = std::max(result_.smem_words, end);
      if (allocation.space == llo::Space::kVmem) result_.vmem_rows = std::max(result_.vmem_rows, end);
      if (allocation.space == llo::Space::kSyncFlag) result_.sync_flags = std::max(result_.sync_flags, end);
    }
  }

  const llo::Program& program_;
  Placement result_;
  std::vector<Extent> bases_;
  int64_t hbm_ = kHbmBegin;
};

}  // namespace

int64_t unitBytes(llo::Space space, int64_t hbm_address_bytes) {
  switch (space) {
    case llo::Space::kSmem:
    case llo::Space::kSyncFlag:
      return 4;
    case llo::Space::kVmem:
    case llo::Space::kCmem:
      return 512;
    case llo::Space::kHbm:
      return hbm_address_bytes;
    default:
      return 1;
  }
}

Result<Placement> place(const llo::Program& program, const ChipModel& model) {
  return Placer(program, model).run();
}

}  // namespace sublane::sim
