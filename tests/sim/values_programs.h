// Compiles a program for a chip with libtpu and executes it for values; and executes it on the CPU plugin.
//
//   SUBLANE_TRY(Compiled compiled, compile(stablehlo, "v6e", [](int64_t) { return Fill{-8, 8, 8}; }));
//   SUBLANE_TRY(Executed executed, execute(compiled));
//   SUBLANE_TRY(auto want, onCpu(stablehlo, compiled));
#pragma once

#include <functional>
#include <map>

#include "../lower/on_cpu.h"
#include "artifact/compile_cache.h"
#include "pjrt/worker.h"
#include "sim/layout.h"
#include "sim/sim.h"

namespace sublane::sim {

using llo::ElementType;

/// Whole numbers in [low, high], divided.
struct Fill {
  int64_t low = 0, high = 0;
  double divisor = 1;
  std::vector<double> values{};  // instead, where they are given
};

/// Same bytes everywhere: splitmix64.
inline uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

inline graph::Type typeOf(const llo::Shape& shape) {
  using formats::DType;
  static const std::map<ElementType, DType> types = {
      {ElementType::kF32, DType::kF32}, {ElementType::kBF16, DType::kBF16},
      {ElementType::kS32, DType::kI32}, {ElementType::kU32, DType::kU32},
      {ElementType::kS8, DType::kI8},   {ElementType::kPred, DType::kBool}};
  return {types.at(shape.type), shape.dims};
}

inline std::vector<std::byte> filled(const llo::Shape& shape, const Fill& fill, uint64_t seed) {
  std::vector<double> values(static_cast<size_t>(llo::elementCount(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t span = static_cast<uint64_t>(fill.high - fill.low + 1);
    const int64_t whole = fill.low + static_cast<int64_t>(mixed(seed * 1000003 + i) % span);
    values[i] =
        fill.values.empty() ? static_cast<double>(whole) / fill.divisor : fill.values[i % fill.values.size()];
  }
  return graph::arrayOf(typeOf(shape), values).data;
}

/// A program as libtpu compiled it, and the arguments that it will be given.
struct Compiled {
  llo::Program program;
  ChipModel model;
  std::vector<llo::Shape> parameters, results;
  std::vector<std::vector<std::byte>> arguments;  // row-major
  Options options{.values = true};
};

inline constexpr const char* kTopologies[][2] = {
    {"v5e", "v5e:1x1"}, {"v6e", "v6e:1x1"}, {"tpu7x", "tpu7x:1x1x1"}};

/// `fill` gives an argument's contents by its number.
inline Result<Compiled> compile(const std::string& stablehlo, const std::string& chip,
                                const std::function<Fill(int64_t)>& fill) {
  pjrt::AheadOfTimeRequest request{.stablehlo = stablehlo};
  for (const auto& [name, topology] : kTopologies)
    if (chip == name) request.topology = topology;
  request.want_listings = true;
  SUBLANE_TRY(pjrt::AheadOfTimeResult answer, artifact::compileCached(request));
  SUBLANE_TRY(llo::HloModule module, llo::readHloModule(answer.optimized_hlo));
  Compiled compiled;
  SUBLANE_TRY(compiled.program, llo::readProgram(answer.dump, std::move(module),
                                                 {.chip = chip, .compiler = answer.platform_version}));
  SUBLANE_TRY(compiled.model, chipModel(chip));
  const llo::Computation& entry = compiled.program.module.entryComputation();
  for (int64_t p = 0; entry.parameter(p) >= 0; ++p) {
    const llo::Shape& shape = entry.at(entry.parameter(p)).shape;
    compiled.parameters.push_back(shape);
    compiled.arguments.push_back(filled(shape, fill(p), static_cast<uint64_t>(p + 1)));
    SUBLANE_TRY(compiled.options.inputs.arguments[static_cast<int32_t>(p)],
                toDevice(shape, compiled.arguments.back()));
  }
  llo::forEachArray(entry.at(entry.root).shape,
                    [&](const llo::Shape& shape) { compiled.results.push_back(shape); });
  return compiled;
}

struct Executed {
  Run run;
  std::vector<std::vector<std::byte>> outputs;  // row-major
};

inline Result<Executed> execute(const Compiled& compiled) {
  Executed executed;
  SUBLANE_TRY(executed.run, simulate(compiled.program, compiled.model, compiled.options));
  for (size_t i = 0; i < compiled.results.size(); ++i) {
    SUBLANE_TRY(std::vector<std::byte> host,
                toHost(compiled.results[i], executed.run.outputs[static_cast<int32_t>(i)]));
    executed.outputs.push_back(std::move(host));
  }
  return executed;
}

inline Result<std::vector<std::vector<std::byte>>> onCpu(const std::string& stablehlo,
                                                         const Compiled& compiled) {
  SUBLANE_TRY(pjrt::Executable program, lower::cpu().compile(stablehlo, {}));
  std::vector<pjrt::Buffer> buffers;
  std::vector<pjrt::Buffer*> pointers;
  for (size_t p = 0; p < compiled.arguments.size(); ++p) {
    SUBLANE_TRY(pjrt::Buffer buffer,
                lower::cpu().toDevice(typeOf(compiled.parameters[p]), compiled.arguments[p]));
    buffers.push_back(std::move(buffer));
  }
  for (pjrt::Buffer& buffer : buffers) pointers.push_back(&buffer);
  SUBLANE_TRY(std::vector<pjrt::Buffer> outputs, program.execute(pointers));
  std::vector<std::vector<std::byte>> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.emplace_back(static_cast<size_t>(hostBytes(compiled.results[i])));
    SUBLANE_CHECK_OK(outputs[i].toHost(results.back()));
  }
  return results;
}

}  // namespace sublane::sim
