#include "views/step_events.h"

#include <algorithm>
#include <cmath>

#include "report/place.h"

namespace sublane::views {
namespace {

std::string_view nameAt(const auto& names, int32_t index, std::string_view otherwise) {
  if (index < 0 || static_cast<size_t>(index) >= names.size()) return otherwise;
  return names[static_cast<size_t>(index)].name;
}

/// Allocations may share a place at different times.
int64_t vmemOf(const llo::Listing& listing) {
  std::vector<std::pair<int64_t, int64_t>> ranges;  // begin, end
  int64_t bytes = 0;
  for (const llo::Allocation& allocation : listing.allocations) {
    if (allocation.space != llo::Space::kVmem || allocation.bytes <= 0) continue;
    if (allocation.offset < 0)
      bytes += allocation.bytes;
    else
      ranges.emplace_back(allocation.offset, allocation.offset + allocation.bytes);
  }
  std::sort(ranges.begin(), ranges.end());
  int64_t reached = 0;
  for (const auto& [begin, end] : ranges) {
    bytes += std::max<int64_t>(0, end - std::max(begin, reached));
    reached = std::max(reached, end);
  }
  return bytes;
}

/// "-" is the program itself, as it was given.
std::string sourceOf(const llo::Instruction& at, const std::string& step) {
  const llo::OpMetadata& metadata = at.metadata;
  if (metadata.source_file.empty()) return "";
  return fmt::format("{}:{}", metadata.source_file == "-" ? step : metadata.source_file,
                     metadata.source_line);
}

}  // namespace

int64_t StepNames::ns(int64_t cycle) const {
  __extension__ using Wide = __int128;
  return clock_hz > 0 ? static_cast<int64_t>(Wide{cycle} * 1'000'000'000 / clock_hz) : cycle;
}

std::string_view StepNames::op(int32_t index) const { return nameAt(ops, index, "(outside of operations)"); }
std::string_view StepNames::kernel(int32_t index) const { return nameAt(kernels, index, ""); }
std::string_view StepNames::source(int32_t index) const {
  if (index < 0 || static_cast<size_t>(index) >= ops.size()) return "";
  return ops[static_cast<size_t>(index)].source;
}

StepNames namesOf(const std::string& step, const llo::Program& program, const sim::ChipModel& model) {
  const auto cores = model.extra.find("cores_per_device");
  StepNames names{.step = step,
                  .chip = model.chip,
                  .model_hash = model.hash,
                  .clock_hz = std::llround(model.clock_hz),
                  .hbm_bytes_per_second =
                      model.hbm_peak_bytes_per_second / (cores == model.extra.end() ? 1 : cores->second),
                  .top = program.top};
  const report::Places places(program.module);
  for (const llo::TracedOp& op : program.traced) {
    OpNames& named = names.ops.emplace_back(OpNames{.name = op.name});
    if (op.computation < 0 || op.instruction < 0) continue;
    named.place = places.of(op.computation, op.instruction);
    named.source = sourceOf(program.module.at(op.computation).at(op.instruction), step);
  }
  for (const llo::Listing& listing : program.listings)
    names.kernels.push_back({listing.function, vmemOf(listing)});
  return names;
}

void StepEvents::add(const events::Event& event) {
  switch (event.kind) {
    case events::Kind::kCycles: {
      totals.cycles += event.duration;
      totals.causes[static_cast<size_t>(event.cause)] += event.duration;
      Piece piece{.cycle = event.cycle,
                  .cycles = event.duration,
                  .op = event.op,
                  .listing = event.listing,
                  .bundle = event.bundle,
                  .transfer = event.transfer,
                  .cause = event.cause};
      work.add(piece);
      piece.cause = {};
      operations.add(piece);
      break;
    }
    case events::Kind::kIssued:
      addBytes(event);
      transfers.issue(event);
      break;
    case events::Kind::kDone: {
      const Moved moved = transfers.done(event);
      const bool read = moved.way.from == events::Memory::kHbm,
                 written = moved.way.to == events::Memory::kHbm;
      if (read || written) hbm.add({moved.first_byte, moved.last_byte, moved.bytes, read, written});
      break;
    }
    case events::Kind::kTaken:
      transfers.take(event);
      break;
  }
}

void StepEvents::addBytes(const events::Event& event) {
  ++totals.transfers;
  const bool code = event.to == events::Memory::kCode;
  const bool read = event.from == events::Memory::kHbm && !code, written = event.to == events::Memory::kHbm;
  if (code) totals.code_bytes += event.bytes;
  if (read) totals.hbm_read_bytes += event.bytes;
  if (written) totals.hbm_write_bytes += event.bytes;
  if (!code && !read && !written) totals.other_bytes += event.bytes;
}

}  // namespace sublane::views
