// `sublane inspect MODEL`: what a checkpoint says, without interpreting it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli.h"
#include "io/checkpoint.h"
#include "io/scan.h"

namespace sublane::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model;
  bool json = false, tensors = false, scan = false;
  int threads = 0;
};

int64_t elementsOf(const io::Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t size : tensor.shape) elements *= size;
  return elements;
}

struct Total {
  int64_t tensors = 0, parameters = 0, bytes = 0;
  void add(const io::Tensor& tensor) {
    ++tensors;
    parameters += elementsOf(tensor);
    bytes += static_cast<int64_t>(tensor.bytes.size());
  }
};

struct Summary {
  Total total;
  std::vector<std::pair<std::string_view, Total>> by_packing;  // most bytes first
};

Summary summarise(const io::Checkpoint& checkpoint) {
  Summary summary;
  std::map<std::string_view, Total> by_packing;
  for (const io::Tensor& tensor : checkpoint.tensors) {
    summary.total.add(tensor);
    by_packing[formats::info(tensor.packing).name].add(tensor);
  }
  summary.by_packing.assign(by_packing.begin(), by_packing.end());
  std::stable_sort(summary.by_packing.begin(), summary.by_packing.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  return summary;
}

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
  fmt::print("\n{:<40} {:>8}  {:<20} {:>12}\n", "tensor", "packing", "shape", "bytes");
  for (const io::Tensor& tensor : checkpoint.tensors) {
    fmt::print("{:<40} {:>8}  {:<20} {:>12}\n", escaped(tensor.name, 200), formats::info(tensor.packing).name,
               shapeText(tensor), tensor.bytes.size());
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

void printText(const io::Checkpoint& checkpoint, const Options& options, const io::CheckpointScan* scan) {
  const Summary summary = summarise(checkpoint);
  fmt::print("{}\n", checkpoint.source);
  fmt::print("architecture {}, {} parameters in {} tensors, {}\n\n", inQuotes(checkpoint.architecture),
             formatCount(summary.total.parameters), summary.total.tensors,
             formatBytes(static_cast<double>(summary.total.bytes)));
  fmt::print("{:<8} {:>8} {:>16} {:>10} {:>10}\n", "packing", "tensors", "parameters", "bytes", "bits each");
  for (const auto& [packing, total] : summary.by_packing) {
    fmt::print("{:<8} {:>8} {:>16} {:>10} {:>10.2f}\n", packing, total.tensors, formatCount(total.parameters),
               formatBytes(static_cast<double>(total.bytes)),
               8.0 * static_cast<double>(total.bytes) / static_cast<double>(total.parameters));
  }
  fmt::print("\nmetadata ({} keys)\n", checkpoint.metadata.size());
  for (const auto& [key, value] : checkpoint.metadata) {
    fmt::print("  {:<42} {}\n", escaped(key), std::visit(ShowValue{}, value.value));
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

void printAsJson(const io::Checkpoint& checkpoint, const io::CheckpointScan* scan) {
  const Summary summary = summarise(checkpoint);
  ordered_json document = jsonDocument("sublane.inspect/1");
  document["source"] = checkpoint.source;
  document["container"] = "gguf";
  document["architecture"] = checkpoint.architecture;
  document["parameters"] = summary.total.parameters;
  document["bytes"] = summary.total.bytes;
  document["packings"] = ordered_json::array();
  for (const auto& [packing, total] : summary.by_packing) {
    document["packings"].push_back({{"packing", packing},
                                    {"tensors", total.tensors},
                                    {"parameters", total.parameters},
                                    {"bytes", total.bytes}});
  }
  document["metadata"] = ordered_json::object();
  for (const auto& [key, value] : checkpoint.metadata)
    document["metadata"][key] = std::visit(JsonValue{}, value.value);
  document["tensors"] = ordered_json::array();
  for (const io::Tensor& tensor : checkpoint.tensors) {
    document["tensors"].push_back({{"name", tensor.name},
                                   {"shape", tensor.shape},
                                   {"packing", formats::info(tensor.packing).name},
                                   {"offset", tensor.file_offset},
                                   {"bytes", tensor.bytes.size()}});
  }
  if (scan) document["scan"] = scanJson(*scan);
  printJson(document);
}

Status inspect(const Options& options) {
  SUBLANE_TRY(io::Checkpoint checkpoint, io::openCheckpoint(options.model));
  std::optional<io::CheckpointScan> scan;
  if (options.scan) scan = io::scanCheckpoint(checkpoint, options.threads);
  if (options.json) {
    printAsJson(checkpoint, scan ? &*scan : nullptr);
  } else {
    printText(checkpoint, options, scan ? &*scan : nullptr);
  }
  if (!scan || scan->findings.empty()) return Ok{};
  return Error(Fault::kCheckFailed,
               fmt::format("{}: {} NaN and {} infinite numbers in {} of {} tensors", checkpoint.source,
                           scan->nans, scan->infinities, scan->findings.size(), checkpoint.tensors.size()));
}

}  // namespace

extern const Command cmd_inspect;
const Command cmd_inspect{
    "inspect", "Show what a checkpoint holds", [](CLI::App& verb) -> Action {
      auto options = std::make_shared<Options>();
      verb.add_option("MODEL", options->model, "A fetched name, a .gguf file, or a folder that holds one")
          ->required();
      verb.add_flag("--tensors", options->tensors, "List every tensor (JSON always does)");
      verb.add_flag("--scan", options->scan,
                    "Read every byte and look for NaN and infinities; exit code 1 if any");
      verb.add_option("--threads", options->threads, "Threads of the scan; default: one for each core")
          ->check(CLI::Range(1, 1024));
      verb.add_flag("--json", options->json, "Print JSON");
      return [options] { return inspect(*options); };
    }};

}  // namespace sublane::cli
