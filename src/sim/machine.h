// Executes decoded code: the scalar unit, SMEM, sync flags, branches and calls, DMAs over the memory system,
// and the vector unit where values are wanted; keeps the clock and accounts every cycle to a cause and to a
// traced operation. Private to the folder; simulate() drives it.
//
// A value that nobody knows (SMEM that nothing wrote, a result of vector work that was skipped, an argument
// that was not given) is carried along with its origin, and is a fault only where control, an address or a
// transfer depends on it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "sim/byte_store.h"
#include "sim/code.h"
#include "sim/memory_system.h"
#include "sim/placement.h"
#include "sim/profile.h"
#include "sim/slice.h"
#include "sim/vector_unit.h"
#include "sim/what_if.h"

namespace sublane::sim {

/// Why a value is not known.
struct Origin {
  enum class Kind : uint8_t { kUnwritten, kVector, kTransfer };
  Kind kind = Kind::kUnwritten;
  int32_t function = 0, bundle = 0;  // that loaded it, computed it, or moved it
  int32_t op = -1;                   // traced operation of that moment
  int64_t address = 0;               // kUnwritten: word of SMEM; kTransfer: byte of the source
  llo::Space space{};                // kTransfer: of the source
};

struct MachineOptions {
  MemoryTiming timing{};
  bool overlays = false;                  // parts of the code are fetched
  std::vector<WhatIfOptions> what_ifs{};  // runs beside this one
  bool fast_forward = true;               // of loops whose state repeats; never with events
  std::set<std::string> valued{};         // operations whose data is moved
  bool all_valued = false, top_valued = false;
  /// Data moves as late as the program allows: when it has waited for the transfer. What is touched before is
  /// a fault, and so is a transfer that nobody waits for.
  bool late_transfers = false;
  bool track_writers = false;
  int64_t most_bundles = 0;
  std::function<void(const events::Event&)> sink{};
  const std::atomic<bool>* cancel = nullptr;
  Slice slice{};                               // of the chips that run the program
  std::vector<std::vector<int64_t>> groups{};  // by traced operation: devices of its collective with this one
};

class Machine {
 public:
  Machine(const llo::Program& program, const Placement& placement, const Code& code, MachineOptions options,
          VectorUnit* vector);

  /// What the runtime prepares: SMEM words, the output table, the arguments' bytes.
  void prepare(const Inputs& inputs);

  /// Runs the program to its end. After an error, `missing` says which unknown value it is about, if it is.
  Status run();
  const std::optional<Origin>& missing() const { return missing_; }
  /// Whether the vector unit refused: its operation and bundle.
  const std::optional<Origin>& refused() const { return refused_; }

  /// Arguments whose bytes were moved for their values and were not given.
  const std::set<int32_t>& unknownArguments() const { return unknown_arguments_; }

  Run takeRun();
  const ByteStore& hbm() const { return hbm_; }
  /// Which bundle wrote a word of HBM, of a listing of the program; {-1, -1}: none, or it is not tracked.
  WrittenBy writerOf(int64_t hbm_byte) const;

  std::string place(int32_t function, int32_t bundle) const;  // "fusion.1, bundle 0x1f"
  std::string opName(int32_t op) const;                       // of a traced operation, or ""

 private:
  enum class Outcome : uint8_t { kDone, kFault, kSwitch };

  /// A transfer under way.
  struct Flight {
    int32_t site = 0, flag = 0, granules = 0, function = 0, bundle = 0, op = -1;
    int64_t source = 0, destination = 0;  // bytes
    int64_t bytes = 0, run_bytes = 0, source_stride = 0, destination_stride = 0;
    // After so many runs, the next begin further on; 0: never.
    int64_t inner_runs = 0, outer_source_stride = 0, outer_destination_stride = 0;
    bool move = false, active = false;
    int32_t added = 0, source_flag = -1;  // what completion adds to the flag; a second flag, or -1
    int32_t use = -1;                     // of the profile

    /// Calls `visit(source, destination, bytes)` for each contiguous run.
    template <class Visit>
    void forRuns(Visit visit) const {
      const int64_t run = run_bytes > 0 ? run_bytes : 1;
      for (int64_t done = 0, k = 0; done < bytes; done += run, ++k) {
        const int64_t outer = inner_runs > 0 ? k / inner_runs : 0, inner = k - outer * inner_runs;
        visit(source + outer * outer_source_stride + inner * source_stride,
              destination + outer * outer_destination_stride + inner * destination_stride,
              run < bytes - done ? run : bytes - done);
      }
    }
  };
  /// Transfers that are complete and not waited for yet, by flag. A wait for n granules takes the n that
  /// follow those that the program has taken off the flag.
  struct Landings {
    int64_t landed = 0, taken = 0;                    // granules
    std::deque<std::pair<int32_t, int64_t>> waiting;  // flight, granules landed before it
  };
  /// Transfers that are complete and were not told as taken, by flag; as Landings, in what the flag counts.
  struct Arrivals {
    int64_t landed = 0, taken = 0;
    std::deque<std::pair<int32_t, int64_t>> waiting;  // serial, landed before it
  };
  struct Account {
    int32_t traced = -1;
    OpTime time{};
  };
  struct Frame {
    int32_t back = 0, function = 0;
  };

  // machine_run.cc
  template <bool kShadow>
  Outcome execute();
  // machine.cc
  bool fault(std::string message);
  bool unknownUsed(uint32_t origin, const char* what);
  uint32_t originOf(const Origin& origin);
  int32_t currentOp() const { return op_stack_.empty() ? -1 : op_stack_.back(); }
  bool enterOp(uint32_t marker);
  void switchAccount(int32_t traced);
  void flush();
  bool tooLong();
  int64_t fastForward(const LoopPlan& plan);
  void addStall(events::Cause cause, int64_t cycles, int32_t transfer);
  bool callFunction(int32_t function);
  bool checkFailed(int32_t remark);
  // machine_events.cc
  void tell(events::Event event);
  void emitSegment(int32_t segment, int64_t end);
  void tellIssued(const Flight& flight, int32_t serial, events::Memory from, events::Memory to, bool link);
  void tellDone(const Flight& flight, const Transfer& transfer);
  void tellTaken(int32_t flag, int64_t until);
  void tellAllTaken(int32_t flag);
  void tellTheRest();
  // machine_overlay.cc
  bool enterOverlay(int32_t overlay);
  bool resident(int32_t overlay) const;
  void keepOverlay(int32_t overlay);
  void fetchOverlay(int32_t overlay);
  bool waitForOverlays();
  int32_t keepFlight(const Flight& flight);
  /// Behind the program's own.
  int32_t codeFlag() const { return static_cast<int32_t>(flags_.size()) - 1; }
  std::vector<Saving> savings();
  void tellWhatIfs(Do op, uint32_t flag, int32_t value);
  /// Something happens now: the runs beside this one come up to it first.
  template <class Visit>
  void forWhatIfs(Visit visit) {
    if (what_ifs_.empty()) return;
    flush();
    for (WhatIf& what_if : what_ifs_) visit(what_if);
  }
  bool smemFault(uint32_t address, const char* what);
  void smemLoadUnknown(int32_t reg, uint32_t address);
  std::string here() const { return place(function_, code_.bundles[static_cast<size_t>(pc_)]); }
  // machine_dma.cc
  bool waitFor(uint32_t flag, int32_t value);
  bool waitedFor(uint32_t flag, int32_t value);
  bool deliver(int64_t limit);
  bool complete(const Transfer& transfer);
  bool issue(const DmaSite& site);
  bool flagInRange(uint32_t flag);
  void moveData(const Flight& flight);
  bool readDescriptor(const DmaSite& site, Flight& flight);
  void moveRun(const Flight& flight, int64_t from, int64_t to, int64_t bytes);
  void forgetDestination(const Flight& flight);
  void fillTile(const Flight& flight);
  void noteUnknown(int64_t address);
  int64_t readSmem(int64_t address, std::span<std::byte> bytes) const;
  // machine_slice.cc
  void waitForOthers();
  void waitForOtherCore(uint32_t flag, int32_t value);
  void letOthersArrive();
  bool leaveChip(const DmaSite& site, Flight& flight, TransferShape& shape);
  void fillRoutingTable(const Flight& flight);
  std::string deadlock(uint32_t flag, int32_t value) const;
  std::string flagName(uint32_t flag) const;
  // machine_late.cc
  void begin(int32_t tag);
  void land(int32_t tag);
  void settle(int32_t flag, int64_t until);
  void settleAll(int32_t flag);
  void addToFlag(int32_t flag, int32_t value);
  void claim(const Flight& flight, bool begins);
  bool nothingIsLeft();
  std::string contest() const;
  void carryWriters(const Flight& flight, int64_t from, int64_t to, int64_t bytes);
  bool executeVector(int32_t bundle);
  bool commitVector();

  const llo::Program& program_;
  const Placement& placement_;
  const Code& code_;
  MachineOptions options_;
  VectorUnit* vector_;
  MemorySystem memory_;
  ByteStore hbm_, cmem_;

  std::vector<uint32_t> registers_, smem_,
      smem_origin_;                        // origin 0: known; 1: never written; else 2 + index into origins_
  std::vector<uint32_t> register_origin_;  // of registers below kConstants
  std::vector<int32_t> flags_;
  std::vector<int32_t> flag_fifo_;
  std::vector<std::pair<uint32_t, uint32_t>> divide_fifo_;  // value, origin
  std::vector<Origin> origins_;
  std::map<std::tuple<int, int32_t, int32_t, int32_t>, uint32_t> origin_places_;
  std::vector<Frame> frames_;
  std::vector<ScalarWrite> vector_results_;

  int32_t pc_ = 0, function_ = 0;
  int64_t clock_ = 0;
  int64_t jumps_left_ = 0, bundles_ = 0;
  std::vector<Flight> flights_;
  std::vector<int32_t> free_flights_;
  std::map<int32_t, Landings> landings_;
  std::map<int32_t, Arrivals> arrivals_;             // with a sink
  std::unordered_map<int64_t, Writer> hbm_writers_;  // by granule of 32 bytes, where they are tracked
  std::vector<char> valued_ops_;                     // of each traced operation

  std::vector<int64_t> counts_;  // of each segment since the last flush
  std::vector<int32_t> touched_;
  std::vector<Account> accounts_;
  std::vector<int32_t> account_of_;  // traced + 1 -> accounts_
  std::vector<int32_t> op_stack_;
  int32_t account_ = -1;
  Profile profile_;

  std::vector<WhatIf> what_ifs_;
  int32_t overlay_ = -1, code_granules_ = 0;  // of the code that was asked for
  std::vector<int32_t> residents_;            // overlays, the oldest first
  int64_t overlay_fetches_ = 0, overlay_bytes_ = 0;

  std::string message_;
  bool vector_fault_ = false;  // whose message already says where
  std::optional<Origin> missing_, refused_;
  std::set<int32_t> unknown_arguments_;
  std::map<int32_t, std::set<int64_t>> routing_tables_;  // of each collective: where in HBM it read one
  int64_t unchecked_ = 0, unmoved_host_ = 0;
};

}  // namespace sublane::sim
