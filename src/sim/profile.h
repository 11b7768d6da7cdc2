// Where in the code time passed: how often each bundle ran, what was waited for at it, what each DMA
// instruction moved, which operation ran when. Kept beside the accounts of the machine, which know operations
// only. Private to the folder.
//
//   profile.pass(account, segment, count);    // at each flush
//   profile.stall(micro, cause, cycles);      // at each wait
//   profile.into(run);                        // at the end
#pragma once

#include <map>
#include <vector>

#include "sim/code.h"
#include "sim/sim.h"

namespace sublane::sim {

/// A DMA instruction of an operation.
struct TransferKey {
  int32_t site = -1, traced = -1;
  bool operator<(const TransferKey& other) const {
    return site != other.site ? site < other.site : traced < other.traced;
  }
};

class Profile {
 public:
  Profile(const llo::Program& program, const Code& code);

  void pass(int32_t traced, int32_t segment, int64_t count);
  /// Instructions that one execution of a segment issues.
  const llo::UnitCounts& issuedBy(int32_t segment) const { return issued_[static_cast<size_t>(segment)]; }

  void stall(int32_t micro, events::Cause cause, int64_t cycles);
  /// A transfer is issued; returns where its completion is to be told.
  int32_t issue(TransferKey key, int32_t function, int32_t bundle, const TransferShape& shape);
  void complete(int32_t use, int64_t cycles);
  void waited(int32_t use, int64_t cycles);

  /// From now on it is this operation that runs.
  void enter(int32_t traced, int64_t clock);

  void into(Run& run, int64_t clock);

 private:
  void addBundles(Run& run) const;
  void addWaits(Run& run) const;
  ListingProfile& profileOf(Run& run, int32_t listing) const;
  int32_t functionOf(int32_t micro) const;

  const llo::Program& program_;
  const Code& code_;
  std::vector<llo::UnitCounts> issued_;          // by segment
  std::vector<int64_t> executions_;              // by segment
  std::vector<events::CauseCycles> waits_;       // by function
  std::vector<int64_t> waited_;                  // by micro operation
  std::vector<std::vector<int32_t>> traced_of_;  // by listing
  std::vector<int32_t> last_traced_;             // by listing: what was added last
  std::map<TransferKey, int32_t> use_of_;
  std::vector<TransferProfile> uses_;
  std::vector<Stretch> timeline_;
  int64_t left_out_ = 0;
};

}  // namespace sublane::sim
