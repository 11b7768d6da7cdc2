// What becomes of a fault: whether values show it, and how close to it they point.
#pragma once

#include <cstdlib>
#include <string>

#include "faults.h"
#include "values_cases.h"

namespace sublane::sim {

/// Bundles apart at most for a place to be "near".
inline constexpr int kNear = 16;

struct Verdict {
  bool caught = false;
  bool error = false;       // the run ended with one; else a result differs
  bool operation = false;   // what is said names the operation that has the fault
  bool near = false;        // and a bundle of it within kNear
  bool equivalent = false;  // no store and no result ever differs in a bit
  std::string said;
};

/// The bundles of a function that a text names: "fusion.1, bundle 0x1f".
inline std::vector<int> bundlesNamed(const std::string& text, const std::string& function) {
  std::vector<int> bundles;
  const std::string before = function + ", bundle ";
  for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1))
    bundles.push_back(static_cast<int>(std::strtol(text.c_str() + at + before.size(), nullptr, 16)));
  return bundles;
}

class Judge {
 public:
  /// Compiles the subject, executes it on the CPU and once without a fault.
  static Result<Judge> of(Subject subject, const std::string& chip) {
    Judge judge{std::move(subject)};
    SUBLANE_TRY(judge.compiled_, compile(judge.subject_.stablehlo, chip, judge.subject_.fill));
    judge.compiled_.options.track_writers = true;
    SUBLANE_TRY(judge.want_, onCpu(judge.subject_.reference, judge.compiled_));
    SUBLANE_TRY(judge.good_, execute(judge.compiled_));
    // A loop that does not end is an error, too.
    judge.compiled_.options.most_bundles = 8 * judge.good_.run.bundles + 100000;
    const std::string differs = judge.difference(judge.good_);
    if (!differs.empty()) return machineError("{} without a fault: {}", judge.subject_.name, differs);
    return judge;
  }

  Compiled& compiled() { return compiled_; }
  const Subject& subject() const { return subject_; }

  Verdict on(const Fault& fault) {
    const Seeded seeded(compiled_.program, fault);
    const std::string& function = compiled_.program.listings[static_cast<size_t>(fault.listing)].function;
    Verdict verdict;
    const Result<Executed> executed = execute(compiled_);
    verdict.error = !executed.ok();
    verdict.said = verdict.error ? executed.error().text() : difference(*executed);
    verdict.caught = !verdict.said.empty();
    const std::vector<int> named = bundlesNamed(verdict.said, function);
    verdict.operation = !named.empty();
    verdict.near = std::any_of(named.begin(), named.end(),
                               [&](int bundle) { return std::abs(bundle - fault.bundle) <= kNear; });
    if (verdict.caught) return verdict;
    const bool same = executed->outputs == good_.outputs;
    verdict.equivalent = same && executed->run.stores_hash == good_.run.stores_hash;
    verdict.said = verdict.equivalent ? "no store and no result differs in a bit"
                   : same             ? "results have the same bits"
                                      : "results are within the bound";
    return verdict;
  }

 private:
  explicit Judge(Subject subject) : subject_(std::move(subject)) {}

  /// The first output that is out of its bound, with the bundle that wrote the vector; "" if none is.
  std::string difference(const Executed& executed) const {
    for (size_t i = 0; i < want_.size(); ++i) {
      const llo::Shape& shape = compiled_.results[i];
      const Result<Comparison> c =
          compareValues(shape, executed.outputs[i], want_[i], subject_.bound(shape, i));
      if (!c.ok()) return c.error().text();
      const auto writer = writersOf(compiled_.program, executed.run, static_cast<int32_t>(i));
      if (!c->equal()) return fmt::format("output {}: {}", i, describe(shape, *c, writer));
    }
    return "";
  }

  Subject subject_;
  Compiled compiled_;
  std::vector<std::vector<std::byte>> want_;
  Executed good_;
};

}  // namespace sublane::sim
