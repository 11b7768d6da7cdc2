// Where everything lies: an absolute address for each allocation of each listing, and for the program's
// parameters and outputs in HBM.
//
// What libtpu fixed ("fixed_abs") stays. The top-level program's memory comes first in each space; a kernel's
// is relative to what its caller has used. What libtpu leaves open (the program registry, HBM buffers) gets a
// free place. Addresses are in the units of the listings.
//
//   SUBLANE_TRY(Placement placement, place(program, model));
//   uint32_t word = placement.addresses[listing][allocation];
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llo/program.h"
#include "sim/sim.h"

namespace sublane::sim {

/// A buffer in HBM, in bytes.
struct HbmBuffer {
  int64_t begin = 0, bytes = 0;
};

struct Placement {
  std::vector<std::vector<int64_t>> addresses;  // [listing][allocation]
  std::vector<HbmBuffer> parameters, outputs;   // an output that takes over a parameter's buffer shares it
  HbmBuffer output_table;                       // of a program that returns a tuple; empty otherwise
  int64_t smem_words = 0, vmem_rows = 0, sync_flags = 0;
  int64_t hbm_address_bytes = 32;  // unit of an HBM address in the listings
  int64_t dma_granule_bytes = 32;  // unit of a transfer's size, strides and VMEM address

  uint32_t hbmAddress(const HbmBuffer& buffer) const {
    return static_cast<uint32_t>(buffer.begin / hbm_address_bytes);
  }
};

/// Errors: HBM addresses that do not fit 32 bits.
Result<Placement> place(const llo::Program& program, const ChipModel& model);

/// Bytes of one unit of an address: 4, 512, 4 (sync flags are listed in bytes), or HBM's.
int64_t unitBytes(llo::Space space, int64_t hbm_address_bytes);

}  // namespace sublane::sim
