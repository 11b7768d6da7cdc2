#include "report/output_values.h"

#include <algorithm>
#include <cmath>

#include "base/sha256.h"
#include "sim/layout.h"
#include "sim/values_compare.h"

namespace sublane::report {
namespace {

/// The arrays that the program returns, by output number.
std::vector<llo::Shape> outputShapes(const llo::HloModule& module) {
  const llo::Computation& entry = module.entryComputation();
  std::vector<llo::Shape> shapes;
  llo::forEachArray(entry.at(entry.root).shape, [&](const llo::Shape& shape) { shapes.push_back(shape); });
  return shapes;
}

OutputValue summary(int32_t number, const llo::Shape& shape, std::span<const std::byte> host) {
  OutputValue value{.number = number, .shape = llo::toString(shape), .sha256 = sha256Of(host)};
  value.elements = llo::elementCount(shape);
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < value.elements; ++i) {
    const double x = sim::numberAt(shape.type, host, i);
    if (!std::isfinite(x)) continue;
    value.least = finite == 0 ? x : std::min(value.least, x);
    value.greatest = finite == 0 ? x : std::max(value.greatest, x);
    sum += x;
    ++finite;
  }
  value.not_finite = value.elements - finite;
  value.mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
  return value;
}

}  // namespace

Result<std::vector<OutputValue>> outputValues(const llo::HloModule& module,
                                              const std::map<int32_t, std::vector<std::byte>>& outputs) {
  const std::vector<llo::Shape> shapes = outputShapes(module);
  std::vector<OutputValue> values;
  for (const auto& [number, device] : outputs) {
    if (number < 0 || static_cast<size_t>(number) >= shapes.size()) continue;
    const llo::Shape& shape = shapes[static_cast<size_t>(number)];
    Result<std::vector<std::byte>> host = sim::toHost(shape, device);
    if (!host.ok()) return std::move(host).error().at(fmt::format("output {}", number));
    values.push_back(summary(number, shape, *host));
    values.back().host = std::move(*host);
    values.back().dims = shape.dims;
    values.back().type = shape.type;
  }
  return values;
}

namespace {

/// The number that the name ends with; -1: it does not.
int64_t numberOf(std::string_view name) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size() || name.size() - digits > 9) return -1;
  return std::stoll(std::string(name.substr(digits)));
}

double largestOf(llo::ElementType type, const io::NpyArray& array, int64_t elements) {
  double largest = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const double x = std::fabs(sim::numberAt(type, array.bytes, i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  return largest;
}

}  // namespace

Status compareOutputs(const llo::Program& program, const sim::Run& run,
                      const std::vector<io::NpyArray>& arrays, const SimulateOptions& options,
                      std::vector<OutputValue>& outputs) {
  const std::vector<llo::Shape> shapes = outputShapes(program.module);
  if (arrays.size() != outputs.size()) {
    return inputError("{}: holds {} arrays, the program has {} results", options.expect, arrays.size(),
                      outputs.size())
        .hint(fmt::format("one for each, output0 to output{}", outputs.size() - 1));
  }
  for (const io::NpyArray& array : arrays) {
    const int64_t number = numberOf(array.name);
    const auto output = std::find_if(outputs.begin(), outputs.end(),
                                     [&](const OutputValue& value) { return value.number == number; });
    if (output == outputs.end())
      return inputError("{}: array \"{}\": the program has no such result", options.expect, array.name)
          .hint(fmt::format("by number, output0 to output{}", outputs.size() - 1));
    const io::NpyArray ours = npyOf(*output);
    const auto raw = [](const std::string& dtype) { return dtype.substr(dtype.find_first_not_of("<|>=")); };
    const bool same_type =
        array.dtype == ours.dtype || (raw(array.dtype) == raw(ours.dtype) && raw(ours.dtype)[0] == 'V');
    if (array.shape != ours.shape || !same_type)
      return inputError("{}: array \"{}\" is {}, result {} is {}", options.expect, array.name,
                        io::describe(array), number, io::describe(ours));
    const llo::Shape& shape = shapes[static_cast<size_t>(number)];
    sim::Bound bound;
    if (llo::isFloat(shape.type))
      bound.absolute = options.within * largestOf(shape.type, array, output->elements);
    SUBLANE_TRY(const sim::Comparison comparison,
                sim::compareValues(shape, output->host, array.bytes, bound));
    output->compared = true;
    output->worst = comparison.worst;
    if (!comparison.equal())
      output->difference =
          sim::describe(shape, comparison, sim::writersOf(program, run, static_cast<int32_t>(number)));
  }
  return Ok{};
}

io::NpyArray npyOf(const OutputValue& output) {
  using enum llo::ElementType;
  const int64_t bytes = std::max<int64_t>(1, llo::bitsOf(output.type) / 8);
  std::string dtype = fmt::format("|V{}", bytes);  // what numpy has no type for: bfloat16, float8, int4
  const std::string_view ours = llo::name(output.type);
  const bool float_known = output.type == kF16 || output.type == kF32 || output.type == kF64;
  if (output.type == kPred) dtype = "|b1";
  if (float_known) dtype = fmt::format("<f{}", bytes);
  if (!llo::isFloat(output.type) && output.type != kPred && llo::bitsOf(output.type) >= 8)
    dtype = fmt::format("{}{}{}", bytes == 1 ? '|' : '<', ours.front() == 'u' ? 'u' : 'i', bytes);
  return {.name = fmt::format("output{}", output.number),
          .dtype = dtype,
          .element_bytes = bytes,
          .shape = output.dims,
          .bytes = output.host};
}

}  // namespace sublane::report
