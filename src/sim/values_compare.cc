#include "sim/values_compare.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "formats/narrow_float.h"
#include "sim/layout.h"
#include "sim/vector_unit.h"

namespace sublane::sim {
namespace {

using llo::ElementType;

template <class T>
double read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

/// Half a unit in the last place of a number near 1.
double rounding(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return 0x1p-24;
    case ElementType::kF16:
      return 0x1p-11;
    case ElementType::kBF16:
      return 0x1p-8;
    case ElementType::kF8E4M3FN:
      return 0x1p-4;
    case ElementType::kF8E5M2:
      return 0x1p-3;
    default:
      return 0;
  }
}

bool hasNumbers(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS4:
    case ElementType::kU4:
    case ElementType::kS8:
    case ElementType::kU8:
    case ElementType::kS16:
    case ElementType::kU16:
    case ElementType::kS32:
    case ElementType::kU32:
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64:
      return true;
    default:
      return false;
  }
}

}  // namespace

Bound boundOf(const Arithmetic& a) {
  constexpr double kF32 = 0x1p-24, kBf16 = 0x1p-8;
  // Two ways to round may differ by a whole unit: the interval's ends are a half unit each.
  Bound bound{.relative = 2 * rounding(a.type) * a.roundings};
  if (a.terms > 0) bound.absolute += 2 * static_cast<double>(a.terms) * kF32 * a.magnitude;
  if (a.rounded_operands) bound.absolute += 2 * kBf16 * a.magnitude;
  // The C library and XLA's polynomials are each good to about four units.
  bound.relative += 16 * kF32 * a.functions;
  return bound;
}

double numberAt(ElementType type, std::span<const std::byte> host, int64_t element) {
  const std::byte* at = host.data() + element * ((llo::bitsOf(type) + 7) / 8);
  switch (type) {
    case ElementType::kS4:
    case ElementType::kS8:
      return read<int8_t>(at);
    case ElementType::kS16:
      return read<int16_t>(at);
    case ElementType::kU16:
      return read<uint16_t>(at);
    case ElementType::kS32:
      return read<int32_t>(at);
    case ElementType::kU32:
      return read<uint32_t>(at);
    case ElementType::kF16:
      return static_cast<double>(formats::widenF16(static_cast<uint16_t>(read<uint16_t>(at))));
    case ElementType::kBF16:
      return static_cast<double>(formats::widenBf16(static_cast<uint16_t>(read<uint16_t>(at))));
    case ElementType::kF32:
      return static_cast<double>(read<float>(at));
    case ElementType::kF64:
      return read<double>(at);
    default:
      return read<uint8_t>(at);
  }
}

Result<Comparison> compareValues(const llo::Shape& shape, std::span<const std::byte> got,
                                 std::span<const std::byte> want, const Bound& bound) {
  if (shape.isTuple() || !hasNumbers(shape.type))
    return inputError("{}: its elements are no numbers that can be compared", llo::toString(shape));
  const size_t bytes = static_cast<size_t>(hostBytes(shape));
  if (got.size() != bytes || want.size() != bytes)
    return inputError("{}: {} and {} bytes to compare, not {}", llo::toString(shape), got.size(), want.size(),
                      bytes);
  Comparison c{.elements = llo::elementCount(shape)};
  for (int64_t i = 0; i < c.elements; ++i) {
    const double a = numberAt(shape.type, got, i), b = numberAt(shape.type, want, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double apart = std::fabs(a - b);
    if (!std::isnan(apart)) c.worst = std::max(c.worst, apart);
    if (apart <= bound.absolute + bound.relative * std::fabs(b) && !std::isinf(apart)) continue;
    if (c.outside++ == 0) c.first = Difference{.element = i, .got = a, .want = b};
  }
  if (!c.first) return c;
  SUBLANE_TRY(const Placing placing, placingOf(shape));
  int64_t rest = c.first->element, device = 0;
  for (size_t d = shape.dims.size(); d-- > 0; rest /= shape.dims[d])
    device += placing.terms[d][static_cast<size_t>(rest % shape.dims[d])];
  const int64_t bits = shape.layout.element_bits > 0 ? shape.layout.element_bits : llo::bitsOf(shape.type);
  c.first->device_byte = device * bits / 8;
  return c;
}

std::string describe(const llo::Shape& shape, const Comparison& c,
                     const std::function<std::string(int64_t)>& writer) {
  std::string text = fmt::format("{}: {} of {} elements outside of the bound, worst by {:.4g}",
                                 llo::toString(shape), c.outside, c.elements, c.worst);
  if (!c.first) return text;
  std::vector<int64_t> index(shape.dims.size());
  int64_t rest = c.first->element;
  for (size_t d = shape.dims.size(); d-- > 0; rest /= shape.dims[d]) index[d] = rest % shape.dims[d];
  text += fmt::format("; first at [{}]: {:.9g}, not {:.9g} (row {} of the buffer, lane {})",
                      fmt::join(index, ","), c.first->got, c.first->want, c.first->device_byte / kRowBytes,
                      c.first->device_byte % kRowBytes / 4);
  const std::string by = writer ? writer(c.first->device_byte) : "";
  return by.empty() ? text : text + ", last written by " + by;
}

std::function<std::string(int64_t)> writersOf(const llo::Program& program, const Run& run, int32_t output) {
  return [&program, &run, output](int64_t byte) -> std::string {
    const auto found = run.output_writers.find(output);
    const size_t granule = static_cast<size_t>(byte / kGranuleBytes);
    if (found == run.output_writers.end() || granule >= found->second.size()) return "";
    const WrittenBy& by = found->second[granule];
    if (by.listing < 0) return "";
    return fmt::format("{}{}, bundle {:#x}", by.transfer ? "the transfer of " : "",
                       program.listings[static_cast<size_t>(by.listing)].function, by.bundle);
  };
}

}  // namespace sublane::sim
