#include "engine/weights.h"

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

Result<pjrt::Buffer> loadParameter(const io::Checkpoint& checkpoint, const models::ParameterSource& source,
                                   const pjrt::Client& client) {
  std::vector<float> values(static_cast<size_t>(graph::elementCount(source.type.shape)));
  SUBLANE_CHECK_OK(models::readParameter(checkpoint, source, values));
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
