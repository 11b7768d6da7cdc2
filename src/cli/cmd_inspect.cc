// `sublane inspect MODEL`: what a checkpoint holds, what a model and a tokenizer make of it, and what was
// assumed.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/dump_tensor.h"
#include "cli/inspect_facts.h"
#include "io/checkpoint.h"
#include "io/scan.h"

namespace sublane::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, dump, output;
  bool json = false, tensors = false, metadata = false, scan = false;
  int threads = 0;
};

// A value for one line: long strings are cut, arrays give their length.
struct ShowValue {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{:g}", value); }
  std::string operator()(const std::string& value) const { return inQuotes(value, 48); }
  std::string operator()(const io::MetadataArray& value) const {
    return fmt::format("[{} values]", value.size());
  }
  std::string operator()(const std::vector<int64_t>& value) const {
    return fmt::format("[{} integers]", value.size());
  }
  std::string operator()(const std::vector<double>& value) const {
    return fmt::format("[{} floats]", value.size());
  }
  std::string operator()(const std::vector<std::string>& value) const {
    return fmt::format("[{} strings]", value.size());
  }
};

// The same in JSON: scalars whole, arrays by kind and length.
struct JsonValue {
  ordered_json operator()(std::monostate) const { return nullptr; }
  ordered_json operator()(bool value) const { return value; }
  ordered_json operator()(int64_t value) const { return value; }
  ordered_json operator()(double value) const { return value; }
  ordered_json operator()(const std::string& value) const { return value; }
  template <class T>
  ordered_json operator()(const std::vector<T>& value) const {
    constexpr const char* kind = std::is_same_v<T, int64_t>       ? "integers"
                                 : std::is_same_v<T, double>      ? "floats"
                                 : std::is_same_v<T, std::string> ? "strings"
                                                                  : "values";
    return {{"array", kind}, {"length", value.size()}};
  }
};

std::string shapeText(const io::Tensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.shape, ", ")); }

void printTensors(const io::Checkpoint& checkpoint) {
  fmt::print("\n{:<48} {:<20} {:>12}  {}\n", "tensor", "shape", "bytes", "format");
  for (const io::Tensor& tensor : checkpoint.tensors) {
    fmt::print("{:<48} {:<20} {:>12}  {}\n", escaped(tensor.name, 200), shapeText(tensor),
               storedBytes(tensor), formatOf(tensor));
  }
}

void printScan(const io::CheckpointScan& scan) {
  fmt::print("\nscan: {} read in {}, {} on {} thread{} (measured); checksum {:016x}\n",
             formatBytes(static_cast<double>(scan.bytes)), formatSeconds(scan.seconds),
             formatBytesPerSecond(static_cast<double>(scan.bytes) / scan.seconds), scan.threads,
             scan.threads == 1 ? "" : "s", scan.checksum);
  if (scan.findings.empty()) fmt::print("scan: every number is finite\n");
  for (const io::TensorFinding& finding : scan.findings) {
    fmt::print("scan: tensor {}: {} NaN, {} infinite\n", inQuotes(finding.tensor), finding.nans,
               finding.infinities);
  }
}

void printFormats(const InspectFacts& facts) {
  size_t width = 6;
  for (const auto& [format, total] : facts.by_format) width = std::max(width, format.size());
  fmt::print("\n{:<{}} {:>8} {:>16} {:>10} {:>10}\n", "format", width, "tensors", "parameters", "bytes",
             "bits each");
  for (const auto& [format, total] : facts.by_format) {
    fmt::print(
        "{:<{}} {:>8} {:>16} {:>10} {:>10.2f}\n", format, width, total.tensors, formatCount(total.parameters),
        formatBytes(static_cast<double>(total.bytes)),
        8.0 * static_cast<double>(total.bytes) / static_cast<double>(std::max<int64_t>(total.parameters, 1)));
  }
}

/// Its hint is for who wants to run it, not for who looks.
void printFault(std::string_view what, const Error& error) {
  fmt::print("{:<11}cannot be used: {}\n", what, error.message());
}

void printText(const InspectFacts& facts) {
  if (!facts.tokenizer) return printFault("text", *facts.text_fault);
  fmt::print("{:<11}{}\n", "tokenizer", facts.tokenizer->describe());
  fmt::print("{:<11}{}\n", "template",
             facts.tokenizer->hasChatTemplate() ? "a chat template is there" : "none");
}

void printModel(const InspectFacts& facts) {
  if (facts.config) {
    std::vector<std::string> lines = models::describe(*facts.config);
    lines.resize(lines.size() - facts.config->assumptions.size());  // they follow with the others
    for (const std::string& line : lines) fmt::print("{:<11}{}\n", &line == &lines[0] ? "model" : "", line);
  }
  if (facts.model_fault) printFault("model", *facts.model_fault);
}

void printReport(const InspectFacts& facts, const Options& options, const io::CheckpointScan* scan) {
  const io::Checkpoint& checkpoint = facts.checkpoint;
  fmt::print("{}\n", checkpoint.source);
  fmt::print("architecture {}, {} parameters in {} tensors, {}\n", inQuotes(checkpoint.architecture),
             formatCount(facts.total.parameters), facts.total.tensors,
             formatBytes(static_cast<double>(facts.total.bytes)));
  printFormats(facts);
  if (facts.files.size() > 1) {
    fmt::print("\n{:<60} {:>8} {:>12}\n", "file", "tensors", "bytes");
    for (const InspectedFile& file : facts.files)
      fmt::print("{:<60} {:>8} {:>12}\n", escaped(file.path.substr(file.path.rfind('/') + 1), 200),
                 file.tensors, file.bytes);
  }
  fmt::print("\n");
  printModel(facts);
  printText(facts);
  for (const std::string& assumption : facts.assumptions()) fmt::print("{:<11}{}\n", "assumed", assumption);
  if (options.metadata) {
    fmt::print("\nmetadata ({} keys)\n", checkpoint.metadata.size());
    for (const auto& [key, value] : checkpoint.metadata)
      fmt::print("  {:<42} {}\n", escaped(key), std::visit(ShowValue{}, value.value));
  } else {
    fmt::print("metadata   {} keys (--metadata lists them)\n", checkpoint.metadata.size());
  }
  if (options.tensors) printTensors(checkpoint);
  if (scan) printScan(*scan);
}

ordered_json scanJson(const io::CheckpointScan& scan) {
  ordered_json json;
  json["bytes"] = scan.bytes;
  json["nans"] = scan.nans;
  json["infinities"] = scan.infinities;
  json["checksum"] = fmt::format("{:016x}", scan.checksum);
  json["threads"] = scan.threads;
  json["time"] = jsonNumber(scan.seconds, "s", Origin::kMeasured);
  json["rate"] = jsonNumber(static_cast<double>(scan.bytes) / scan.seconds, "B/s", Origin::kMeasured);
  json["findings"] = ordered_json::array();
  for (const io::TensorFinding& finding : scan.findings) {
    json["findings"].push_back(
        {{"tensor", finding.tensor}, {"nans", finding.nans}, {"infinities", finding.infinities}});
  }
  return json;
}

ordered_json modelJson(const InspectFacts& facts) {
  ordered_json json;
  if (facts.config) {
    json["name"] = facts.config->model;
    json["parameters"] = models::parameterCount(*facts.config);
    json["lines"] = models::describe(*facts.config);
  }
  json["error"] = facts.model_fault ? ordered_json(facts.model_fault->text()) : ordered_json(nullptr);
  return json;
}

ordered_json textJson(const InspectFacts& facts) {
  ordered_json json;
  if (facts.tokenizer) {
    json["tokenizer"] = facts.tokenizer->describe();
    json["vocabulary"] = facts.tokenizer->vocabularySize();
    json["bos_id"] =
        facts.tokenizer->bosId() ? ordered_json(*facts.tokenizer->bosId()) : ordered_json(nullptr);
    json["stop_ids"] = facts.tokenizer->stopIds();
    json["chat_template"] = facts.tokenizer->hasChatTemplate();
  }
  json["error"] = facts.text_fault ? ordered_json(facts.text_fault->text()) : ordered_json(nullptr);
  return json;
}

void printAsJson(const InspectFacts& facts, const io::CheckpointScan* scan) {
  const io::Checkpoint& checkpoint = facts.checkpoint;
  ordered_json document = jsonDocument("sublane.inspect/2");
  document["source"] = checkpoint.source;
  document["container"] = checkpoint.container == io::Container::kGguf ? "gguf" : "hugging_face";
  document["architecture"] = checkpoint.architecture;
  document["parameters"] = facts.total.parameters;
  document["bytes"] = facts.total.bytes;
  document["formats"] = ordered_json::array();
  for (const auto& [format, total] : facts.by_format) {
    document["formats"].push_back({{"format", format},
                                   {"tensors", total.tensors},
                                   {"parameters", total.parameters},
                                   {"bytes", total.bytes}});
  }
  document["files"] = ordered_json::array();
  for (const InspectedFile& file : facts.files)
    document["files"].push_back({{"path", file.path}, {"tensors", file.tensors}, {"bytes", file.bytes}});
  document["model"] = modelJson(facts);
  document["text"] = textJson(facts);
  document["assumptions"] = facts.assumptions();
  document["metadata"] = ordered_json::object();
  for (const auto& [key, value] : checkpoint.metadata)
    document["metadata"][key] = std::visit(JsonValue{}, value.value);
  document["tensors"] = ordered_json::array();
  for (const io::Tensor& tensor : checkpoint.tensors) {
    document["tensors"].push_back({{"name", tensor.name},
                                   {"shape", tensor.shape},
                                   {"format", formatOf(tensor)},
                                   {"file", tensor.file},
                                   {"offset", tensor.file_offset},
                                   {"bytes", storedBytes(tensor)}});
  }
  if (scan) document["scan"] = scanJson(*scan);
  printJson(document);
}

Status inspect(const Options& options) {
  SUBLANE_TRY(io::Checkpoint opened, io::openCheckpoint(options.model));
  if (!options.dump.empty()) return dumpTensor(opened, options.dump, options.output);
  std::optional<io::CheckpointScan> scan;
  if (options.scan) scan = io::scanCheckpoint(opened, options.threads);
  const InspectFacts facts = inspectFacts(std::move(opened));
  if (options.json) {
    printAsJson(facts, scan ? &*scan : nullptr);
  } else {
    printReport(facts, options, scan ? &*scan : nullptr);
  }
  if (!scan || scan->findings.empty()) return Ok{};
  return Error(Fault::kCheckFailed,
               fmt::format("{}: {} NaN and {} infinite numbers in {} of {} tensors", facts.checkpoint.source,
                           scan->nans, scan->infinities, scan->findings.size(), facts.total.tensors));
}

}  // namespace

extern const Command cmd_inspect;
const Command cmd_inspect{
    "inspect", "Show what a checkpoint holds", [](CLI::App& verb) -> Action {
      auto options = std::make_shared<Options>();
      verb.add_option("MODEL", options->model, kModelHelp)->required();
      verb.add_flag("--metadata", options->metadata,
                    "List every key of the configuration (JSON always does)");
      verb.add_flag("--tensors", options->tensors, "List every tensor (JSON always does)");
      verb.add_flag("--scan", options->scan,
                    "Read every byte and look for NaN and infinities; exit code 1 if any");
      verb.add_option("--threads", options->threads, "Threads of the scan; default: one for each core")
          ->check(CLI::Range(1, 1024));
      verb.add_flag("--json", options->json, "Print JSON");
      auto* output = verb.add_option("-o,--output", options->output, "The file that --dump writes");
      auto* dump = verb.add_option("--dump", options->dump,
                                   "Write one tensor as a NumPy array (.npy): float32, however it is packed");
      dump->needs(output);
      output->needs(dump);
      return [options] { return inspect(*options); };
    }};

}  // namespace sublane::cli
