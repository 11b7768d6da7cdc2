// One compiled function as libtpu lists it: VLIW bundles of typed instructions, and the memory that it names.
//
// The text is libtpu's `packed-bundles-post-ra` listing: one line is one cycle, empty bundles are the stalls
// that the compiler scheduled, registers are physical. All reads of a bundle precede its writes. The grammar,
// as far as it is known, is in docs/simulator.md. Text is foreign: every fault is an Error with its bundle.
//
//   SUBLANE_TRY(llo::Listing listing, llo::readListing(text, {.function = "fusion.1"}));
//   for (const llo::BundleInstruction& i : listing.of(listing.bundles[0x11])) fmt::print("{}\n", name(i.op));
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane::llo {

/// What executes an instruction. Pseudo instructions cost nothing and do nothing.
enum class Unit : uint8_t {
  kPseudo,
  kScalar,
  kVectorAlu,
  kVectorLoad,
  kVectorStore,
  kExtended,   // EUP: exponentials, reciprocals
  kCrossLane,  // XLU: transposes, lane reductions, permutes
  kMatrix,     // MXU
  kPop,        // takes a result from a unit's FIFO
  kDma,
  kSync,
  kControl,
  kMisc,
};
inline constexpr size_t kUnitCount = static_cast<size_t>(Unit::kMisc) + 1;
using UnitCounts = std::array<int64_t, kUnitCount>;
std::string_view name(Unit unit);

/// The operations by the words that say what is done ("vadd", "vadd.xlane", "sbr.rel"): operations.inc.
enum class Op : uint16_t {
#define SUBLANE_OPERATION(enumerator, text, unit) k##enumerator,
#include "llo/operations.inc"
#undef SUBLANE_OPERATION
};
std::string_view name(Op op);
Unit unitOf(Op op);

/// Memories, with the unit of an address: SMEM 4-byte words, VMEM rows of 512 bytes, sync flags by number,
/// HBM granules of 32 bytes (v5e: rows of 512 bytes until a shift by 4 makes granules of them).
/// kSparseCore: any memory of v6e's and tpu7x's SparseCore.
enum class Space : uint8_t { kNone, kSmem, kVmem, kHbm, kSyncFlag, kCmem, kHost, kSparseCore };
std::string_view name(Space space);

enum class RegisterFile : uint8_t { kNone, kScalar, kPredicate, kVector, kMask };
struct Register {
  RegisterFile file = RegisterFile::kNone;
  uint8_t index = 0;
  explicit operator bool() const { return file != RegisterFile::kNone; }
  bool operator==(const Register&) const = default;
};

/// Roles that libtpu writes before an operand (/*size_in_granules=*/); kNone: by position.
enum class Role : uint8_t {
  kNone,
  kVectorMask,
  kOnTrue,
  kOnFalse,
  kPredicate,
  kStoreSource,
  kHbm,
  kVmem,
  kSmem,
  kCmem,
  kSizeInGranules,
  kDstSyncFlag,
  kDstSyncFlag1,
  kSrcSyncFlag,
  kSrcStride,
  kDstStride,
  kStepsPerStride,
  kSrcAddress,
  kDstAddress,
  kHostLow,
  kHostHigh,
  kStrideDescriptor,
  kOverrides,
  kWidth,
  kVx,
  kVy,
  kPattern,
  kSource,
  kOther,
};

struct Operand {
  enum class Kind : uint8_t {
    kRegister,
    kInteger,     // `bits`; written as unsigned decimal, or as a pair of equal bf16 ("nan|nan")
    kFloat,       // `bits` of a float32
    kAllocation,  // address of an allocation plus `offset`
    kMemory,      // what lies at: space, base register or allocation, index register, offset, VMEM access
    kValue,       // an instruction without a register, by its SSA id: what a pop takes
  };
  Kind kind = Kind::kInteger;
  Role role = Role::kNone;
  Space space = Space::kNone;       // of kMemory
  Register reg;                     // kRegister; of kMemory the base, if it is a register
  Register index;                   // of kMemory: a second register that is added
  int32_t allocation = -1;          // of kAllocation, kMemory: index into Listing::allocations, or -1
  int32_t value = -1;               // SSA id of the register's or FIFO's value
  uint32_t bits = 0;                // of kMemory: the shuffle of "vld.sshfl", sublane k's source in nibble k
  int32_t offset = 0;               // in units of the space
  int32_t sublane_stride = 1;       // VMEM: rows from one sublane to the next ("ss"); 0: one row for all
  int32_t sublanes_per_stride = 1;  // ("sps"), see docs/simulator.md
  uint8_t sublane_mask = 0xff;      // VMEM ("sm"): sublanes that are loaded or stored
  Register mask;                    // VMEM: a scalar register that holds the sublane mask instead
};

/// One operation of a bundle. (llo::Instruction is HLO's.)
struct BundleInstruction {
  Op op{};
  int8_t unit_index = -1;  // 1 of ".mxu1", 0 of ".xlu0" and ".iar0"; a second unit stays in the form
  Register result;
  Register predicate;  // kNone: always
  bool predicate_negated = false;
  bool keeps_result = false;   // predicated with a second source: the result stays as it is otherwise
  int32_t value = -1;          // SSA id
  int32_t target = -1;         // of a branch: bundle number
  int32_t callee = -1;         // of an inlined call: index into Listing::callees
  uint32_t first_operand = 0;  // into Listing::operands
  uint16_t operand_count = 0;
  uint16_t form =
      0;  // index into Listing::forms: the words after the first, without the unit ("bf16.vlgmr.msra")
  int32_t remark = -1;  // of a check, a division, a general transfer, a wait: into remarks
  uint32_t part = 0;    // "[2/16]" of a transpose: 2 | 16 << 16; "[thread:$1]" of a DMA: 1; "mrb[5]": 5
};

struct Bundle {
  uint32_t first = 0;  // into Listing::instructions
  uint16_t count = 0;
  uint8_t depth = 0;        // of loops around it
  bool loop_start = false;  // "LB"
};

struct Allocation {
  std::string name;  // "allocation3", "allocation22_spill"
  std::string shape, tag;
  Space space = Space::kNone;
  int64_t bytes = 0,
          offset = -1;    // both in bytes, of every space (VMEM row = 512, sync flag = 4); -1: no place
  bool absolute = false;  // "fixed_abs": `offset` is an address; else relative to the function's memory
  bool scoped = false;
  bool spill = false;
};

/// A value that the caller passes to an inlined function, already in its register.
struct CallOperand {
  Register reg;
  Space space = Space::kNone;
  std::string shape;
  int32_t index = 0;  // -1: a table of addresses in SMEM that the caller made
  bool is_output = false;
};

struct Listing {
  std::string function;  // "TLP", "fusion.1", "<late-initialization>"
  std::vector<Bundle> bundles;
  std::vector<BundleInstruction> instructions;
  std::vector<Operand> operands;
  std::vector<Allocation> allocations;
  std::vector<CallOperand> call_operands;
  std::vector<std::string> forms;  // distinct; forms[0] is ""
  std::vector<std::string>
      callees;  // HLO operations that inlined calls name: "fusion.16", "<late-finalization>"
  std::vector<std::string>
      remarks;  // "BoundsCheck 0 [deref of opnd#2] for dma.hbm_to_vmem", "kRem", "vmem-to-vmem"; distinct

  std::span<const BundleInstruction> of(const Bundle& bundle) const {
    return std::span(instructions).subspan(bundle.first, bundle.count);
  }
  std::span<const Operand> operandsOf(const BundleInstruction& instruction) const {
    return std::span(operands).subspan(instruction.first_operand, instruction.operand_count);
  }
  const std::string& formOf(const BundleInstruction& instruction) const { return forms[instruction.form]; }
};

struct ListingOptions {
  std::string function;
  std::string compiler;       // "libtpu 0.0.52", for errors
  std::string_view memory{};  // text of the same function's allocation table (`post-delay-converter`), or its
                              // lines that hold "#allocation"
};

/// An instruction whose predicate is a constant that never holds is left out.
/// Errors: an operation that is not in operations.inc (named, with its bundle and the compiler), a line that
/// does not parse, a bundle number out of order, a branch out of range, an allocation that the table lacks.
Result<Listing> readListing(std::string_view text, const ListingOptions& options);

/// The listing as text in our own normal form: one line a bundle; goldens and diffs hold this.
std::string toText(const Listing& listing);
/// A bundle's instructions in the same form: "s1 = sadd.s32 s2, 4 ; vmatmul@0 ...".
std::string toText(const Listing& listing, const Bundle& bundle);

}  // namespace sublane::llo
