// Chips: what is published about each TPU generation, as one data file a chip (v6e.json), built into the
// program. All numbers are of one PJRT device, which is the unit that a program is compiled for: a tpu7x
// chip is two devices, and a device of v4 and v5p joins two cores. Every number names its source.
//
//   SUBLANE_TRY(const chips::Chip* chip, chips::findChip("v6e"));
//   double seconds = bytes / chip->hbm_bytes_per_second;
//   fmt::print("{}\n", chip->numbers.at("clock_hz").source);
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/origin.h"
#include "base/result.h"

namespace sublane::chips {

struct Number {
  double value = 0;
  std::string unit;  // "FLOP/s", "B/s", "B", "Hz"
  Origin origin = Origin::kDatasheet;
  std::string source;      // where it was read
  std::string derivation;  // how it was made from what the source says; may be empty
};

struct Chip {
  std::string name;                                     // as in --chip: "v6e"
  std::string title;                                    // "TPU v6e (Trillium)"
  std::string device_kind;                              // as PJRT says: "TPU v6 lite"
  std::string topology;                                 // smallest one that libtpu compiles for: "v6e:1x1"
  std::map<std::string, std::string> topology_options;  // v4: {"chip_config_name", "megacore"}
  int64_t devices_per_chip = 1;
  int64_t cores_per_device = 1;
  std::map<std::string, Number> numbers;  // all that the file gives, by key

  // The numbers that every file must give.
  double bf16_flops = 0;  // FLOP/s of the MXUs
  double hbm_bytes_per_second = 0;
  double hbm_bytes = 0;         // published capacity
  double hbm_usable_bytes = 0;  // what the compiler lets a program have
  double vmem_bytes = 0;        // of one core
  double clock_hz = 0;
  // 0 where the makers publish none (then the MXU runs the type no faster than bf16).
  double int8_ops = 0, fp8_flops = 0, int4_ops = 0;
};

/// All chips, oldest first.
std::span<const Chip> allChips();
/// Error names the option that gave the name, and lists the chips.
Result<const Chip*> findChip(const std::string& name, std::string_view option = "--chip");

/// Reads one chip file. `where` is its name, for errors: unknown and missing keys, a number without a source.
Result<Chip> readChip(std::string_view json, const std::string& where);

}  // namespace sublane::chips
