#include <algorithm>
#include <map>

#include "base/units.h"
#include "findings/rows.h"
#include "report/traffic.h"

namespace sublane::findings {
namespace {

constexpr double kLarge = 1 << 20;

struct Read {
  const report::SimulatedRow* row = nullptr;
  Spot spot;  // what needs the bytes: of a copy, its first user
  double bytes = 0;
  bool copy = false;
};

/// How much of what an operation could read of its operands it did read, where it was executed: a kernel that
/// is given a whole cache reads the pages that it needs. Where it was not, nothing is known of a kernel.
double readShare(const Look& look, const report::SimulatedRow& row, Spot spot) {
  const llo::Instruction& at = look.flow.at(spot);
  if (look.evidence.step.rung != report::Rung::kBundles) return at.is("custom-call") ? 0 : 1;
  double bytes = 0;
  for (size_t k = 0; k < at.operands.size(); ++k)
    if (look.flow.at(look.flow.operand(spot, k)).shape.memory() == llo::Memory::kHbm)
      bytes += report::readOf(look.flow.module(), look.flow.computation(spot), at, k);
  bytes *= static_cast<double>(row.row.count);
  return bytes > 0 ? std::min(1.0, static_cast<double>(row.hbm_read_bytes) / bytes) : 0;
}

/// Reads of arguments where they lie in the HBM, by argument.
std::map<int64_t, std::vector<Read>> readsOf(const Look& look) {
  std::map<int64_t, std::vector<Read>> reads;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found() || row.row.us <= 0) continue;
    const llo::Instruction& at = look.flow.at(spot);
    if (at.is("while") || at.is("conditional") || at.opcode.ends_with("-done")) continue;
    const double share = readShare(look, row, spot);
    for (size_t k = 0; k < at.operands.size() && share > 0; ++k) {
      const llo::Shape& shape = look.flow.at(look.flow.operand(spot, k)).shape;
      if (shape.isTuple() || shape.memory() != llo::Memory::kHbm) continue;
      if (llo::paddedBytes(shape) < static_cast<int64_t>(kLarge)) continue;
      const WholeArgument whole = look.flow.wholeArgument(look.flow.operand(spot, k));
      if (whole.argument < 0 || whole.updated || whole.copied) continue;
      const double bytes = report::readOf(look.flow.module(), look.flow.computation(spot), at, k);
      const bool copy = at.is("copy") || at.is("copy-start") || at.is("async-start");
      const std::vector<Spot> users = copy ? look.flow.consumers(spot) : std::vector<Spot>();
      reads[whole.argument].push_back({.row = &row,
                                       .spot = users.empty() ? spot : users[0],
                                       .bytes = share * bytes * static_cast<double>(row.row.count),
                                       .copy = copy});
    }
  }
  return reads;
}

/// Whether two of the reads need nothing of each other, so that one pass could do both.
bool canJoin(const Look& look, const std::vector<Read>& reads) {
  for (size_t i = 0; i < reads.size(); ++i)
    for (size_t j = i + 1; j < reads.size(); ++j)
      if (reads[i].spot != reads[j].spot && !look.flow.needs(reads[i].spot, reads[j].spot) &&
          !look.flow.needs(reads[j].spot, reads[i].spot))
        return true;
  return false;
}

/// BEFORE  %a = dot(%x, %weights); %b = dot(%y, %weights)      the weights are read twice
/// AFTER   %ab = dot(concatenate(%x, %y), %weights)
std::vector<Finding> look(const Look& look) {
  std::vector<Finding> found;
  for (auto& [argument, reads] : readsOf(look)) {
    const llo::Shape& shape = look.flow.at(look.flow.parameter(argument)).shape;
    const auto size = static_cast<double>(llo::paddedBytes(shape));
    double bytes = 0;
    for (const Read& read : reads) bytes += read.bytes;
    if (bytes < 1.5 * size) continue;
    auto order = reads;
    // Those that stay are the largest ones, and rather those that compute than copies.
    std::stable_sort(order.begin(), order.end(), [](const Read& a, const Read& b) {
      return a.copy != b.copy ? b.copy : a.bytes > b.bytes;
    });
    std::map<int32_t, double> saved;
    double once = size;
    for (const Read& read : order) {
      const double stays = std::min(once, read.bytes);
      once -= stays;
      // Of a read that its work hides, nothing is saved.
      double left = look.evidence.hbmUs(read.bytes - stays);
      for (const report::SimulatedRow* row : withWait(look, *read.row)) {
        const double us = std::min(left, std::max(0.0, row->row.us - row->row.mxu_us));
        saved[row->row.id] += us;
        left -= us;
      }
    }
    const Rows rows =
        pick(look.evidence, [&](const report::SimulatedRow& row) { return saved.count(row.row.id) > 0; });
    Finding finding = about(rows, "read-twice");
    save(finding, rows, [&](const report::SimulatedRow& row) { return saved[row.row.id]; });
    if (rows.empty() || look.evidence.percent(finding.gain_us) < 3) continue;
    finding.what = fmt::format("{}: argument {} ({}, {}) is read {:.1f} times over by {} operations",
                               named(rows), argument, llo::toString(shape), formatBytes(size), bytes / size,
                               formatCount(std::ssize(reads)));
    finding.cure = canJoin(look, reads)
                       ? "join the operations that read it (products with one weight are one product)"
                   : size < 0.5 * look.evidence.chip.vmem_bytes
                       ? "it fits into VMEM: a kernel that keeps it there over its uses"
                       : "do in one pass what needs it: a kernel, or another order of the work";
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace

extern const Rule rule_read_twice;
const Rule rule_read_twice{"read-twice", "arguments that are read more than once", Rank::kPattern, look};

}  // namespace sublane::findings
