#include "engine/weights.h"

#include <algorithm>
#include <atomic>
#include <cmath>
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

/// 0 * x is not 0 for NaN and infinity; four sums side by side, so that it costs less than reading.
bool allFinite(std::span<const float> values) {
  float sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {
    for (size_t k = 0; k < 4; ++k) sums[k] += 0.0f * values[i + k];
  }
  for (; i < values.size(); ++i) sums[0] += 0.0f * values[i];
  return sums[0] + sums[1] + sums[2] + sums[3] == 0;
}

/// As float32, or as the narrower type that they are rounded to.
Status checkFinite(const io::Checkpoint& checkpoint, const models::ParameterSource& source,
                   std::span<const float> values) {
  constexpr float kMostBf16 = 3.3961e38f;  // rounds to infinity from here on
  const bool narrow = source.type.dtype == formats::DType::kBF16;
  const auto isBad = [&](float x) { return !std::isfinite(x) || (narrow && std::abs(x) >= kMostBf16); };
  if (allFinite(values) && (!narrow || std::none_of(values.begin(), values.end(), isBad))) return Ok{};
  const auto bad = std::count_if(values.begin(), values.end(), isBad);
  std::string tensors;
  if (const auto* from = std::get_if<std::vector<models::TensorSource>>(&source.from)) {
    for (const models::TensorSource& one : *from) tensors += (tensors.empty() ? "" : ", ") + one.tensor;
  }
  return inputError("{}: {} of {} values are NaN or infinite as {}{}", checkpoint.source, bad, values.size(),
                    formats::name(source.type.dtype), tensors.empty() ? "" : " (" + tensors + ")")
      .hint(fmt::format("sublane inspect {} --scan shows which tensors are damaged", checkpoint.source));
}

Result<pjrt::Buffer> loadParameter(const io::Checkpoint& checkpoint, const models::ParameterSource& source,
                                   const pjrt::Client& client) {
  std::vector<float> values(static_cast<size_t>(graph::elementCount(source.type.shape)));
  SUBLANE_CHECK_OK(models::readParameter(checkpoint, source, values));
  SUBLANE_CHECK_OK(checkFinite(checkpoint, source, values));
  if (source.type.dtype == formats::DType::kF32) {
    return client.toDevice(source.type, std::as_bytes(std::span(values)));
  }
  return client.toDevice(source.type, roundedToBf16(values));
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
