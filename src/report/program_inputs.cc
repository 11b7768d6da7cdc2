#include "report/program_inputs.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.h"
#include "sim/layout.h"

namespace sublane::report {
namespace {

struct Argument {
  int32_t number = 0;
  std::string name;
  const llo::Shape* shape = nullptr;
};

/// By number.
std::vector<Argument> argumentsOf(const llo::HloModule& module) {
  std::vector<Argument> arguments;
  for (const llo::Instruction& at : module.entryComputation().instructions) {
    if (at.is("parameter"))
      arguments.push_back({static_cast<int32_t>(at.parameter_number), at.name, &at.shape});
  }
  std::sort(arguments.begin(), arguments.end(),
            [](const Argument& a, const Argument& b) { return a.number < b.number; });
  return arguments;
}

/// "f32[8,128]", as users know it: without where it lies.
std::string plainShape(const llo::Shape& shape) {
  if (shape.isTuple()) return "a tuple";
  std::string sizes;
  for (const int64_t size : shape.dims) sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", size);
  return fmt::format("{}[{}]", llo::name(shape.type), sizes);
}

std::string shown(const Argument& argument) {
  return fmt::format("{} ({}: {})", argument.number, escaped(argument.name, 40), plainShape(*argument.shape));
}

std::string listed(const std::vector<Argument>& arguments) {
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(arguments.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + shown(arguments[i]);
  if (arguments.size() > kMost) text += fmt::format(" and {} more", arguments.size() - kMost);
  return text;
}

/// "x.1" without what the compiler appended.
std::string_view baseName(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return name;
  const std::string_view tail = name.substr(dot + 1);
  return tail.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(0, dot) : name;
}

const Argument* findArgument(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& argument : arguments)
    if (argument.name == name || baseName(argument.name) == name) return &argument;
  std::string_view digits = name;
  for (const std::string_view prefix : {"arg", "arr_"}) {
    if (digits.starts_with(prefix)) digits.remove_prefix(prefix.size());
  }
  int32_t number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return nullptr;
  for (const Argument& argument : arguments)
    if (argument.number == number) return &argument;
  return nullptr;
}

/// numpy's kind and bytes for a type; raw bytes for what numpy doesn't have.
bool sameType(llo::ElementType type, const io::NpyArray& array) {
  using enum llo::ElementType;
  const std::string_view numpy = std::string_view(array.dtype).substr(1);
  const std::string_view ours = llo::name(type);
  if (type == kPred) return numpy == "b1";
  if (type == kF16) return numpy == "f2";
  if (type == kF32 || type == kF64) return numpy == (type == kF32 ? "f4" : "f8");
  if (type == kC64 || type == kC128) return numpy == (type == kC64 ? "c8" : "c16");
  const int64_t bits = llo::bitsOf(type);
  if (llo::isFloat(type)) return numpy == (bits == 16 ? "V2" : "V1");  // bfloat16, float8, float4
  if (bits < 8) return numpy == "V1" || numpy == (ours.front() == 'u' ? "u1" : "i1");
  return numpy == fmt::format("{}{}", ours.front() == 'u' ? 'u' : 'i', bits / 8);
}

std::string missing(const llo::HloModule& module, const sim::Inputs& inputs, bool integers_only) {
  std::vector<Argument> arguments = argumentsOf(module);
  std::erase_if(arguments, [&](const Argument& argument) {
    const bool integer = !llo::isFloat(argument.shape->type) && llo::bitsOf(argument.shape->type) > 0;
    return inputs.arguments.contains(argument.number) || (integers_only && !integer);
  });
  if (arguments.empty()) return "";
  return fmt::format("{} not given: {}", arguments.size() == 1 ? "an argument is" : "arguments are",
                     listed(arguments));
}

}  // namespace

Result<sim::Inputs> inputsOf(const std::vector<io::NpyArray>& arrays, const llo::HloModule& module,
                             const std::string& source) {
  const std::vector<Argument> arguments = argumentsOf(module);
  sim::Inputs inputs;
  for (const io::NpyArray& array : arrays) {
    const std::string where = fmt::format("{}: array {}", source, inQuotes(array.name));
    const Argument* argument = findArgument(arguments, array.name);
    if (argument == nullptr) {
      return inputError("{}: the program has no such argument", where)
          .hint(arguments.empty() ? "it takes none"
                                  : "by number (arg0) or by name; its arguments are " + listed(arguments));
    }
    if (inputs.arguments.contains(argument->number))
      return inputError("{}: argument {} is given twice", where, argument->number);
    if (array.shape != argument->shape->dims || !sameType(argument->shape->type, array)) {
      return inputError("{} is {}, argument {} is {}", where, io::describe(array), argument->number,
                        plainShape(*argument->shape));
    }
    Result<std::vector<std::byte>> bytes = sim::toDevice(*argument->shape, array.bytes);
    if (!bytes.ok()) return std::move(bytes).error().at(where);
    inputs.arguments[argument->number] = std::move(*bytes);
  }
  return inputs;
}

Result<sim::Inputs> inputsOf(const std::map<int32_t, std::vector<int32_t>>& values,
                             const llo::HloModule& module) {
  sim::Inputs inputs;
  for (const Argument& argument : argumentsOf(module)) {
    const auto given = values.find(argument.number);
    if (given == values.end()) continue;
    const auto bytes_given = static_cast<int64_t>(4 * given->second.size());
    if (bytes_given != sim::hostBytes(*argument.shape)) {
      return inputError("argument {}: {} bytes of values, it takes {}", shown(argument), bytes_given,
                        sim::hostBytes(*argument.shape));
    }
    Result<std::vector<std::byte>> bytes =
        sim::toDevice(*argument.shape, std::as_bytes(std::span(given->second)));
    if (!bytes.ok()) return std::move(bytes).error().at("argument " + shown(argument));
    inputs.arguments[argument.number] = std::move(*bytes);
  }
  return inputs;
}

std::string missingIntegers(const llo::HloModule& module, const sim::Inputs& inputs) {
  return missing(module, inputs, true);
}

std::string assumeScalars(const llo::HloModule& module, sim::Inputs& inputs) {
  std::vector<Argument> assumed;
  for (const Argument& argument : argumentsOf(module)) {
    const bool integer = !llo::isFloat(argument.shape->type) && llo::bitsOf(argument.shape->type) > 0;
    if (!integer || !argument.shape->dims.empty() || inputs.arguments.contains(argument.number)) continue;
    Result<std::vector<std::byte>> bytes = sim::toDevice(
        *argument.shape, std::vector<std::byte>(static_cast<size_t>(sim::hostBytes(*argument.shape))));
    if (!bytes.ok()) continue;
    inputs.arguments[argument.number] = std::move(*bytes);
    assumed.push_back(argument);
  }
  if (assumed.empty()) return "";
  return fmt::format("assumed to be 0, since {} not given: {}", assumed.size() == 1 ? "it is" : "they are",
                     listed(assumed));
}

std::string missingArguments(const llo::HloModule& module, const sim::Inputs& inputs) {
  return missing(module, inputs, false);
}

}  // namespace sublane::report
