// NumPy's .npz and .npy files: arrays that a user gives a program (`--inputs FILE.npz`).
//
// Entries may be stored or deflated; zip64, which numpy always writes, is understood. An array comes as its
// row-major bytes, little endian, with the type as the file names it: numpy has no bfloat16, and writes
// ml_dtypes' as raw values of two bytes ("|V2"). Arrays of Python objects are refused: they are programs.
//
//   SUBLANE_TRY(std::vector<io::NpyArray> arrays, io::readNpz("inputs.npz"));
//   for (const io::NpyArray& array : arrays) fmt::print("{} {}\n", array.name, array.dtype);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane::io {

struct NpyArray {
  std::string name;   // "arr_0", without .npy
  std::string dtype;  // "<f4", "|b1", "|V2"
  int64_t element_bytes = 0;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;  // row-major
};

/// In the order of the file. Errors (input), with file and entry: no zip file, an entry in a way of packing
/// that is not stored or deflated, a checksum or size that disagrees (both numbers), and parseNpy's.
Result<std::vector<NpyArray>> readNpz(const std::string& path);
Result<std::vector<NpyArray>> parseNpz(std::span<const std::byte> bytes, const std::string& source);

/// One .npy file. Errors: no such file, big-endian values, Python objects, columns first (fortran_order), a
/// size that disagrees with the shape (both numbers).
Result<NpyArray> parseNpy(std::span<const std::byte> bytes, const std::string& source);

/// The same, stored. Error: more than 4 GiB in all; the disk refused.
Status writeNpz(const std::string& path, const std::vector<NpyArray>& arrays);

/// What comes before the values in a .npy file: for arrays that are written as they are made.
std::string npyHeader(std::string_view dtype, std::span<const int64_t> shape);

/// "f32[8,128]" of shape and type as the program's texts name them; "V2[4]" for raw bytes.
std::string describe(const NpyArray& array);

}  // namespace sublane::io
