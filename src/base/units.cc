#include "base/units.h"

#include <fmt/format.h>

#include <cmath>

namespace sublane {
namespace {

// Three figures: "9.99", "99.9", "999"; rounding up to a fourth figure is the caller's to prevent.
std::string threeFigures(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string formatScaled(double value, std::string_view unit) {
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  const bool whole = prefix == 0 && value == std::floor(value);
  return fmt::format("{} {}{}", whole ? fmt::format("{:.0f}", value) : threeFigures(value), kPrefixes[prefix],
                     unit);
}

std::string formatBytes(double bytes) { return formatScaled(bytes, "B"); }
std::string formatBytesPerSecond(double rate) { return formatScaled(rate, "B/s"); }
std::string formatFlopsPerSecond(double rate) { return formatScaled(rate, "FLOP/s"); }
std::string formatHz(double hz) { return formatScaled(hz, "Hz"); }

std::string formatBinaryBytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1023.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == std::floor(value);
  return fmt::format("{} {}", whole ? fmt::format("{:.0f}", value) : threeFigures(value), kUnits[unit]);
}

std::string formatSeconds(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{} s", seconds);
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 999.5e-9) return threeFigures(seconds * 1e9) + " ns";
  if (size < 999.5e-6) return threeFigures(seconds * 1e6) + " us";
  if (size < 999.5e-3) return threeFigures(seconds * 1e3) + " ms";
  if (size < 119.95) return threeFigures(seconds) + " s";
  const int64_t whole = std::llround(size);
  return fmt::format("{}{} min {} s", seconds < 0 ? "-" : "", whole / 60, whole % 60);
}

std::string formatCount(int64_t count) {
  std::string digits = fmt::format("{}", count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace sublane
