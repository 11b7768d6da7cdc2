#include "report/baseline.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace sublane::report {
namespace {

constexpr std::string_view kHeader = "sublane baseline 1";
constexpr size_t kMostWorst = 5;

std::string placeOf(const Row& row) {
  return !row.place.part.empty() ? row.place.part : !row.source.empty() ? row.source : "-";
}

using Key = std::pair<std::string, std::string>;  // kind, place
struct Sum {
  double us = 0;
  std::string source, op;
  double source_us = -1, op_us = -1;
};
std::map<Key, Sum> sumsOf(const SimulatedStep& step) {
  std::map<Key, Sum> sums;
  for (const SimulatedRow& each : step.rows) {
    Sum& sum = sums[{each.row.kind, placeOf(each.row)}];
    sum.us += each.row.us;
    if (each.row.us > sum.op_us) {
      sum.op_us = each.row.us;
      sum.op = each.row.op;
    }
    if (each.row.us <= sum.source_us || each.row.source.empty()) continue;
    sum.source_us = each.row.us;
    sum.source = each.row.source;
  }
  return sums;
}

BaselineStep stepOf(const SimulatedStep& step) {
  BaselineStep kept{.name = step.name,
                    .rung = std::string(name(step.rung)),
                    .us = step.us,
                    .hbm_bytes = step.hbm_read_bytes + step.hbm_write_bytes};
  for (const auto& [key, sum] : sumsOf(step))
    kept.lines.push_back({.us = sum.us, .kind = key.first, .place = key.second});
  std::stable_sort(kept.lines.begin(), kept.lines.end(),
                   [](const BaselineLine& a, const BaselineLine& b) { return a.us > b.us; });
  return kept;
}

/// "libtpu 0.0.52" of "libtpu 0.0.52 (TFRT ...)".
std::string shortCompiler(const std::string& compiler) { return compiler.substr(0, compiler.find(" (")); }

std::string words(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '-');
  return text.empty() ? "-" : text;
}

/// Reads the lines of a baseline, one after the other.
class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : stream_(std::string(text)), where_(where) {}

  Result<Baseline> run() {
    Baseline baseline;
    if (!next() || line_ != kHeader) return wrong(fmt::format("\"{}\"", kHeader));
    while (next()) {
      if (line_.empty() || line_[0] == '#') continue;
      SUBLANE_CHECK_OK(line(baseline));
    }
    if (baseline.steps.empty()) return wrong("a step");
    return baseline;
  }

 private:
  bool next() {
    ++number_;
    return static_cast<bool>(std::getline(stream_, line_));
  }
  Error wrong(const std::string& expected) const {
    return inputError("{}:{}: \"{}\": expected {}", where_, number_, line_, expected)
        .hint("sublane check --update writes it anew");
  }
  Status line(Baseline& baseline) {
    std::istringstream in(line_);
    std::string word;
    in >> word;
    if (word == "chip") return rest(in, baseline.chip);
    if (word == "compiler") return rest(in, baseline.compiler);
    if (word == "model") return rest(in, baseline.model);
    if (word == "step") {
      BaselineStep step;
      std::string us, bytes, rung;
      if (!(in >> step.name >> us >> step.us >> bytes >> step.hbm_bytes >> rung >> step.rung) || us != "us" ||
          bytes != "hbm_bytes" || rung != "rung")
        return wrong("step NAME us X hbm_bytes N rung R");
      step.line_number = number_;
      baseline.steps.push_back(std::move(step));
      return Ok{};
    }
    BaselineLine line;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), line.us);
    if (error != std::errc{} || end != word.data() + word.size() || !(in >> line.kind >> line.place) ||
        baseline.steps.empty())
      return wrong("MICROSECONDS KIND PLACE under a step");
    baseline.steps.back().lines.push_back(std::move(line));
    return Ok{};
  }
  Status rest(std::istringstream& in, std::string& text) {
    std::getline(in >> std::ws, text);
    if (text.empty()) return wrong("a value");
    return Ok{};
  }

  std::istringstream stream_;
  std::string where_, line_;
  int64_t number_ = 0;
};

StepCheck checkStep(const BaselineStep& kept, const SimulatedStep* now, const BaselineOptions& options) {
  StepCheck check{.name = kept.name, .before_us = kept.us, .baseline_line = kept.line_number};
  const auto fail = [&](std::string reason) {
    check.passed = false;
    check.reason += (check.reason.empty() ? "" : "; ") + std::move(reason);
  };
  if (!now) {
    fail("the program has no such step");
    return check;
  }
  check.after_us = now->us;
  if (kept.rung != name(now->rung)) {
    fail(fmt::format("it stands on {}, the baseline on {}: {}", name(now->rung), kept.rung, now->reason));
    return check;
  }
  const double allowed = 1 + options.most_regression;
  if (now->us > kept.us * allowed + 0.005) {
    fail(fmt::format("{:.2f} us are {:+.1f} % of the baseline's {:.2f} us; {:.1f} % are allowed", now->us,
                     100 * (now->us / kept.us - 1), kept.us, 100 * options.most_regression));
  }
  const int64_t bytes = now->hbm_read_bytes + now->hbm_write_bytes;
  if (static_cast<double>(bytes) > static_cast<double>(kept.hbm_bytes) * allowed) {
    fail(fmt::format("{} bytes of HBM traffic are more than the baseline's {}", bytes, kept.hbm_bytes));
  }
  std::map<Key, BaselineLine> before;
  for (const BaselineLine& line : kept.lines) before[{line.kind, line.place}] = line;
  for (const auto& [key, sum] : sumsOf(*now)) {
    const Key written{words(key.first), words(key.second)};
    const auto old = before.find(written);
    const BaselineLine line =
        old != before.end() ? old->second : BaselineLine{0, written.first, written.second};
    if (sum.us > line.us * allowed + 0.005) check.worst.push_back({line, sum.us, sum.source, sum.op});
  }
  std::stable_sort(check.worst.begin(), check.worst.end(), [](const auto& a, const auto& b) {
    return a.after_us - a.before.us > b.after_us - b.before.us;
  });
  if (check.worst.size() > kMostWorst) check.worst.resize(kMostWorst);
  if (check.passed && kept.us > now->us * allowed + 0.005)
    check.reason = fmt::format("{:.1f} % faster than its baseline: --update keeps what was gained",
                               100 * (1 - now->us / kept.us));
  return check;
}

}  // namespace

Baseline baselineOf(const Simulation& simulation) {
  Baseline baseline{.chip = simulation.chip->name,
                    .compiler = shortCompiler(simulation.compiler),
                    .model = simulation.model_hash.substr(0, 12)};
  for (const SimulatedStep& step : simulation.steps) baseline.steps.push_back(stepOf(step));
  return baseline;
}

std::string baselineName(const SimulatedStep& step) { return words(step.name); }

std::string toText(const Baseline& baseline) {
  std::string text = fmt::format("{}\nchip {}\ncompiler {}\nmodel {}\n", kHeader, baseline.chip,
                                 baseline.compiler.empty() ? "-" : baseline.compiler,
                                 baseline.model.empty() ? "-" : baseline.model);
  for (const BaselineStep& step : baseline.steps) {
    text += fmt::format("step {} us {:.2f} hbm_bytes {} rung {}\n", words(step.name), step.us, step.hbm_bytes,
                        step.rung);
    for (const BaselineLine& line : step.lines)
      text += fmt::format("  {:.2f} {} {}\n", line.us, words(line.kind), words(line.place));
  }
  return text;
}

Result<Baseline> parseBaseline(std::string_view text, const std::string& where) {
  return Parser(text, where).run();
}

bool BaselineCheck::passed() const {
  return std::all_of(steps.begin(), steps.end(), [](const StepCheck& step) { return step.passed; });
}

BaselineCheck checkBaseline(const Baseline& kept, const Simulation& now, const BaselineOptions& options) {
  BaselineCheck check;
  const Baseline current = baselineOf(now);
  const auto note = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after)
      check.notes.push_back(fmt::format("{}: {} made the baseline, {} this", what, before, after));
  };
  note("compiler", kept.compiler, current.compiler);
  note("simulator and model", kept.model, current.model);
  if (kept.chip != current.chip) {
    check.steps.push_back(
        {.name = "chip",
         .passed = false,
         .reason = fmt::format("the baseline is of {}, this of {}", kept.chip, current.chip)});
    return check;
  }
  for (const BaselineStep& step : kept.steps) {
    const auto found = std::find_if(now.steps.begin(), now.steps.end(), [&](const SimulatedStep& candidate) {
      return words(candidate.name) == step.name;
    });
    check.steps.push_back(checkStep(step, found == now.steps.end() ? nullptr : &*found, options));
  }
  return check;
}

}  // namespace sublane::report
