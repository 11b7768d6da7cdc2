#include "engine/weights.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

namespace sublane::engine {
namespace {

std::vector<std::byte> roundedToBf16(std::span<const float> values) {
  std::vector<std::byte> bytes(values.size() * 2);
  auto* out = reinterpret_cast<uint16_t*>(bytes.data());
  for (size_t i = 0; i < values.size(); ++i) out[i] = formats::bf16FromFloat(values[i]);
  return bytes;
}

/// NaN and infinity have every bit of the exponent set.
template <class Word>
int64_t countNotFinite(std::span<const std::byte> bytes, Word exponent) {
  const std::span words(reinterpret_cast<const Word*>(bytes.data()), bytes.size() / sizeof(Word));
  return std::count_if(words.begin(), words.end(), [&](Word word) { return (word & exponent) == exponent; });
}

int64_t notFinite(formats::DType dtype, std::span<const std::byte> bytes) {
  return dtype == formats::DType::kF32 ? countNotFinite<uint32_t>(bytes, 0x7f800000)
                                       : countNotFinite<uint16_t>(bytes, 0x7f80);
}

/// Of a parameter as it is stored on the device: float32, or what it was rounded to.
Status checkFinite(const io::Checkpoint& checkpoint, const models::ParameterSource& source,
                   std::span<const std::byte> bytes) {
  const int64_t bad = notFinite(source.type.dtype, bytes);
  if (bad == 0) return Ok{};
  std::string tensors;
  if (const auto* from = std::get_if<std::vector<models::TensorSource>>(&source.from)) {
    const size_t each = bytes.size() / from->size();  // of a stack, those whose own part is bad
    for (size_t i = 0; i < from->size(); ++i) {
      if (notFinite(source.type.dtype, bytes.subspan(i * each, each)) == 0) continue;
      tensors += (tensors.empty() ? "" : ", ") + (*from)[i].tensor;
    }
  }
  return inputError("{}: {} of {} values are NaN or infinite as {}{}", checkpoint.source, bad,
                    graph::elementCount(source.type.shape), formats::name(source.type.dtype),
                    tensors.empty() ? "" : " (" + tensors + ")")
      .hint(fmt::format("sublane inspect {} --scan shows which tensors are damaged", checkpoint.source));
}

Result<pjrt::Buffer> loadParameter(const io::Checkpoint& checkpoint, const models::ParameterSource& source,
                                   const pjrt::Client& client) {
  std::vector<float> values(static_cast<size_t>(graph::elementCount(source.type.shape)));
  SUBLANE_CHECK_OK(models::readParameter(checkpoint, source, values));
  std::vector<std::byte> rounded;
  std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  if (source.type.dtype != formats::DType::kF32) bytes = rounded = roundedToBf16(values);
  SUBLANE_CHECK_OK(checkFinite(checkpoint, source, bytes));
  return client.toDevice(source.type, bytes);
}

}  // namespace

Result<Weights> loadWeights(const io::Checkpoint& checkpoint, const models::StepProgram& program,
                            const pjrt::Client& client) {
  Weights weights;
  std::optional<Error> first_error;
  std::mutex mutex;
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < program.weights.size(); i = next++) {
      Result<pjrt::Buffer> buffer = loadParameter(checkpoint, program.weights[i], client);
      std::lock_guard lock(mutex);
      if (buffer.ok()) {
        weights.emplace(program.weights[i].parameter, std::move(buffer).value());
      } else if (!first_error) {
        first_error = std::move(buffer).error().at(program.weights[i].parameter);
        next = program.weights.size();
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  if (first_error) return std::move(*first_error);
  return weights;
}

}  // namespace sublane::engine
