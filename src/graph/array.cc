#include <cmath>
#include <cstring>

#include "base/check.h"
#include "graph/infer.h"
#include "graph/interpreter_ops.h"

namespace sublane::graph {

namespace {

template <class T>
T load(const std::byte* data, size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void store(std::byte* data, size_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

template <class T>
void loadIntegers(const Array& array, std::vector<int64_t>& out) {
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): an int8_t is a number here
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(load<T>(array.data.data(), i));
}
template <class T>
void storeIntegers(Array& array, std::span<const int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) store(array.data.data(), i, static_cast<T>(values[i]));
}

}  // namespace

Array zeros(Type type) {
  size_t bytes = static_cast<size_t>(byteCount(type));
  return {std::move(type), std::vector<std::byte>(bytes)};
}

std::vector<double> unpackFloats(const Array& array) {
  std::vector<double> out(static_cast<size_t>(elementCount(array.type.shape)));
  const std::byte* data = array.data.data();
  for (size_t i = 0; i < out.size(); ++i) {
    switch (array.type.dtype) {
      case DType::kBF16:
        out[i] = formats::floatFromBf16(load<uint16_t>(data, i));
        break;
      case DType::kF16:
        out[i] = formats::floatFromF16(load<uint16_t>(data, i));
        break;
      default:
        out[i] = load<float>(data, i);
    }
  }
  return out;
}

Array packFloats(const Type& type, std::span<const double> values) {
  Array out = zeros(type);
  std::byte* data = out.data.data();
  for (size_t i = 0; i < values.size(); ++i) {
    float value = static_cast<float>(values[i]);
    switch (type.dtype) {
      case DType::kBF16:
        store(data, i, formats::bf16FromFloat(value));
        break;
      case DType::kF16:
        store(data, i, formats::f16FromFloat(value));
        break;
      default:
        store(data, i, value);
    }
  }
  return out;
}

std::vector<int64_t> unpackIntegers(const Array& array) {
  std::vector<int64_t> out(static_cast<size_t>(elementCount(array.type.shape)));
  switch (array.type.dtype) {
    case DType::kI8:
      loadIntegers<int8_t>(array, out);
      break;
    case DType::kU8:
      loadIntegers<uint8_t>(array, out);
      break;
    case DType::kI32:
      loadIntegers<int32_t>(array, out);
      break;
    case DType::kU32:
      loadIntegers<uint32_t>(array, out);
      break;
    case DType::kI64:
      loadIntegers<int64_t>(array, out);
      break;
    default:
      for (size_t i = 0; i < out.size(); ++i) out[i] = array.data[i] != std::byte{0};
  }
  return out;
}

Array packIntegers(const Type& type, std::span<const int64_t> values) {
  Array out = zeros(type);
  switch (type.dtype) {
    case DType::kI8:
      storeIntegers<int8_t>(out, values);
      break;
    case DType::kU8:
      storeIntegers<uint8_t>(out, values);
      break;
    case DType::kI32:
      storeIntegers<int32_t>(out, values);
      break;
    case DType::kU32:
      storeIntegers<uint32_t>(out, values);
      break;
    case DType::kI64:
      storeIntegers<int64_t>(out, values);
      break;
    default:
      for (size_t i = 0; i < values.size(); ++i) out.data[i] = std::byte{values[i] != 0};
  }
  return out;
}

Array arrayOf(const Type& type, std::span<const double> values) {
  SUBLANE_CHECK(static_cast<int64_t>(values.size()) == elementCount(type.shape), "array {}: {} values given",
                toString(type), values.size());
  if (isFloat(type.dtype)) return packFloats(type, values);
  std::vector<int64_t> integers;
  for (double value : values) {
    // Beyond 64 bits a conversion is undefined; there is no right answer to give, so any sane one.
    bool fits = std::abs(value) < 9.2e18;
    integers.push_back(type.dtype == DType::kBool ? value != 0 : fits ? static_cast<int64_t>(value) : 0);
  }
  return packIntegers(type, integers);
}

std::vector<double> values(const Array& array) {
  if (isFloat(array.type.dtype)) return unpackFloats(array);
  std::vector<int64_t> integers = unpackIntegers(array);
  return {integers.begin(), integers.end()};
}

}  // namespace sublane::graph
