#include <algorithm>
#include <map>

#include "base/units.h"
#include "findings/rows.h"
#include "sim/sim.h"

namespace sublane::findings {
namespace {

/// What pieces cost beside their bytes, and transfers beside their pieces.
struct Pieces {
  int64_t count = 0, pieces = 0, bytes = 0;
  double us = 0;
};

/// BEFORE  a block of 128 columns of a row-major matrix: a piece of 256 bytes for each row
/// AFTER   whole rows, or the matrix stored block by block
std::vector<Finding> look(const Look& look) {
  constexpr double kSmall = 4096;
  const Evidence& evidence = look.evidence;
  const Result<sim::ChipModel> model = sim::chipModel(evidence.chip.name);
  if (!model.ok() || evidence.anatomy().transfers.empty()) return {};
  const double rate = model->hbm_peak_bytes_per_second * model->hbm_efficiency;
  std::map<int32_t, Pieces> rows_of;
  for (const report::TransferUse& transfer : evidence.anatomy().transfers) {
    const bool hbm = transfer.from == "hbm" || transfer.to == "hbm";
    const int64_t pieces = std::max(transfer.pieces, transfer.count);
    if (!hbm || transfer.remote || pieces < 64 || transfer.waited_cycles <= 0) continue;
    if (static_cast<double>(transfer.bytes) > kSmall * static_cast<double>(pieces)) continue;
    const double overhead = 1e6 * static_cast<double>(pieces) * model->hbm_run_overhead_bytes / rate;
    // A transfer that is a small piece itself pays its latency, too.
    const double alone = pieces <= 2 * transfer.count ? evidence.us(transfer.waited_cycles) : overhead;
    Pieces& of = rows_of[transfer.row];
    of.count += transfer.count;
    of.pieces += pieces;
    of.bytes += transfer.bytes;
    of.us += std::min(evidence.us(transfer.waited_cycles), alone);
  }
  const Rows rows =
      pick(evidence, [&](const report::SimulatedRow& row) { return rows_of.count(row.row.id) > 0; });
  Finding finding = about(rows, "small-pieces");
  save(finding, rows, [&](const report::SimulatedRow& row) { return rows_of[row.row.id].us; });
  if (rows.empty() || evidence.percent(finding.gain_us) < 3) return {};
  Pieces all;
  for (const report::SimulatedRow* row : rows.rows) {
    const Pieces& of = rows_of[row->row.id];
    all.count += of.count;
    all.pieces += of.pieces;
    all.bytes += of.bytes;
  }
  finding.what =
      fmt::format("{}: {} transfers move {} in {} pieces of {} each", named(rows), formatCount(all.count),
                  formatBytes(static_cast<double>(all.bytes)), formatCount(all.pieces),
                  formatBytes(static_cast<double>(all.bytes) / static_cast<double>(all.pieces)));
  finding.cure = "larger contiguous pieces (4 KiB and more): whole rows or pages, or another order in memory";
  finding.evidence.push_back(
      fmt::format("a piece costs as much as {:.0f} bytes beside its own (the chip's model)",
                  model->hbm_run_overhead_bytes));
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_small_pieces;
const Rule rule_small_pieces{"small-pieces", "transfers in small pieces", Rank::kPattern, look};

}  // namespace sublane::findings
