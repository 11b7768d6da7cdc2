#include <algorithm>
#include <map>
#include <set>

#include "base/units.h"
#include "findings/rows.h"

namespace sublane::findings {
namespace {

/// Padding of what a row reads and writes in the HBM.
struct Padding {
  double data = 0, padded = 0;
  double share() const { return padded > 0 ? (padded - data) / padded : 0; }
};

void add(const llo::Shape& of, Padding& padding, std::map<std::string, Padding>* shapes) {
  llo::forEachArray(of, [&](const llo::Shape& shape) {
    if (shape.memory() != llo::Memory::kHbm || llo::paddedBytes(shape) < (1 << 16)) return;
    const auto data = static_cast<double>(llo::logicalBytes(shape));
    const auto padded = static_cast<double>(llo::paddedBytes(shape));
    padding.data += data;
    padding.padded += padded;
    if (shapes == nullptr || padded < 1.3 * data) return;
    Padding& of_shape = (*shapes)[fmt::format("{}", llo::toString(shape))];
    of_shape.data = data;
    of_shape.padded = padded;
  });
}

Padding paddingOf(const Look& look, Spot spot, std::map<std::string, Padding>* shapes) {
  Padding padding;
  const llo::Instruction& at = look.flow.at(spot);
  if (at.is("while") || at.is("conditional") || at.opcode.ends_with("-done")) return padding;
  std::set<int32_t> seen;
  for (int32_t operand : at.operands)
    if (seen.insert(operand).second) add(look.flow.computation(spot).at(operand).shape, padding, shapes);
  if (!at.is("copy-start") && !at.is("async-start")) add(at.shape, padding, shapes);
  return padding;
}

/// BEFORE  f32[4096,129,129]   a row of 129 takes two tiles of 128 lanes
/// AFTER   f32[4096,129,128] and what is left apart, or dimensions joined: f32[4096,16641]
std::vector<Finding> look(const Look& look) {
  constexpr double kLeastShare = 0.25;
  std::map<int32_t, double> saved;
  std::map<std::string, Padding> shapes;
  double wasted = 0;
  for (const report::SimulatedRow& row : look.evidence.step.rows) {
    const Spot spot = look.flow.spotOf(row.row.op);
    if (!spot.found() || row.row.hbm_bytes == 0) continue;
    const double share = paddingOf(look, spot, nullptr).share();
    if (share < kLeastShare) continue;
    paddingOf(look, spot, &shapes);
    wasted += share * static_cast<double>(row.row.hbm_bytes);
    // The bytes are all that padding costs for sure; vector units work on whole tiles, too, if nothing else
    // takes the time.
    double waits = 0;
    for (const report::SimulatedRow* each : withWait(look, row)) waits += each->row.us;
    for (const report::SimulatedRow* each : withWait(look, row)) {
      const double part = waits > 0 ? each->row.us / waits : 0;
      saved[each->row.id] = std::min(each->row.us, share * part * std::min(waits, 1.3 * row.row.hbm_us));
    }
  }
  const Rows rows =
      pick(look.evidence, [&](const report::SimulatedRow& row) { return saved.count(row.row.id) > 0; });
  Finding finding = about(rows, "tile-padding");
  save(finding, rows, [&](const report::SimulatedRow& row) { return saved[row.row.id]; });
  if (rows.empty() || look.evidence.percent(finding.gain_us) < 3) return {};
  finding.what = fmt::format("{}: {} of the bytes that move are padding of tiles, {}", named(rows),
                             formatBytes(wasted), timeOf(look.evidence, finding.gain_us));
  finding.cure =
      "make the minor dimensions multiples of the tile (128 lanes, 8 rows of 32 bits): join or pack "
      "dimensions";
  std::vector<std::pair<std::string, Padding>> worst(shapes.begin(), shapes.end());
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) {
    return a.second.padded - a.second.data > b.second.padded - b.second.data;
  });
  for (size_t i = 0; i < worst.size() && i < 3; ++i)
    finding.evidence.push_back(fmt::format("{} takes {} for {} of data (compiler)", worst[i].first,
                                           formatBytes(worst[i].second.padded),
                                           formatBytes(worst[i].second.data)));
  return {std::move(finding)};
}

}  // namespace

extern const Rule rule_tile_padding;
const Rule rule_tile_padding{"tile-padding", "bytes that only pad tiles", Rank::kPattern, look};

}  // namespace sublane::findings
