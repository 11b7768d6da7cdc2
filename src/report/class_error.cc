#include "report/class_error.h"

#include <simdjson.h>

#include <algorithm>
#include <cctype>

namespace sublane::report {
namespace {

namespace dom = simdjson::dom;

constexpr double kLeastCovered = 0.5;  // of the time, before its error says anything
constexpr double kMostlyOne = 0.8;     // of the covered time in one class: it gives its name
constexpr std::string_view kHostTimed = " (host-timed)";
constexpr int64_t kLeastPoints = 5;  // fewer are reported by the fit, but say nothing of others
constexpr double kLeastPairs = 5;

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

double numberOf(dom::object object, std::string_view key) {
  double value = 0;
  return object[key].get(value) ? 0 : value;
}

double pairedOf(dom::object entry, const char* key) {
  dom::object pairs;
  if (entry[key].get(pairs) || numberOf(pairs, "pairs") < kLeastPairs) return 0;
  return numberOf(pairs, "p90");
}

/// What a Pallas call calls its kernel, in a line or a whole program; empty if it is not one name.
std::string onlyKernelName(std::string_view text) {
  constexpr std::string_view kBegin = "kernel_name = \"";
  std::string only;
  for (size_t at = text.find(kBegin); at != text.npos; at = text.find(kBegin, at + 1)) {
    const size_t from = at + kBegin.size();
    const std::string name(text.substr(from, text.find('"', from) - from));
    if (!only.empty() && only != name) return "";
    only = name;
  }
  return only;
}

std::string_view lineOf(std::string_view text, int64_t number) {
  for (; number > 1 && !text.empty(); --number) {
    const size_t end = text.find('\n');
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

void nameKernels(SimulatedStep& step, const std::string& name, std::string_view stablehlo) {
  for (SimulatedRow& simulated : step.rows) {
    Row& row = simulated.row;
    if (row.kind != "kernel") continue;
    std::string found;
    if (row.source.starts_with(name + ":"))
      found = onlyKernelName(lineOf(stablehlo, std::atoll(row.source.c_str() + name.size() + 1)));
    if (found.empty()) found = onlyKernelName(stablehlo);
    if (!found.empty()) row.kernel = found;
  }
}

ClassErrors readClassErrors(std::string_view model_json) {
  ClassErrors errors;
  dom::parser parser;
  dom::element root;
  dom::array residuals;
  const simdjson::padded_string padded(model_json);
  if (parser.parse(padded).get(root) || root["fitted"]["residuals"].get(residuals)) return errors;
  for (const dom::element element : residuals) {
    dom::object entry;
    std::string_view kind;
    if (element.get(entry) || entry["class"].get(kind)) continue;
    ClassError error{.name = std::string(kind),
                     .points = static_cast<int64_t>(numberOf(entry, "points")),
                     .median = std::max(numberOf(entry, "median"), numberOf(entry, "held_out_median")),
                     .p90 = numberOf(entry, "p90"),
                     .paired_p90 = pairedOf(entry, "paired"),
                     .paired_between_p90 = pairedOf(entry, "paired_between_kernels")};
    error.p90 = std::max(error.p90, error.median);
    if (error.points >= kLeastPoints && error.p90 > 0) errors[error.name] = error;
  }
  // Times of the host, less its launch, stand in where no device time is known.
  for (const auto& [name, error] : ClassErrors(errors)) {
    const std::string plain = name.substr(0, name.find(kHostTimed));
    if (plain != name) errors.try_emplace(plain, error);
  }
  return errors;
}

double errorOfChange(const ClassError& error, double before_us, double after_us, bool one_kernel) {
  const double paired = one_kernel ? error.paired_p90 : error.paired_between_p90;
  return paired > 0 ? paired * std::max(before_us, after_us) : error.p90 * (before_us + after_us);
}

std::string classOf(const Row& row) {
  if (row.kind == "kernel" || row.kind == "custom call") {
    static constexpr std::pair<std::string_view, std::string_view> kKernels[] = {
        {"ragged_paged", "ragged paged attention"},
        {"ragged-paged", "ragged paged attention"},
        {"rpa", "ragged paged attention"},
        {"kv_cache_update", "KV update"},
        {"kv-cache-update", "KV update"},
        {"splash_mha", "flash attention"},
        {"flash_attention", "flash attention"},
        {"flash-attention", "flash attention"},
        {"ragged_dot", "grouped matmul"},
        {"ragged-dot", "grouped matmul"},
        {"gmm", "grouped matmul"},
        {"cross_entropy", "fused cross-entropy"},
        {"cross-entropy", "fused cross-entropy"},
        {"matmul", "GEMM"}};
    const std::string words = lower(row.kernel + " " + row.op + " " + row.place.part);
    for (const auto& [word, kind] : kKernels) {
      if (words.find(word) != std::string::npos) return std::string(kind);
    }
    return "";
  }
  if (row.kind == "matmul") return "GEMM";
  static constexpr std::string_view kMoves[] = {"elementwise", "copy",       "fill",       "slice",
                                                "prefetch",    "write back", "async copy", "update slice"};
  const bool moves = std::find(std::begin(kMoves), std::end(kMoves), row.kind) != std::end(kMoves);
  return moves && row.hbm_bytes > 0 ? "HBM copy and elementwise" : "";
}

void setError(SimulatedStep& step, const ClassErrors& errors) {
  std::map<std::string, double> times, others;
  double total = 0;
  for (SimulatedRow& row : step.rows) {
    row.error_class = classOf(row.row);
    total += row.row.us;
    if (!row.error_class.empty()) times[row.error_class] += row.row.us;
    if (row.error_class.empty())
      others[row.row.kind == "kernel" ? "kernel " + (row.row.kernel.empty() ? row.row.op : row.row.kernel)
                                      : row.row.kind] += row.row.us;
    if (const auto known = errors.find(row.error_class); known != errors.end())
      row.row.error = known->second.p90;
  }
  StepError error;
  double covered = 0, largest = 0, largest_unknown = 0;
  int64_t classes = 0;
  for (const auto& [kind, us] : times) {
    const auto known = errors.find(kind);
    if (known == errors.end()) {
      if (us > largest_unknown) step.unknown_class = kind;
      largest_unknown = std::max(largest_unknown, us);
      continue;
    }
    classes += 1;
    covered += us;
    error.relative += us * known->second.p90;
    error.points += known->second.points;
    if (us > largest) error.name = kind;
    largest = std::max(largest, us);
  }
  for (const auto& [kind, us] : others) {
    if (us > largest_unknown) step.unknown_class = kind;
    largest_unknown = std::max(largest_unknown, us);
  }
  if (total <= 0 || covered < kLeastCovered * total) return;
  error.relative /= covered;
  error.covered = covered / total;
  if (largest >= kMostlyOne * covered) {
    error.points = errors.at(error.name).points;
  } else {
    error.name = fmt::format("{} classes", classes);
  }
  step.unknown_class.clear();
  step.error = error;
}

}  // namespace sublane::report
