#include "sim/latencies.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "sim/in_flight.h"

namespace sublane::sim {
namespace {

struct File {
  std::string_view chip, csv;
};
constexpr File kFiles[] = {
#include "latencies.inc"
};

/// Farther apart than this, two operations do not wait for each other.
constexpr int64_t kFarthest = 400;

/// The operation of a kind: "vperm.slane" of "vperm.slane", "vpop" of "vpop.f32.mrf".
std::string_view operationOf(std::string_view kind) {
  static const std::set<std::string_view> known = {
#define SUBLANE_OPERATION(enumerator, text, unit) text,
#include "llo/operations.inc"
#undef SUBLANE_OPERATION
  };
  std::string_view operation = kind;
  while (!known.contains(operation) && operation.find('.') != std::string_view::npos)
    operation = operation.substr(0, operation.rfind('.'));
  return operation;
}

template <class Key>
void keepLeast(std::map<Key, int>& rows, const Key& key, int cycles) {
  const auto [entry, added] = rows.try_emplace(key, cycles);
  if (!added) entry->second = std::min(entry->second, cycles);
}

}  // namespace

std::string kindOf(const llo::Listing& listing, const llo::BundleInstruction& instruction) {
  std::string kind(llo::name(instruction.op));
  const std::string& form = listing.formOf(instruction);
  if (!form.empty()) kind += "." + form;
  return kind;
}

void Seen::note(std::map<Key, Distance>& rows, const Key& key, int cycles) {
  Distance& row = rows[key];
  if (row.pairs++ == 0 || cycles < row.cycles)
    row.cycles = cycles, row.hits = 1;
  else if (cycles == row.cycles)
    ++row.hits;
}

/// Only what stands in a row without a branch or a call is known to run in a row.
void Seen::add(const llo::Listing& listing, int delay_slots) {
  const Kinds kinds = kindsOf(listing);
  std::vector<char> ends(listing.bundles.size() + 17, 0);
  for (size_t b = 0; b < listing.bundles.size(); ++b)
    for (const llo::BundleInstruction& i : listing.of(listing.bundles[b])) {
      if (i.target >= 0)
        ends[static_cast<size_t>(i.target)] = ends[b + 1 + static_cast<size_t>(delay_slots)] = 1;
      if (i.callee >= 0) ends[b + 1] = 1;
    }
  InFlight state(listing, kinds);
  for (size_t b = 0; b < listing.bundles.size(); ++b) {
    if (ends[b]) state.forget();
    const auto cycle = static_cast<int64_t>(b);
    for (const llo::BundleInstruction& i : listing.of(listing.bundles[b])) {
      const std::string to = kindOf(listing, i);
      const std::string unit(llo::name(llo::unitOf(i.op)));
      if (llo::unitOf(i.op) == llo::Unit::kPseudo) continue;
      state.forSources(i, [&](const InFlight::Made& made) {
        const std::string& from = kinds.names[static_cast<size_t>(made.kind)];
        if (made.predicated || cycle - made.cycle > kFarthest) return;
        note(results, {from, unit}, static_cast<int>(cycle - made.cycle));
      });
      state.forUnit(i, [&](const InFlight::Made& made) {
        const std::string& from = kinds.names[static_cast<size_t>(made.kind)];
        if (cycle - made.cycle > kFarthest) return;
        note(intervals, {from, to}, static_cast<int>(cycle - made.cycle));
      });
    }
    for (const llo::BundleInstruction& i : listing.of(listing.bundles[b])) state.note(i, cycle);
  }
}

std::string Seen::toCsv() const {
  std::string text = "what,from,to,cycles,hits,pairs\n";
  const auto add = [&](std::string_view what, const std::map<Key, Distance>& rows) {
    for (const auto& [key, row] : rows)
      text +=
          fmt::format("{},{},{},{},{},{}\n", what, key.first, key.second, row.cycles, row.hits, row.pairs);
  };
  add("result", results);
  add("interval", intervals);
  return text;
}

int Latencies::result(const std::string& kind, llo::Unit taker) const {
  const auto row = results_.find({kind, std::string(llo::name(taker))});
  if (row != results_.end()) return row->second;
  if (const auto of = of_kind_.find(kind); of != of_kind_.end()) return of->second;
  if (const auto of = of_operation_.find(std::string(operationOf(kind))); of != of_operation_.end())
    return of->second;
  return 1;
}

int Latencies::interval(const std::string& from, const std::string& to) const {
  const auto row = intervals_.find({from, to});
  if (row != intervals_.end()) return row->second;
  const auto of = of_operations_.find({std::string(operationOf(from)), std::string(operationOf(to))});
  return of == of_operations_.end() ? 1 : of->second;
}

Result<Latencies> readLatencies(std::string_view csv, const std::string& where) {
  Latencies latencies;
  int line_number = 0;
  while (!csv.empty()) {
    const std::string_view line = csv.substr(0, csv.find('\n'));
    csv.remove_prefix(std::min(line.size() + 1, csv.size()));
    ++line_number;
    if (line.empty() || line[0] == '#' || line.starts_with("what,")) continue;
    std::vector<std::string_view> fields;
    for (std::string_view rest = line; fields.size() < 6;) {
      fields.push_back(rest.substr(0, rest.find(',')));
      if (fields.back().size() == rest.size()) break;
      rest.remove_prefix(fields.back().size() + 1);
    }
    int cycles = 0, hits = 0;
    const auto number = [](std::string_view text, int& value) {
      return std::from_chars(text.data(), text.data() + text.size(), value).ptr == text.data() + text.size();
    };
    if (fields.size() != 6 || (fields[0] != "result" && fields[0] != "interval") ||
        !number(fields[3], cycles) || !number(fields[4], hits) || cycles < 0) {
      return inputError("{}:{}: not a row \"result|interval,from,to,cycles,hits,pairs\"", where, line_number);
    }
    const Seen::Key key{std::string(fields[1]), std::string(fields[2])};
    if (fields[0] == "result") {
      keepLeast(latencies.of_kind_, key.first, cycles);
      keepLeast(latencies.of_operation_, std::string(operationOf(key.first)), cycles);
    }
    if (hits < Latencies::kFewestHits) continue;
    if (fields[0] == "interval") {
      keepLeast(latencies.of_operations_,
                {std::string(operationOf(key.first)), std::string(operationOf(key.second))}, cycles);
    }
    (fields[0] == "result" ? latencies.results_ : latencies.intervals_)[key] = cycles;
  }
  return latencies;
}

Result<Latencies> latenciesOf(const std::string& chip) {
  std::string known;
  for (const File& file : kFiles) {
    if (file.chip == chip) return readLatencies(file.csv, chip + ".csv");
    known += fmt::format("{}{}", known.empty() ? "" : ", ", file.chip);
  }
  return inputError("scoreboard: no latencies of chip \"{}\"", chip).hint("they are there for " + known);
}

}  // namespace sublane::sim
