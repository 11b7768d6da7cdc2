#include "sim/layout.h"

#include <algorithm>
#include <cstring>

#include "sim/vector_unit.h"

namespace sublane::sim {
namespace {

/// A piece of an index: index / divisor % size of an original dimension.
struct Piece {
  int64_t dimension = -1;  // -1: a dimension of size 1 that a tile adds
  int64_t divisor = 1, size = 1;
};

/// Cuts the last pieces by one tile: "outer" pieces stay in place, "inner" ones follow.
Status cut(std::vector<Piece>& pieces, const std::vector<int64_t>& tile, const llo::Shape& shape) {
  while (pieces.size() < tile.size()) pieces.insert(pieces.begin(), Piece{});
  const size_t first = pieces.size() - tile.size();
  std::vector<Piece> inner;
  for (size_t k = 0; k < tile.size(); ++k) {
    const int64_t t = tile[k];
    if (t == llo::kCombineDimension || t < 1)
      return inputError("{}: a tile that merges dimensions is not known here", llo::toString(shape));
    Piece& outer = pieces[first + k];
    inner.push_back({outer.dimension, outer.divisor, t});
    outer.divisor *= t;
    outer.size = (outer.size + t - 1) / t;
  }
  pieces.insert(pieces.end(), inner.begin(), inner.end());
  return Ok{};
}

/// Calls `copy(host element, device element)` for every element, in the host's order.
template <class Copy>
void forElements(const llo::Shape& shape, const Placing& placing, Copy copy) {
  const size_t rank = shape.dims.size();
  if (rank == 0) return copy(0, 0);
  std::vector<int64_t> index(rank, 0);
  const int64_t count = llo::elementCount(shape), minor = shape.dims.back();
  for (int64_t host = 0; host < count; host += minor) {
    int64_t base = 0;
    for (size_t d = 0; d + 1 < rank; ++d) base += placing.terms[d][static_cast<size_t>(index[d])];
    const std::vector<int64_t>& last = placing.terms[rank - 1];
    for (int64_t i = 0; i < minor; ++i) copy(host + i, base + last[static_cast<size_t>(i)]);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++index[d] < shape.dims[d]) break;
      index[d] = 0;
    }
  }
}

int64_t deviceBits(const llo::Shape& shape) {
  return shape.layout.element_bits > 0 ? shape.layout.element_bits : llo::bitsOf(shape.type);
}
int64_t hostElementBytes(const llo::Shape& shape) { return (llo::bitsOf(shape.type) + 7) / 8; }

Status checkSize(const llo::Shape& shape, int64_t have, int64_t want, const char* where) {
  if (have >= want) return Ok{};
  return inputError("{}: {} bytes {}, not {}", llo::toString(shape), have, where, want);
}

template <size_t kBytes, bool kToDevice>
void copyElements(const llo::Shape& shape, const Placing& placing, std::byte* to, const std::byte* from) {
  forElements(shape, placing, [&](int64_t host, int64_t device) {
    const int64_t into = kToDevice ? device : host, out_of = kToDevice ? host : device;
    std::memcpy(to + into * static_cast<int64_t>(kBytes), from + out_of * static_cast<int64_t>(kBytes),
                kBytes);
  });
}
template <bool kToDevice>
void copyAll(const llo::Shape& shape, const Placing& placing, std::byte* to, const std::byte* from) {
  switch (deviceBits(shape)) {
    case 8:
      return copyElements<1, kToDevice>(shape, placing, to, from);
    case 16:
      return copyElements<2, kToDevice>(shape, placing, to, from);
    case 32:
      return copyElements<4, kToDevice>(shape, placing, to, from);
    case 64:
      return copyElements<8, kToDevice>(shape, placing, to, from);
    default:
      break;
  }
  const int64_t bits = deviceBits(shape), mask = (int64_t{1} << bits) - 1;
  const bool is_signed = shape.type == llo::ElementType::kS4 || shape.type == llo::ElementType::kS2;
  forElements(shape, placing, [&](int64_t host, int64_t device) {
    const int64_t byte = device * bits / 8, shift = device * bits % 8;
    if (kToDevice) {
      const int64_t value = static_cast<int64_t>(from[host]) & mask;
      to[byte] = static_cast<std::byte>((static_cast<int64_t>(to[byte]) & ~(mask << shift)) | value << shift);
    } else {
      int64_t value = static_cast<int64_t>(from[byte]) >> shift & mask;
      if (is_signed && value >> (bits - 1)) value -= mask + 1;
      to[host] = static_cast<std::byte>(value);
    }
  });
}

}  // namespace

Result<Placing> placingOf(const llo::Shape& shape) {
  if (shape.isTuple()) return inputError("{}: a tuple has no layout of its own", llo::toString(shape));
  const size_t rank = shape.dims.size();
  std::vector<Piece> pieces;
  for (size_t k = 0; k < rank; ++k) {
    const int64_t d = shape.layout.minor_to_major.empty() ? static_cast<int64_t>(k)
                                                          : shape.layout.minor_to_major[rank - 1 - k];
    if (d < 0 || d >= static_cast<int64_t>(rank))
      return inputError("{}: its layout names dimension {} of {}", llo::toString(shape), d, rank);
    pieces.push_back({d, 1, shape.dims[static_cast<size_t>(d)]});
  }
  for (const std::vector<int64_t>& tile : shape.layout.tiles) SUBLANE_CHECK_OK(cut(pieces, tile, shape));
  Placing placing{.terms = std::vector<std::vector<int64_t>>(rank), .elements = 1};
  for (size_t d = 0; d < rank; ++d) placing.terms[d].assign(static_cast<size_t>(shape.dims[d]), 0);
  for (size_t p = pieces.size(); p-- > 0;) {
    const Piece& piece = pieces[p];
    if (piece.dimension >= 0) {
      std::vector<int64_t>& terms = placing.terms[static_cast<size_t>(piece.dimension)];
      for (size_t i = 0; i < terms.size(); ++i)
        terms[i] += static_cast<int64_t>(i) / piece.divisor % piece.size * placing.elements;
    }
    placing.elements *= std::max<int64_t>(piece.size, 1);
  }
  return placing;
}

int64_t hostBytes(const llo::Shape& shape) { return llo::elementCount(shape) * hostElementBytes(shape); }

Result<std::vector<std::byte>> toDevice(const llo::Shape& shape, std::span<const std::byte> host) {
  SUBLANE_TRY(const Placing placing, placingOf(shape));
  SUBLANE_CHECK_OK(checkSize(shape, static_cast<int64_t>(host.size()), hostBytes(shape), "on the host"));
  const int64_t bytes = std::max((placing.elements * deviceBits(shape) + 7) / 8, llo::paddedBytes(shape));
  std::vector<std::byte> device(static_cast<size_t>((bytes + 3) / 4 * 4));
  for (size_t at = 0; at + 4 <= device.size(); at += 4) std::memcpy(&device[at], &kPoison, 4);
  copyAll<true>(shape, placing, device.data(), host.data());
  return device;
}

Result<std::vector<std::byte>> toHost(const llo::Shape& shape, std::span<const std::byte> device) {
  SUBLANE_TRY(const Placing placing, placingOf(shape));
  SUBLANE_CHECK_OK(checkSize(shape, static_cast<int64_t>(device.size()),
                             (placing.elements * deviceBits(shape) + 7) / 8, "on the device"));
  std::vector<std::byte> host(static_cast<size_t>(hostBytes(shape)));
  copyAll<false>(shape, placing, host.data(), device.data());
  return host;
}

}  // namespace sublane::sim
