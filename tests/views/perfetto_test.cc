// A trace of events made by hand, decoded and held against them.
#include "views/perfetto.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <random>
#include <set>

#include "base/paths.h"
#include "trace_decoder.h"

namespace sublane::views {
namespace {

using events::Cause, events::Event, events::Kind, events::Memory;

/// 1.75 GHz, so that a cycle is no whole number of ns.
sim::ChipModel model() {
  sim::ChipModel model;
  model.chip = "test-chip";
  model.hash = "hash-of-the-model";
  model.clock_hz = 1.75e9;
  model.hbm_peak_bytes_per_second = 1e12;
  return model;
}
int64_t ns(int64_t cycle) { return cycle * 4 / 7; }

/// Three operations: two of one layer, and one that has no place.
llo::Program program() {
  llo::Program program;
  llo::Computation main{.name = "main"};
  const auto add = [&](const std::string& name, const std::string& place, int32_t line) {
    llo::Instruction at{.name = name, .opcode = "fusion"};
    at.metadata = {place, line > 0 ? "model.py" : "", line};
    program.traced.push_back({name, static_cast<int32_t>(main.instructions.size()), 0});
    main.instructions.push_back(at);
  };
  add("fusion.1", "layer.3/attention.qkv/dot", 42);
  add("fusion.2", "layer.3/mlp.up/dot", 57);
  add("copy.9", "", 0);
  main.root = 2;
  program.module.computations.push_back(main);
  program.listings.resize(2);
  program.listings[0].function = "TLP";
  program.listings[0].allocations.push_back({.space = llo::Space::kVmem, .bytes = 4096, .offset = 0});
  program.listings[1].function = "kernel.1";
  // Two that share a place, and one of another memory.
  program.listings[1].allocations.push_back({.space = llo::Space::kVmem, .bytes = 1024, .offset = 0});
  program.listings[1].allocations.push_back({.space = llo::Space::kVmem, .bytes = 1024, .offset = 512});
  program.listings[1].allocations.push_back({.space = llo::Space::kSmem, .bytes = 8192, .offset = 0});
  return program;
}

class Perfetto : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    path_ = folder_->path() + "/t.pftrace";
  }
  PerfettoTrace create(const PerfettoOptions& options = {}) {
    Result<PerfettoTrace> trace = PerfettoTrace::create(path_, options);
    EXPECT_TRUE(trace.ok());
    return std::move(*trace);
  }
  std::string bytes() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Of one step, "decode".
  DecodedTrace traceOf(const std::vector<Event>& events, const PerfettoOptions& options = {}) {
    PerfettoTrace trace = create(options);
    const report::EventSink sink = trace.sinkFor("decode", program(), model());
    for (const Event& event : events) sink(event);
    EXPECT_TRUE(trace.finish().ok());
    DecodedTrace decoded = decodeTrace(bytes());
    EXPECT_EQ(decoded.fault, "");
    return decoded;
  }
  std::optional<TemporaryDirectory> folder_;
  std::string path_;
};

const std::string kCore = "decode, core 0";

/// Makes events of cycles, one after the other.
struct Clock {
  std::vector<Event> events{};
  int64_t now = 0;
  Clock& pass(Cause cause, int64_t cycles, int32_t op, int32_t listing, int32_t bundle) {
    events.push_back(
        {.cycle = now, .duration = cycles, .cause = cause, .op = op, .listing = listing, .bundle = bundle});
    now += cycles;
    return *this;
  }
};

std::vector<Event> example() {
  Clock clock;
  clock.pass(Cause::kLaunch, 100, -1, 0, 0);
  clock.pass(Cause::kIssueScalar, 10, 0, 0, 100);
  clock.events.push_back({.cycle = clock.now,
                          .kind = Kind::kIssued,
                          .cause = Cause::kDma,
                          .op = 0,
                          .listing = 0,
                          .bundle = 110,
                          .bytes = 2048,
                          .transfer = 0,
                          .from = Memory::kHbm,
                          .to = Memory::kVmem});
  clock.pass(Cause::kIssueMatrix, 8, 0, 1, 0).pass(Cause::kIssueMatrix, 2, 0, 1, 8);
  clock.pass(Cause::kDependencyMatrix, 60, 0, 1, 10);
  clock.events.push_back({.cycle = 400,
                          .kind = Kind::kDone,
                          .op = 0,
                          .listing = 0,
                          .bundle = 110,
                          .transfer = 0,
                          .first_byte = 210,
                          .last_byte = 400});
  clock.events.push_back({.cycle = clock.now,
                          .duration = 400 - clock.now,
                          .cause = Cause::kDmaLatency,
                          .op = 0,
                          .listing = 1,
                          .bundle = 70,
                          .transfer = 0});
  clock.now = 400;
  clock.events.push_back(
      {.cycle = 400, .kind = Kind::kTaken, .op = 0, .listing = 1, .bundle = 70, .transfer = 0});
  clock.pass(Cause::kIssueOther, 3, 2, 0, 120);  // no place: between two parts of one layer
  clock.pass(Cause::kIssueVectorAlu, 50, 1, 0, 123);
  clock.events.push_back({.cycle = clock.now,
                          .kind = Kind::kIssued,
                          .op = 1,
                          .listing = 0,
                          .bundle = 173,
                          .bytes = 512,
                          .transfer = 1,
                          .from = Memory::kVmem,
                          .to = Memory::kHbm});
  clock.pass(Cause::kLaunch, 7, -1, 0, 173);
  // Nobody waits for it, and it ends behind the program.
  clock.events.push_back(
      {.cycle = 900, .kind = Kind::kDone, .transfer = 1, .first_byte = 453, .last_byte = 480});
  return clock.events;
}

TEST_F(Perfetto, TracksStandInTheirOrder) {
  const DecodedTrace trace = traceOf(example());
  EXPECT_EQ(
      tracksOf(trace, kCore),
      (std::vector<std::string>{"step", "operations", "MXU", "vector ALU", "scalar", "waits for transfers",
                                "launch, and between operations", "other", "issues", "DMA hbm to vmem",
                                "DMA vmem to hbm", "takes", "HBM read", "HBM written", "VMEM allocated"}));
  ASSERT_EQ(trace.tracks[0].process, kCore);
  EXPECT_EQ(trace.tracks[0].ordering, 3u) << "children by their rank";
  EXPECT_NE(trace.tracks[0].pid, 0u);
}

TEST_F(Perfetto, OperationsNestInTheirPlaces) {
  DecodedTrace trace = traceOf(example());
  std::string text;
  for (const DecodedSlice& slice : slicesOf(trace, kCore, "operations")) {
    text +=
        fmt::format("{}{} [{}, {}) {} {}\n", std::string(2 * slice.depth - 2, ' '), slice.name, slice.begin,
                    slice.end, slice.arguments.number("cycles"), slice.arguments.text("source"));
  }
  EXPECT_EQ(trace.fault, "");
  EXPECT_EQ(text, fmt::format("(outside of operations) [0, {0}) 100 \n"
                              "layer 3 [{0}, {5}) 353 \n"
                              "  attention.qkv [{0}, {3}) 300 \n"
                              "    fusion.1 [{0}, {3}) 300 model.py:42\n"
                              "      kernel.1 [{1}, {3}) 290 \n"
                              "  copy.9 [{3}, {4}) 3 \n"
                              "  mlp.up [{4}, {5}) 50 \n"
                              "    fusion.2 [{4}, {5}) 50 model.py:57\n"
                              "(outside of operations) [{5}, {6}) 7 \n",
                              ns(100), ns(110), 0, ns(400), ns(403), ns(453), ns(460)));
}

TEST_F(Perfetto, UnitsShowWhatTheyIssueAndWaitFor) {
  DecodedTrace trace = traceOf(example());
  const std::vector<DecodedSlice> mxu = slicesOf(trace, kCore, "MXU");
  ASSERT_EQ(mxu.size(), 2u) << "what follows one another is one";
  EXPECT_EQ(mxu[0].name, "issue:mxu");
  EXPECT_EQ(mxu[0].category, "issue");
  EXPECT_EQ(mxu[0].begin, ns(110));
  EXPECT_EQ(mxu[0].end, ns(120));
  EXPECT_EQ(mxu[0].arguments.number("cycle"), 110);
  EXPECT_EQ(mxu[0].arguments.number("cycles"), 10);
  EXPECT_EQ(mxu[0].arguments.number("bundle"), 0);
  EXPECT_EQ(mxu[0].arguments.text("op"), "fusion.1");
  EXPECT_EQ(mxu[0].arguments.text("kernel"), "kernel.1");
  EXPECT_EQ(mxu[0].arguments.text("source"), "model.py:42");
  EXPECT_EQ(mxu[1].name, "dependency:mxu");
  EXPECT_EQ(mxu[1].category, "stall");
  const std::vector<DecodedSlice> waits = slicesOf(trace, kCore, "waits for transfers");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].name, "dma_latency");
  EXPECT_EQ(waits[0].arguments.number("transfer"), 0);
  EXPECT_EQ(trace.fault, "");
}

TEST_F(Perfetto, FlowsLeadFromTheIssueToTheWait) {
  DecodedTrace trace = traceOf(example());
  const std::vector<DecodedSlice> in = slicesOf(trace, kCore, "DMA hbm to vmem"),
                                  out = slicesOf(trace, kCore, "DMA vmem to hbm");
  ASSERT_EQ(in.size(), 1u);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(in[0].begin, ns(110));
  EXPECT_EQ(in[0].end, ns(400));
  EXPECT_EQ(in[0].name, "fusion.1");
  EXPECT_EQ(in[0].arguments.number("bytes"), 2048);
  EXPECT_EQ(in[0].arguments.number("bundle"), 110);
  EXPECT_EQ(in[0].arguments.number("first_byte"), 210);
  EXPECT_EQ(in[0].arguments.number("taken"), 400);
  EXPECT_EQ(out[0].arguments.number("taken"), -1);
  EXPECT_EQ(out[0].end, ns(900));
  std::vector<std::string> steps;  // of the flow of the first transfer
  for (const DecodedEvent& event : trace.events) {
    for (const uint64_t flow : event.flows)
      if (flow == in[0].flows.at(0)) steps.push_back(fmt::format("{} at {}", event.type, event.ns));
    for (const uint64_t flow : event.flow_ends) {
      EXPECT_EQ(flow, in[0].flows.at(0)) << "the second one is taken by nobody";
      steps.push_back(fmt::format("{} at {}, the end", event.type, event.ns));
    }
  }
  EXPECT_EQ(steps, (std::vector<std::string>{fmt::format("3 at {}", ns(110)), fmt::format("1 at {}", ns(110)),
                                             fmt::format("3 at {}, the end", ns(400))}));
  EXPECT_NE(out[0].flows.at(0), in[0].flows.at(0));
}

TEST_F(Perfetto, TotalsAreExact) {
  DecodedTrace trace = traceOf(example());
  const std::vector<DecodedSlice> step = slicesOf(trace, kCore, "step");
  ASSERT_EQ(step.size(), 1u);
  const DecodedArguments& totals = step[0].arguments;
  EXPECT_EQ(step[0].end, ns(460));
  EXPECT_EQ(totals.number("cycles"), 460);
  EXPECT_EQ(totals.number("transfers"), 2);
  EXPECT_EQ(totals.number("hbm_read_bytes"), 2048);
  EXPECT_EQ(totals.number("hbm_write_bytes"), 512);
  EXPECT_EQ(totals.number("clock_hz"), 1750000000);
  EXPECT_EQ(totals.text("model"), "hash-of-the-model");
  EXPECT_EQ(totals.text("origin"), "simulated");
  EXPECT_EQ(totals.parts.at("seen"), (std::map<std::string, int64_t>{{"issue:scalar", 10},
                                                                     {"issue:mxu", 10},
                                                                     {"issue:valu", 50},
                                                                     {"issue:other", 3},
                                                                     {"dependency:mxu", 60},
                                                                     {"dma_latency", 220},
                                                                     {"launch", 107}}));
  EXPECT_EQ(totals.text("note_units"), "") << "nothing was left out";
}

/// Bytes under a counter of bytes/s.
double bytesUnder(const DecodedTrace& trace, const std::string& name, double* highest = nullptr) {
  double bytes = 0, rate = 0;
  int64_t since = 0;
  for (const DecodedTrack& track : trace.tracks) {
    if (track.name != name) continue;
    EXPECT_TRUE(track.counter);
    EXPECT_EQ(track.unit, "bytes/s");
    for (const DecodedEvent& event : trace.events) {
      if (event.track != track.uuid) continue;
      bytes += rate * static_cast<double>(event.ns - since) * 1e-9;
      rate = event.value;
      since = event.ns;
      if (highest != nullptr) *highest = std::max(*highest, rate);
    }
  }
  EXPECT_EQ(rate, 0) << "it ends";
  return bytes;
}

TEST_F(Perfetto, CountersIntegrateToTheBytes) {
  const DecodedTrace trace = traceOf(example());
  EXPECT_NEAR(bytesUnder(trace, "HBM read"), 2048, 0.02 * 2048);
  EXPECT_NEAR(bytesUnder(trace, "HBM written"), 512, 0.02 * 512);
  std::vector<std::pair<int64_t, double>> vmem;
  for (const DecodedTrack& track : trace.tracks) {
    for (const DecodedEvent& event : trace.events)
      if (track.name == "VMEM allocated" && event.track == track.uuid)
        vmem.emplace_back(event.ns, event.value);
  }
  EXPECT_EQ(vmem, (std::vector<std::pair<int64_t, double>>{
                      {0, 4096.0}, {ns(110), 4096.0 + 1536}, {ns(400), 4096.0}}));
}

/// Many short pieces with many transfers, some of them at once.
std::vector<Event> many(int64_t pieces) {
  std::mt19937 random(7);
  Clock clock;
  int32_t transfer = 0;
  std::vector<Event> later;
  for (int64_t i = 0; i < pieces; ++i) {
    const auto op = static_cast<int32_t>(random() % 4) - 1;
    const auto cause = static_cast<Cause>(random() % events::kCauseCount);
    clock.pass(cause, 1 + random() % 9, op, static_cast<int32_t>(random() % 2), static_cast<int32_t>(i));
    if (i % 7 != 0) continue;
    const int64_t first = clock.now + 100, last = first + 1 + random() % 3000;
    const bool read = random() % 3 != 0;
    clock.events.push_back({.cycle = clock.now,
                            .kind = Kind::kIssued,
                            .op = op,
                            .listing = 0,
                            .bundle = 5,
                            .bytes = 32 * (1 + static_cast<int64_t>(random() % 64)),
                            .transfer = transfer,
                            .from = read ? Memory::kHbm : Memory::kVmem,
                            .to = read ? Memory::kVmem : Memory::kHbm});
    later.push_back({.cycle = last + 5,
                     .kind = Kind::kDone,
                     .transfer = transfer++,
                     .first_byte = first,
                     .last_byte = last});
    if (later.size() < 200) continue;  // told when a wait looks, all at once
    for (Event& done : later) {
      clock.events.push_back(done);
      done.kind = Kind::kTaken;
      done.cycle = clock.now;
      clock.events.push_back(done);
    }
    later.clear();
  }
  clock.events.insert(clock.events.end(), later.begin(), later.end());
  return clock.events;
}

struct Sums {
  std::map<std::string, int64_t> causes, ops;
  int64_t read = 0, written = 0, transfers = 0, cycles = 0;
  bool operator==(const Sums&) const = default;
};

Sums sumsOf(const std::vector<Event>& events) {
  const char* const kNames[] = {"(outside of operations)", "fusion.1", "fusion.2", "copy.9"};
  Sums sums;
  for (const Event& event : events) {
    if (event.kind == Kind::kCycles) {
      sums.causes[std::string(events::name(event.cause))] += event.duration;
      sums.ops[kNames[event.op + 1]] += event.duration;
      sums.cycles += event.duration;
    }
    if (event.kind != Kind::kIssued) continue;
    ++sums.transfers;
    (event.from == Memory::kHbm ? sums.read : sums.written) += event.bytes;
  }
  return sums;
}

/// Of what the slices say, with everything that must hold of them.
Sums sumsOf(DecodedTrace& trace, size_t& work, size_t& transfers, size_t& lanes) {
  Sums sums;
  std::set<uint64_t> tracks;
  work = transfers = 0;
  const std::vector<std::string> names = tracksOf(trace, kCore);
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    const std::vector<DecodedSlice> slices = slicesOf(trace, kCore, name);
    for (const DecodedSlice& slice : slices) {
      const int64_t cycles = slice.arguments.number("cycles");
      if (name == "step") {
        sums.cycles = cycles;
      } else if (name == "operations") {
        if (slice.category == "operation") sums.ops[slice.name] += cycles;
      } else if (name.starts_with("DMA")) {
        (name == "DMA hbm to vmem" ? sums.read : sums.written) += slice.arguments.number("bytes");
        sums.transfers += slice.arguments.number("transfers");
        tracks.insert(slice.track);
        ++transfers;
      } else {
        EXPECT_EQ(slice.depth, 1u) << "slices of a unit stand beside one another";
        EXPECT_NEAR(static_cast<double>(slice.end - slice.begin), static_cast<double>(cycles) * 4 / 7, 1);
        sums.causes[slice.name] += cycles;
        ++work;
      }
    }
  }
  lanes = tracks.size();
  EXPECT_EQ(trace.fault, "");
  return sums;
}

TEST_F(Perfetto, CoarseOrFineTheSumsAreTheEvents) {
  const std::vector<Event> events = many(20'000);
  const Sums told = sumsOf(events);
  for (const auto& [slices, transfers] :
       {std::pair<size_t, size_t>{1'000'000, 1'000'000}, {5'000, 500}, {300, 40}, {1, 1}}) {
    SCOPED_TRACE(slices);
    DecodedTrace trace = traceOf(events, {.most_slices = slices, .most_transfers = transfers});
    size_t work = 0, moved = 0, lanes = 0;
    EXPECT_EQ(sumsOf(trace, work, moved, lanes), told);
    const DecodedArguments totals = slicesOf(trace, kCore, "step").at(0).arguments;
    EXPECT_EQ(totals.parts.at("seen"), told.causes);
    EXPECT_EQ(totals.number("transfers"), told.transfers);
    EXPECT_EQ(totals.number("hbm_read_bytes"), told.read);
    const bool fine = slices == 1'000'000;
    EXPECT_EQ(totals.text("note_units").empty(), fine);
    EXPECT_EQ(totals.text("note_operations").empty(), fine);
    EXPECT_EQ(totals.text("note_transfers").empty(), fine);
    // What cannot be joined any more is one for each cause, operation and kernel.
    EXPECT_LE(work, std::max<size_t>(slices, events::kCauseCount * 4 * 2));
    EXPECT_LE(moved, std::max<size_t>(transfers, 2 * 4));
    if (fine) {
      EXPECT_GT(work, 19'000u);
    }
    EXPECT_LE(lanes, 2u * 32);
    EXPECT_NEAR(bytesUnder(trace, "HBM read"), static_cast<double>(told.read), 1e-3 * told.read);
    EXPECT_NEAR(bytesUnder(trace, "HBM written"), static_cast<double>(told.written), 1e-3 * told.written);
  }
}

TEST_F(Perfetto, FlowsOfManyPair) {
  const std::vector<Event> events = many(3'000);
  const DecodedTrace trace = traceOf(events);
  std::map<uint64_t, int> begun, ended;
  std::map<uint64_t, int64_t> since;
  for (const DecodedEvent& event : trace.events) {
    for (const uint64_t flow : event.flows) {
      begun[flow] += event.type == 3;
      since.try_emplace(flow, event.ns);
      EXPECT_EQ(since[flow], event.ns) << "the transfer begins where it is issued";
    }
    for (const uint64_t flow : event.flow_ends) {
      ++ended[flow];
      EXPECT_LE(since[flow], event.ns);
    }
  }
  EXPECT_EQ(begun.size(), 429u);  // every seventh of 3000
  EXPECT_EQ(ended.size(), 400u);
  for (const auto& [flow, times] : begun) EXPECT_EQ(times, 1);
  for (const auto& [flow, times] : ended) {
    EXPECT_EQ(times, 1);
    EXPECT_TRUE(begun.contains(flow));
  }
}

TEST_F(Perfetto, SharedBandwidthIsSpreadAsItIsShared) {
  // A long transfer, and beside its second half another one: together they never go faster than one alone.
  std::vector<Event> events = Clock().pass(Cause::kIssueScalar, 6400, -1, 0, 0).events;
  const auto move = [&](int32_t number, int64_t bytes, int64_t first, int64_t last) {
    events.push_back({.cycle = first,
                      .kind = Kind::kIssued,
                      .bytes = bytes,
                      .transfer = number,
                      .from = Memory::kHbm,
                      .to = Memory::kVmem});
    events.push_back(
        {.cycle = last, .kind = Kind::kDone, .transfer = number, .first_byte = first, .last_byte = last});
  };
  move(0, 3200 * 100 + 3200 * 50, 0, 6400);
  move(1, 3200 * 50, 3200, 6400);
  double highest = 0;
  const DecodedTrace trace = traceOf(events);
  EXPECT_NEAR(bytesUnder(trace, "HBM read", &highest), 6400 * 100, 700);
  EXPECT_NEAR(highest, 100 * 1.75e9, 1e9);
}

TEST_F(Perfetto, EachStepAndCoreIsAProcess) {
  PerfettoTrace trace = create();
  for (const char* step : {"decode", "prefill"}) {
    const report::EventSink sink = trace.sinkFor(step, program(), model());
    for (Event event : example()) {
      sink(event);
      if (step != std::string("prefill") || event.kind != Kind::kCycles) continue;
      event.core = 1;
      sink(event);
    }
  }
  EXPECT_FALSE(std::ifstream(path_).good()) << "nothing half";
  ASSERT_TRUE(trace.finish().ok());
  DecodedTrace decoded = decodeTrace(bytes());
  std::vector<std::string> processes;
  std::set<uint64_t> pids;
  for (const DecodedTrack& track : decoded.tracks) {
    if (track.process.empty()) continue;
    processes.push_back(track.process);
    pids.insert(track.pid);
  }
  EXPECT_EQ(processes, (std::vector<std::string>{kCore, "prefill, core 0", "prefill, core 1"}));
  EXPECT_EQ(pids.size(), 3u);
  EXPECT_EQ(slicesOf(decoded, "prefill, core 1", "step").at(0).arguments.number("cycles"), 460);
  EXPECT_EQ(slicesOf(decoded, "prefill, core 0", "step").at(0).begin, 0) << "each step begins at 0";
}

TEST_F(Perfetto, NamesOfForeignProgramsAreMadeSafe) {
  llo::Program foreign = program();
  foreign.traced[0].name = std::string("a\x1b\xff") + std::string(1 << 20, 'x');
  PerfettoTrace trace = create();
  const report::EventSink sink = trace.sinkFor("decode\n", foreign, model());
  for (const Event& event : example()) sink(event);
  ASSERT_TRUE(trace.finish().ok());
  const DecodedTrace decoded = decodeTrace(bytes());
  EXPECT_EQ(decoded.fault, "");
  EXPECT_EQ(decoded.tracks[0].process, "decode\\x0a, core 0");
  EXPECT_TRUE(std::any_of(decoded.events.begin(), decoded.events.end(), [](const DecodedEvent& event) {
    return event.name.starts_with("a\\x1b\\xffxxx") && event.name.size() < 5000;
  }));
}

TEST_F(Perfetto, TheSameEventsGiveTheSameBytes) {
  traceOf(many(500));
  const std::string first = bytes();
  traceOf(many(500));
  EXPECT_EQ(first, bytes());
}

// ---- with a report

report::Simulation simulation(report::Rung rung) {
  report::Simulation simulation;
  simulation.compiler = "a compiler";
  report::SimulatedStep step;
  step.name = "decode";
  step.rung = rung;
  step.reason = "a word that is not known";
  step.hint = "another chip";
  step.us = 12.5;
  step.cycles = 460;
  step.causes[static_cast<size_t>(Cause::kDmaEither)] = 460;
  simulation.steps.push_back(step);
  return simulation;
}

TEST_F(Perfetto, TheReportStandsBesideTheEvents) {
  PerfettoTrace trace = create();
  const report::EventSink sink = trace.sinkFor("decode", program(), model());
  for (const Event& event : example()) sink(event);
  ASSERT_TRUE(trace.finish(simulation(report::Rung::kBundles)).ok());
  DecodedTrace decoded = decodeTrace(bytes());
  const std::vector<DecodedSlice> report = slicesOf(decoded, "decode, report", "report");
  ASSERT_EQ(report.size(), 1u);
  EXPECT_EQ(report[0].end, 12500);
  EXPECT_EQ(report[0].arguments.number("cycles"), 460);
  EXPECT_EQ(report[0].arguments.reals.at("us"), 12.5);
  EXPECT_EQ(report[0].arguments.text("rung"), "bundles");
  EXPECT_EQ(report[0].arguments.parts.at("causes"), (std::map<std::string, int64_t>{{"dma_either", 460}}));
  EXPECT_EQ(decoded.fault, "");
}

TEST_F(Perfetto, WithoutAnyEventsThereIsNoTrace) {
  {
    PerfettoTrace trace = create();
    const Status status = trace.finish(simulation(report::Rung::kCompiler));
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message().find("a word that is not known"), std::string::npos)
        << status.error().message();
    EXPECT_EQ(status.error().hint(), "another chip");
  }
  EXPECT_FALSE(std::ifstream(path_).good());
}

TEST_F(Perfetto, AFolderThatIsNotThereIsNamed) {
  EXPECT_NE(PerfettoTrace::create("/no/such/folder/t").error().message().find("/no/such/folder/t"),
            std::string::npos);
}

}  // namespace
}  // namespace sublane::views
