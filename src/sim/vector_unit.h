// The vector side of a TensorCore, executed for values: vector and mask registers, VMEM, and the units that
// answer through FIFOs (MXU, XLU, EUP, vector-to-scalar).
//
// `prepare` turns the vector instructions of a listing into a compact form once; `execute` runs those of one
// bundle. The scalar unit, SMEM, sync flags, HBM and DMAs belong to the sequencer, which lends its registers
// and moves bytes of VMEM for its transfers. All reads of a bundle precede its writes: call `execute` before
// the bundle's scalar results are committed, and commit what it returns together with them.
//
//   VectorUnit vector({.chip = "v6e", .vmem_rows = 262144});
//   SUBLANE_TRY(int32_t kernel, vector.prepare(listing, addresses));
//   ScalarView scalars{.registers = s, .predicates = p};
//   std::vector<ScalarWrite> results;                             // of vector-to-scalar pops
//   if (!vector.execute(kernel, bundle, scalars, results)) return vector.takeError();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "llo/listing.h"

namespace sublane::sim {

inline constexpr int kSublanes = 8;
inline constexpr int kLanes = 128;
inline constexpr int kRowBytes = kLanes * 4;  // a row of VMEM: one sublane of 128 lanes
inline constexpr int kGranuleBytes = 32;      // what a DMA moves at least
/// Fills memory that nothing wrote: a signalling NaN as float32, a NaN as both halves of two bf16.
inline constexpr uint32_t kPoison = 0x7fa57fa5;

/// The sequencer's registers as a bundle finds them. Bit i of `predicates` is p_i.
struct ScalarView {
  const uint32_t* registers = nullptr;  // 32
  uint32_t predicates = 0;
};

/// A result for the scalar unit, to be committed with the bundle's own.
struct ScalarWrite {
  llo::Register reg;  // kScalar
  uint32_t value = 0;
  bool known = true;  // false: it depends on memory that nothing wrote; then `value` is kPoison
};

struct VectorOptions {
  std::string chip;
  int64_t vmem_rows = 0;
  bool track_writers = false;    // remember which bundle last wrote each row of VMEM
  bool guard_transfers = false;  // refuse to touch rows that a transfer under way reads or writes
};

/// Which bundle wrote a row: of the prepared listing `listing`; -1: none, or a DMA.
struct Writer {
  int32_t listing = -1, bundle = -1;
  bool transfer = false;  // the bundle began a transfer that brought what no bundle had stored
  bool operator==(const Writer&) const = default;
};

/// A load of memory that nothing wrote. It is no fault by itself: registers are loaded whole, and what is
/// padding is masked later. What depends on it stays marked: as words in VMEM that nothing wrote, in results
/// for the scalar unit that are not known.
struct UnwrittenLoad {
  int32_t listing = -1, bundle = -1;
  int64_t row = 0;
};

class VectorUnit {
 public:
  explicit VectorUnit(VectorOptions options);
  ~VectorUnit();
  VectorUnit(VectorUnit&&) noexcept;
  VectorUnit& operator=(VectorUnit&&) noexcept;

  /// Whether the vector side executes this instruction (else it is the sequencer's): vector registers, masks,
  /// loads and stores of VMEM, MXU, XLU, EUP, their pops, vpush and the spop that takes it, iar registers.
  static bool executes(const llo::Listing& listing, const llo::BundleInstruction& instruction);

  /// Decodes the vector instructions of `listing`, whose allocation i begins at addresses[i] (in units of its
  /// space). The same listing may be prepared again with other addresses. Returns the handle for `execute`.
  /// An instruction that isn't known is no error until it is executed.
  Result<int32_t> prepare(const llo::Listing& listing, std::span<const int64_t> addresses);

  /// The instructions of prepared listings that `execute` would refuse: "vweird.f32 (bundle 0x1f of
  /// fusion.1)".
  std::vector<std::string> unknown() const;

  /// Whether the bundle holds vector instructions at all.
  bool idle(int32_t listing, int32_t bundle) const;

  /// Executes the vector instructions of one bundle. False: `takeError` says what went wrong (an operation or
  /// form that isn't known, an empty FIFO, an address outside of VMEM).
  bool execute(int32_t listing, int32_t bundle, const ScalarView& scalars, std::vector<ScalarWrite>& results);
  Error takeError();

  /// For DMAs; `address` in bytes (row * 512), multiples of 4 as `bytes` is. Outside of VMEM: an error.
  /// `readVmem` returns how many of the words nothing wrote (they read as kPoison).
  Result<int64_t> readVmem(int64_t address, std::span<std::byte> bytes);
  Status writeVmem(int64_t address, std::span<const std::byte> bytes);
  /// From now on nothing wrote these rows: memory that a kernel is given, or a fault that a test makes.
  void forgetVmem(int64_t row, int64_t rows);
  /// Where they are tracked. A transfer carries the writer along with the data.
  Writer writerOf(int64_t row) const;
  void setWriter(int64_t row, Writer writer);
  /// A transfer into these rows (`incoming`), or out of them, begins or ends. With `guard_transfers`, until
  /// it ends a store into them is refused, and a load too while their data comes in.
  void claimVmem(int64_t row, int64_t rows, bool incoming, bool begins);
  /// The row whose claim the last refused bundle disregarded; -1: it was refused for something else.
  int64_t contestedRow() const;
  /// The first loads of memory that nothing wrote, each bundle once; at most 64.
  std::span<const UnwrittenLoad> unwrittenLoads() const;

  /// Registers, for tests and for showing state: 1024 words, sublane by sublane.
  std::span<uint32_t> vector(int index);
  /// 1024 words of all ones or zeros (of packed types: the halves or bytes of a word).
  std::span<uint32_t> mask(int index);

  /// Of all that was stored so far, in order, where writers are tracked.
  uint64_t storesHash() const;

  /// Vector bundles (with at least one vector instruction) and instructions executed so far.
  int64_t bundles() const;
  int64_t instructions() const;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sublane::sim
