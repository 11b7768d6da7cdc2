// Draws what a step's events come to: one process, its tracks in the order in which one reads them.
#include <algorithm>
#include <array>
#include <climits>
#include <set>

#include <fmt/format.h>

#include "views/step_events.h"
#include "views/trace_writer.h"

namespace sublane::views {
namespace {

using events::Cause;

/// More transfers at once than this share a track.
constexpr size_t kMostLanes = 32;

/// Tracks of the sequencer, from the top.
constexpr std::string_view kUnits[] = {"MXU",
                                       "XLU",
                                       "EUP",
                                       "vector ALU",
                                       "vector load",
                                       "vector store",
                                       "scalar",
                                       "waits for transfers",
                                       "waits for code, cores and the host",
                                       "branches",
                                       "spills",
                                       "launch, and between operations",
                                       "other"};

/// Which of them shows it.
size_t unitOf(Cause cause) {
  switch (cause) {
    case Cause::kIssueMatrix:
    case Cause::kDependencyMatrix:
      return 0;
    case Cause::kIssueCrossLane:
    case Cause::kDependencyCrossLane:
      return 1;
    case Cause::kIssueExtended:
    case Cause::kDependencyExtended:
      return 2;
    case Cause::kIssueVectorAlu:
    case Cause::kDependencyVectorAlu:
      return 3;
    case Cause::kIssueVectorLoad:
    case Cause::kDependencyVectorLoad:
      return 4;
    case Cause::kIssueVectorStore:
      return 5;
    case Cause::kIssueScalar:
    case Cause::kDependencyScalar:
      return 6;
    case Cause::kDma:
    case Cause::kDmaLatency:
    case Cause::kDmaEither:
    case Cause::kDmaBoth:
      return 7;
    case Cause::kOverlay:
    case Cause::kSemaphore:
    case Cause::kHost:
      return 8;
    case Cause::kBranch:
      return 9;
    case Cause::kSpill:
      return 10;
    case Cause::kLaunch:
      return 11;
    case Cause::kIssueOther:
    case Cause::kDependencyOther:
    case Cause::kOverlapped:
    case Cause::kNotModelled:
      break;
  }
  return 12;
}

std::string_view categoryOf(Cause cause) { return cause <= Cause::kIssueOther ? "issue" : "stall"; }

std::vector<Argument> causesOf(const events::CauseCycles& causes) {
  std::vector<Argument> arguments;
  for (size_t c = 0; c < causes.size(); ++c)
    if (causes[c] != 0) arguments.emplace_back(events::name(static_cast<Cause>(c)), causes[c]);
  return arguments;
}

class Drawing {
 public:
  Drawing(TraceWriter& trace, const StepNames& names, int32_t core, const StepEvents& events)
      : trace_(trace), names_(names), events_(events) {
    process_ = trace_.process(fmt::format("{}, core {}", names.step, core));
  }

  uint64_t draw() {
    drawTotals();
    drawOperations();
    for (size_t unit = 0; unit < std::size(kUnits); ++unit) drawUnit(unit);
    drawTransfers();
    drawRate("HBM read", events_.hbm.read());
    drawRate("HBM written", events_.hbm.written());
    drawVmem();
    return process_;
  }

 private:
  uint64_t track(std::string_view name, std::string_view description = {}) {
    return trace_.track({.parent = process_, .name = name, .description = description, .rank = rank_++});
  }
  uint64_t counter(std::string_view name, std::string_view unit, std::string_view description) {
    return trace_.track({.parent = process_,
                         .name = name,
                         .description = description,
                         .rank = rank_++,
                         .unit = unit,
                         .counter = true});
  }

  std::vector<Argument> siteArguments(const Site& site) const {
    std::vector<Argument> arguments{{"cycle", site.cycle}, {"op", names_.op(site.op)}};
    if (!names_.kernel(site.listing).empty()) arguments.emplace_back("kernel", names_.kernel(site.listing));
    if (site.bundle >= 0) arguments.emplace_back("bundle", site.bundle);
    if (!names_.source(site.op).empty()) arguments.emplace_back("source", names_.source(site.op));
    return arguments;
  }

  std::string noteOn(std::string_view what, int64_t window) const {
    if (window == 1) return "";
    return fmt::format(
        "Coarsened: {} that begin within {} cycles are one slice, if they are alike. Sums are exact.", what,
        window);
  }

  void drawTotals();
  void drawOperations();
  void drawUnit(size_t unit);
  void drawTransfers();
  void drawMoments(bool taken);
  void drawWay(const Way& way);
  void drawRate(std::string_view name, const std::vector<int64_t>& bytes);
  void drawVmem();

  TraceWriter& trace_;
  const StepNames& names_;
  const StepEvents& events_;
  uint64_t process_ = 0;
  int32_t rank_ = 0;
};

/// One slice as long as the step, whose arguments are the exact sums and what was left out.
void Drawing::drawTotals() {
  const StepTotals& totals = events_.totals;
  const uint64_t on = track("step");
  const std::string slices = noteOn("cycles of one cause, operation and kernel", events_.work.window());
  const std::string operations = noteOn("cycles of one operation and kernel", events_.operations.window());
  const std::string transfers = noteOn("transfers of one operation", events_.transfers.window());
  TraceEvent event{.name = names_.step,
                   .arguments = {{"chip", std::string_view(names_.chip)},
                                 {"origin", std::string_view("simulated")},
                                 {"model", std::string_view(names_.model_hash)},
                                 {"clock_hz", names_.clock_hz},
                                 {"cycles", totals.cycles},
                                 {"transfers", totals.transfers},
                                 {"hbm_read_bytes", totals.hbm_read_bytes},
                                 {"hbm_write_bytes", totals.hbm_write_bytes},
                                 {"code_bytes", totals.code_bytes},
                                 {"other_bytes", totals.other_bytes},
                                 {"seen", causesOf(totals.causes)}}};
  for (const auto& [name, note] :
       {std::pair{"note_units", &slices}, {"note_operations", &operations}, {"note_transfers", &transfers}})
    if (!note->empty()) event.arguments.emplace_back(name, std::string_view(*note));
  trace_.begin(on, 0, event);
  trace_.end(on, names_.ns(totals.cycles));
}

/// What encloses a piece of time, from the outside to the inside; kAbsent: nothing on that level.
constexpr int32_t kAbsent = INT_MIN;
enum Level : size_t { kLayer, kPart, kOperation, kKernel, kLevels };
constexpr std::string_view kLevelNames[] = {"layer", "part", "operation", "kernel"};
using Path = std::array<int32_t, kLevels>;

/// Paths of all pieces. What has no place of its own stays in what its neighbours share.
class Paths {
 public:
  explicit Paths(const StepNames& names) : names_(names) {}

  std::vector<Path> of(const std::vector<Piece>& pieces) {
    std::vector<Path> paths;
    for (const Piece& piece : pieces) {
      const bool kernel = piece.listing >= 0 && piece.listing != names_.top;
      paths.push_back({kAbsent, kAbsent, piece.op, kernel ? piece.listing : kAbsent});
    }
    size_t begin = 0;  // of those without a place
    Path before{kAbsent, kAbsent};
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!place(pieces[i].op, paths[i])) continue;
      for (size_t j = begin; j < i; ++j) {
        if (before[kLayer] != paths[i][kLayer]) continue;
        paths[j][kLayer] = before[kLayer];
        if (before[kPart] == paths[i][kPart]) paths[j][kPart] = before[kPart];
      }
      before = paths[i];
      begin = i + 1;
    }
    return paths;
  }

  std::string nameOf(size_t level, int32_t value) const {
    switch (level) {
      case kLayer:
        return value == report::RowPlace::kEvery ? "every layer" : fmt::format("layer {}", value);
      case kPart:
        return parts_[static_cast<size_t>(value)];
      case kOperation:
        return std::string(names_.op(value));
      default:
        return std::string(names_.kernel(value));
    }
  }

 private:
  bool place(int32_t op, Path& path) {
    if (op < 0 || static_cast<size_t>(op) >= names_.ops.size()) return false;
    const report::RowPlace& place = names_.ops[static_cast<size_t>(op)].place;
    if (place.part.empty()) return false;
    if (place.layer != report::RowPlace::kNone) path[kLayer] = place.layer;
    const auto [entry, added] = numbers_.try_emplace(place.part, static_cast<int32_t>(parts_.size()));
    if (added) parts_.push_back(place.part);
    path[kPart] = entry->second;
    return true;
  }

  const StepNames& names_;
  std::vector<std::string> parts_;
  std::map<std::string, int32_t> numbers_;
};

void Drawing::drawOperations() {
  const uint64_t on =
      track("operations", noteOn("cycles of one operation and kernel", events_.operations.window()));
  const std::vector<Piece>& pieces = events_.operations.all();
  Paths naming(names_);
  const std::vector<Path> paths = naming.of(pieces);
  const auto same = [&](size_t a, size_t b, size_t level) {
    return std::equal(paths[a].begin(), paths[a].begin() + static_cast<ptrdiff_t>(level) + 1,
                      paths[b].begin());
  };
  const auto close = [&](const Path& open, size_t from, int64_t cycle) {
    for (size_t level = kLevels; level-- > from;)
      if (open[level] != kAbsent) trace_.end(on, names_.ns(cycle));
  };
  Cursor cursor;
  int64_t end = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int64_t begin = cursor.place(pieces[i]);
    size_t level = 0;
    while (i > 0 && level < kLevels && same(i - 1, i, level)) ++level;
    if (i > 0) close(paths[i - 1], level, end);
    for (; level < kLevels; ++level) {
      if (paths[i][level] == kAbsent) continue;
      int64_t cycles = 0;
      for (size_t j = i; j < pieces.size() && same(i, j, level); ++j) cycles += pieces[j].cycles;
      const std::string name = naming.nameOf(level, paths[i][level]);
      TraceEvent event{.name = name,
                       .category = kLevelNames[level],
                       .arguments = {{"cycle", pieces[i].cycle}, {"cycles", cycles}}};
      if (level >= kOperation) event.arguments.emplace_back("bundle", pieces[i].bundle);
      if (level == kOperation && !names_.source(pieces[i].op).empty())
        event.arguments.emplace_back("source", names_.source(pieces[i].op));
      trace_.begin(on, names_.ns(begin), event);
    }
    end = begin + pieces[i].cycles;
  }
  if (!pieces.empty()) close(paths.back(), 0, end);
}

void Drawing::drawUnit(size_t unit) {
  const auto mine = [&](const Piece& piece) { return unitOf(piece.cause) == unit; };
  const std::vector<Piece>& pieces = events_.work.all();
  if (std::none_of(pieces.begin(), pieces.end(), mine)) return;
  const uint64_t on =
      track(kUnits[unit], noteOn("cycles of one cause, operation and kernel", events_.work.window()));
  Cursor cursor;
  for (const Piece& piece : pieces) {
    if (!mine(piece)) continue;
    const int64_t begin = cursor.place(piece);
    TraceEvent event{.name = events::name(piece.cause),
                     .category = categoryOf(piece.cause),
                     .arguments = siteArguments({piece.cycle, piece.op, piece.listing, piece.bundle})};
    event.arguments.emplace_back("cycles", piece.cycles);
    if (piece.joined > 1) event.arguments.emplace_back("joined", piece.joined);
    if (piece.transfer >= 0) event.arguments.emplace_back("transfer", piece.transfer);
    trace_.begin(on, names_.ns(begin), event);
    trace_.end(on, names_.ns(begin + piece.cycles));
  }
}

void Drawing::drawTransfers() {
  // Flows begin where a transfer is issued: this track comes first.
  drawMoments(false);
  std::set<Way> ways;
  for (const Moved& moved : events_.transfers.all()) ways.insert(moved.way);
  for (const Way& way : ways) drawWay(way);
  drawMoments(true);
}

uint64_t flowOf(uint64_t process, const Moved& moved) {
  return moved.count == 1 ? process << 32 | static_cast<uint32_t>(moved.transfer + 1) : 0;
}

/// Instants at the bundles that issue transfers, or wait for them. Of joined ones there are none.
void Drawing::drawMoments(bool taken) {
  std::vector<std::pair<Site, const Moved*>> moments;
  for (const Moved& moved : events_.transfers.all()) {
    const Site& site = taken ? moved.taken : moved.issued;
    if (moved.count == 1 && site.cycle >= 0) moments.emplace_back(site, &moved);
  }
  if (moments.empty()) return;
  std::stable_sort(moments.begin(), moments.end(),
                   [](const auto& a, const auto& b) { return a.first.cycle < b.first.cycle; });
  const uint64_t on =
      track(taken ? "takes" : "issues", noteOn("transfers of one operation", events_.transfers.window()));
  for (const auto& [site, moved] : moments) {
    TraceEvent event{.name = names_.op(site.op),
                     .category = "transfer",
                     .arguments = siteArguments(site),
                     .flow = flowOf(process_, *moved),
                     .flow_ends = taken};
    event.arguments.emplace_back("transfer", moved->transfer);
    trace_.instant(on, names_.ns(site.cycle), event);
  }
}

void Drawing::drawWay(const Way& way) {
  const Lanes lanes = lanesOf(events_.transfers.all(), way, kMostLanes);
  const std::string title = "DMA " + name(way);
  const std::string note = noteOn("transfers of one operation", events_.transfers.window());
  std::vector<uint64_t> tracks;
  for (size_t lane = 0; lane < lanes.count; ++lane) tracks.push_back(track(title, note));
  for (size_t lane = 0; lane < lanes.count; ++lane) {
    for (size_t i = 0; i < lanes.moved.size(); ++i) {
      if (lanes.lane[i] != lane) continue;
      const Moved& moved = lanes.moved[i];
      TraceEvent event{.name = names_.op(moved.issued.op),
                       .category = "transfer",
                       .arguments = siteArguments(moved.issued),
                       .flow = flowOf(process_, moved)};
      event.arguments.emplace_back("bytes", moved.bytes);
      event.arguments.emplace_back("transfers", moved.count);
      event.arguments.emplace_back("transfer", moved.transfer);
      event.arguments.emplace_back("first_byte", moved.first_byte);
      event.arguments.emplace_back("last_byte", moved.last_byte);
      event.arguments.emplace_back("done", moved.done);
      if (moved.taken.cycle >= 0) event.arguments.emplace_back("taken", moved.taken.cycle);
      trace_.begin(tracks[lane], names_.ns(moved.issued.cycle), event);
      trace_.end(tracks[lane], names_.ns(moved.done));
    }
  }
}

void Drawing::drawRate(std::string_view name, const std::vector<int64_t>& bytes) {
  if (std::all_of(bytes.begin(), bytes.end(), [](int64_t b) { return b == 0; })) return;
  const int64_t interval = events_.hbm.interval();
  const std::string description = fmt::format(
      "Bytes of transfers over {} cycles, the program's own code included (simulated). At most {:.4g} "
      "bytes/s, "
      "reads and writes together (datasheet).",
      interval, names_.hbm_bytes_per_second);
  const uint64_t on = counter(name, "bytes/s", description);
  const double per_second = static_cast<double>(names_.clock_hz) / static_cast<double>(interval);
  int64_t shown = -1;
  for (size_t i = 0; i <= bytes.size(); ++i) {
    const int64_t now = i < bytes.size() ? bytes[i] : 0;
    if (now != shown)
      trace_.count(on, names_.ns(static_cast<int64_t>(i) * interval), static_cast<double>(now) * per_second);
    shown = now;
  }
}

void Drawing::drawVmem() {
  const auto own = [&](int32_t listing) {
    const bool known = listing >= 0 && static_cast<size_t>(listing) < names_.kernels.size();
    return known ? names_.kernels[static_cast<size_t>(listing)].vmem_bytes : 0;
  };
  const uint64_t on =
      counter("VMEM allocated", "bytes",
              "What the program holds from start to end, and what the running kernel has beside "
              "it (compiler).");
  int64_t shown = -1;
  Cursor cursor;
  for (const Piece& piece : events_.operations.all()) {
    const int64_t begin = cursor.place(piece);
    const int64_t bytes = own(names_.top) + (piece.listing == names_.top ? 0 : own(piece.listing));
    if (bytes != shown) trace_.count(on, names_.ns(begin), static_cast<double>(bytes));
    shown = bytes;
  }
}

}  // namespace

uint64_t writeStep(TraceWriter& trace, const StepNames& names, int32_t core, const StepEvents& events) {
  return Drawing(trace, names, core, events).draw();
}

}  // namespace sublane::views
