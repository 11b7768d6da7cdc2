#include "sim/not_modelled.h"

#include <algorithm>
#include <set>

namespace sublane::sim {
namespace {

constexpr std::string_view kCollectives[] = {"all-reduce",       "all-gather",         "reduce-scatter",
                                             "all-to-all",       "collective-permute", "collective-broadcast",
                                             "ragged-all-to-all"};
constexpr size_t kMostNamed = 4;

bool isCollective(const llo::Instruction& instruction) {
  return std::any_of(std::begin(kCollectives), std::end(kCollectives), [&](std::string_view name) {
    return instruction.opcode == name || instruction.opcode == std::string(name) + "-start";
  });
}

/// Whether the instruction addresses the SparseCore's own flags or memory.
bool namesSparseCore(const llo::Listing& listing, const llo::BundleInstruction& instruction) {
  return listing.formOf(instruction).find("sparse_core") != std::string::npos;
}

int64_t bytesOf(const llo::Program& program, int32_t op) {
  if (op < 0) return 0;
  const llo::TracedOp& traced = program.traced[static_cast<size_t>(op)];
  if (traced.instruction < 0 || traced.computation < 0) return 0;
  const llo::Computation& computation = program.module.at(traced.computation);
  const llo::Instruction& instruction = computation.at(traced.instruction);
  int64_t bytes = 0;
  const auto add = [&](const llo::Shape& shape) {
    llo::forEachArray(shape, [&](const llo::Shape& array) { bytes += llo::paddedBytes(array); });
  };
  for (const int32_t operand : instruction.operands) add(computation.at(operand).shape);
  if (!instruction.shape.isTuple()) add(instruction.shape);
  return bytes;
}

/// Operations of the top-level program in whose range the SparseCore is named, and other listings that name
/// it.
void findSparseCore(const llo::Program& program, std::vector<NotModelled>& found) {
  std::set<std::string> seen;
  const auto note = [&](const std::string& name, int32_t op) {
    if (seen.insert(name).second)
      found.push_back({.op = name, .what = "the SparseCore", .bytes = bytesOf(program, op)});
  };
  for (size_t l = 0; l < program.listings.size(); ++l) {
    const llo::Listing& listing = program.listings[l];
    const bool top = static_cast<int32_t>(l) == program.top;
    std::vector<int32_t> open;
    for (const llo::BundleInstruction& i : listing.instructions) {
      if (top && llo::name(i.op) == "vtrace" && i.operand_count > 0) {
        const uint32_t marker = listing.operandsOf(i).front().bits, number = marker & 0x0fffffff;
        if (number >= program.traced.size()) continue;
        if (marker >> 28 == 8) open.push_back(static_cast<int32_t>(number));
        if (marker >> 28 == 9 && !open.empty()) open.pop_back();
      }
      if (!namesSparseCore(listing, i)) continue;
      const int32_t op = open.empty() ? -1 : open.back();
      note(op < 0 ? listing.function : program.traced[static_cast<size_t>(op)].name, op);
    }
  }
}

void findCollectives(const llo::Program& program, std::vector<NotModelled>& found) {
  for (size_t op = 0; op < program.traced.size(); ++op) {
    const llo::TracedOp& traced = program.traced[op];
    if (traced.instruction < 0 || traced.computation < 0) continue;
    if (!isCollective(program.module.at(traced.computation).at(traced.instruction))) continue;
    found.push_back(
        {.op = traced.name, .what = "other chips", .bytes = bytesOf(program, static_cast<int32_t>(op))});
  }
}

}  // namespace

std::vector<NotModelled> notModelled(const llo::Program& program, bool with_slice) {
  std::vector<NotModelled> found;
  findSparseCore(program, found);
  if (!with_slice) findCollectives(program, found);
  return found;
}

Status refuseWhatIsNotModelled(const llo::Program& program, bool with_slice) {
  const std::vector<NotModelled> found = notModelled(program, with_slice);
  if (found.empty()) return Ok{};
  std::string names;
  int64_t bytes = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (i < kMostNamed) names += fmt::format("{}{}", i ? ", " : "", found[i].op);
    bytes += found[i].bytes;
  }
  if (found.size() > kMostNamed) names += fmt::format(" and {} more", found.size() - kMostNamed);
  return inputError("simulator: {} of {} operations ({}; {} bytes) work with {}, which is not modelled",
                    found.size(), std::max(program.traced.size(), found.size()), names, bytes, found[0].what)
      .hint("a total without them would be wrong; simulate the rest of the program by itself");
}

}  // namespace sublane::sim
