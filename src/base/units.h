// Quantities that must not be mixed up, and how they are shown.
//
// Prefixes are decimal (1 MB = 10^6 bytes), three figures are kept, and the same value always gives the
// same text. Sizes of on-chip memories that the makers give in KiB or MiB use formatBinaryBytes.
//
//   Cycles cycles{1'200'000};
//   double seconds = secondsOf(cycles, Hz{1.75e9});
//   formatBytes(135'000'000)        // "135 MB"
//   formatBytesPerSecond(1.36e12)   // "1.36 TB/s"
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace sublane {

template <class Tag, class Number>
struct Quantity {
  Number count{};
  auto operator<=>(const Quantity&) const = default;
  Quantity& operator+=(Quantity other) {
    count += other.count;
    return *this;
  }
  friend Quantity operator+(Quantity a, Quantity b) { return {a.count + b.count}; }
  friend Quantity operator-(Quantity a, Quantity b) { return {a.count - b.count}; }
  friend Quantity operator*(Quantity a, Number times) { return {a.count * times}; }
};

using Bytes = Quantity<struct BytesTag, int64_t>;
using Cycles = Quantity<struct CyclesTag, int64_t>;
using Hz = Quantity<struct HzTag, double>;

inline double secondsOf(Cycles cycles, Hz clock) { return static_cast<double>(cycles.count) / clock.count; }

/// Three figures and a decimal prefix: ("B/s", 1.36e12) -> "1.36 TB/s"; ("B", 950) -> "950 B".
std::string formatScaled(double value, std::string_view unit);
std::string formatBytes(double bytes);          // "135 MB"
std::string formatBinaryBytes(int64_t bytes);   // "16 MiB", "31.2 GiB"
std::string formatBytesPerSecond(double rate);  // "1.36 TB/s"
std::string formatFlopsPerSecond(double rate);  // "918 TFLOP/s"
std::string formatHz(double hz);                // "1.75 GHz"
std::string formatSeconds(double seconds);      // "12.3 us", "1.50 ms", "2.00 s", "3 min 20 s"
std::string formatCount(int64_t count);         // "1,234,567"

}  // namespace sublane
