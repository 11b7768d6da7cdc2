#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "base/units.h"
#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

using report::TransferUse;

std::string opOf(const TransferUse& transfer, const Look& look) {
  for (const report::SimulatedRow& row : look.step.rows) {
    if (row.row.id != transfer.row) continue;
    return row.row.place.part.empty() ? row.row.op : row.row.place.part + " " + row.row.kind;
  }
  return "(outside)";
}

/// The same instruction in all layers is one line.
std::vector<std::pair<std::string, TransferUse>> joined(const Look& look) {
  std::map<std::tuple<std::string, std::string_view, std::string_view, int64_t>, TransferUse> groups;
  for (const TransferUse& transfer : look.step.anatomy.transfers) {
    if (!look.shows(transfer.row)) continue;
    const int64_t each = transfer.bytes / std::max<int64_t>(1, transfer.count);
    TransferUse& group =
        groups.try_emplace({opOf(transfer, look), transfer.from, transfer.to, each}).first->second;
    if (group.count == 0 || transfer.waited_cycles > group.waited_cycles) group.bundle = transfer.bundle;
    group.from = transfer.from;
    group.to = transfer.to;
    group.remote |= transfer.remote;
    group.count += transfer.count;
    group.bytes += transfer.bytes;
    group.pieces += transfer.pieces;
    group.flight_cycles += transfer.flight_cycles;
    group.waited_cycles += transfer.waited_cycles;
  }
  std::vector<std::pair<std::string, TransferUse>> order;
  for (const auto& [key, group] : groups) order.emplace_back(std::get<0>(key), group);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.waited_cycles, a.second.bytes) >
           std::pair(b.second.waited_cycles, b.second.bytes);
  });
  return order;
}

std::string line(const std::string& op, const TransferUse& transfer) {
  const double flight = static_cast<double>(std::max<int64_t>(1, transfer.flight_cycles));
  const auto waited = static_cast<double>(transfer.waited_cycles);
  const int64_t pieces = std::max<int64_t>(1, transfer.pieces);
  return fmt::format("{:>10} {:>6.1f}% {:>8} {:>8} {:>8} {:>8} {:<13} {:>7} {}\n", transfer.waited_cycles,
                     100 * (1 - std::min(1.0, waited / flight)), transfer.count,
                     report::scaled(transfer.bytes), report::scaled(transfer.bytes / pieces),
                     report::scaled(transfer.bytes / std::max<int64_t>(1, transfer.count)),
                     fmt::format("{}->{}{}", transfer.from, transfer.to, transfer.remote ? " far" : ""),
                     fmt::format("{:#x}", transfer.bundle), report::shortened(escaped(op), 24));
}

/// DMA instructions: what is waited for, and what hides behind work.
std::string text(const Look& look) {
  const std::vector<std::pair<std::string, TransferUse>> order = joined(look);
  if (order.empty()) return "";
  std::string text = fmt::format("{:>10} {:>7} {:>8} {:>8} {:>8} {:>8} {:<13} {:>7} {}\n", "waited", "hidden",
                                 "count", "bytes", "piece B", "each B", "route", "bundle", "operation");
  int64_t waited = 0, bytes = 0, count = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& [op, transfer] = order[i];
    waited += transfer.waited_cycles;
    bytes += transfer.bytes;
    count += transfer.count;
    if (look.top == 0 || static_cast<int64_t>(i) < look.top) text += line(op, transfer);
  }
  if (look.top > 0 && std::ssize(order) > look.top)
    text += fmt::format("{:>10} {} more (--top 0 shows all)\n", "", std::ssize(order) - look.top);
  return text + fmt::format(
                    "{:>10} cycles waited in {} transfers of {} (simulated); hidden: of the time from "
                    "issue\n           to completion\n",
                    waited, formatCount(count), formatBytes(static_cast<double>(bytes)));
}

}  // namespace

extern const View view_transfers;
const View view_transfers{"transfers", "DMAs and collectives: waited for or hidden, and in what pieces",
                          text};

}  // namespace sublane::views
