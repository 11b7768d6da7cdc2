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

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

double numberOf(dom::object object, std::string_view key) {
  double value = 0;
  return object[key].get(value) ? 0 : value;
}

}  // namespace

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
                     .p90 = numberOf(entry, "p90")};
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

std::string classOf(const Row& row) {
  if (row.kind == "kernel" || row.kind == "custom call") {
    static constexpr std::pair<std::string_view, std::string_view> kKernels[] = {
        {"ragged_paged", "ragged paged attention"},
        {"ragged-paged", "ragged paged attention"},
        {"rpa", "ragged paged attention"},
        {"kv_cache_update", "KV update"},
        {"kv-cache-update", "KV update"},
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
      others[row.row.kind == "kernel" ? "kernel " + row.row.op : row.row.kind] += row.row.us;
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
