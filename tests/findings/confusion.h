// The confusion table: what rules find in programs against what is known to hold.
#pragma once

#include <algorithm>
#include <fstream>
#include <sstream>

#include "judged.h"

namespace sublane::findings {

/// A line of expected.txt: "name [mesh=2x2] [xla_option=true ...]: rule rule", "-" for none.
struct Expected {
  /// Of the program's file, without ".mlir", with a folder where it is another's; or a step of one of our
  /// models: "model/smollm2-135m.decode.loop".
  std::string name;
  std::map<std::string, pjrt::OptionValue> options;
  std::string mesh;
  std::set<std::string> rules;
};

inline std::vector<Expected> readExpected(const std::string& path) {
  std::vector<Expected> all;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(':');
    EXPECT_NE(colon, std::string::npos) << line;
    if (colon == std::string::npos) continue;
    Expected expected;
    std::istringstream before(line.substr(0, colon)), after(line.substr(colon + 1));
    before >> expected.name;
    for (std::string option; before >> option;) {
      const size_t equals = option.find('=');
      const std::string key = option.substr(0, equals), value = option.substr(equals + 1);
      if (key == "mesh") {
        expected.mesh = value;
      } else {
        expected.options[key] = value == "true";
      }
    }
    for (std::string rule; after >> rule;)
      if (rule != "-") expected.rules.insert(rule);
    all.push_back(std::move(expected));
  }
  return all;
}

struct Counts {
  int64_t right = 0, wrong = 0, missed = 0, silent = 0;
  Counts& operator+=(const Counts& other) {
    right += other.right;
    wrong += other.wrong;
    missed += other.missed;
    silent += other.silent;
    return *this;
  }
  double precision() const {
    return right + wrong > 0 ? static_cast<double>(right) / static_cast<double>(right + wrong) : 1;
  }
  double recall() const {
    return right + missed > 0 ? static_cast<double>(right) / static_cast<double>(right + missed) : 1;
  }
};

class Confusion {
 public:
  Confusion() {
    for (const Rule* rule : allRules()) counts_[std::string(rule->name)];
  }
  void add(const std::string& program, const std::set<std::string>& expected,
           const std::set<std::string>& found) {
    for (auto& [rule, counts] : counts_) {
      const bool should = expected.count(rule) > 0, did = found.count(rule) > 0;
      counts.right += should && did;
      counts.wrong += !should && did;
      counts.missed += should && !did;
      counts.silent += !should && !did;
      if (should != did) remarks_ += fmt::format("  {}: {} {}\n", program, did ? "wrong" : "missed", rule);
    }
    for (const std::string& rule : expected)
      EXPECT_TRUE(counts_.count(rule)) << program << ": no rule " << rule;
  }
  Counts all() const {
    Counts sum;
    for (const auto& [rule, counts] : counts_) sum += counts;
    return sum;
  }
  const std::map<std::string, Counts>& byRule() const { return counts_; }
  std::string toText() const {
    std::string text = fmt::format("{:22} {:>5} {:>5} {:>6} {:>6} {:>9} {:>6}\n", "rule", "right", "wrong",
                                   "missed", "silent", "precision", "recall");
    const auto line = [&](const std::string& name, const Counts& counts) {
      text += fmt::format("{:22} {:>5} {:>5} {:>6} {:>6} {:>9.2f} {:>6.2f}\n", name, counts.right,
                          counts.wrong, counts.missed, counts.silent, counts.precision(), counts.recall());
    };
    for (const auto& [rule, counts] : counts_) line(rule, counts);
    line("all", all());
    return text + remarks_;
  }

 private:
  std::map<std::string, Counts> counts_;
  std::string remarks_;
};

inline std::string programFolder() { return SUBLANE_SOURCE_DIR "/tests/findings/programs/"; }
inline std::string programPath(const std::string& name) {
  const bool elsewhere = name.find('/') != std::string::npos;
  return (elsewhere ? SUBLANE_SOURCE_DIR "/tests/" + name : programFolder() + name) + ".mlir";
}

/// What all rules find in a program; and what must hold of any findings.
inline std::vector<Finding> findingsIn(const Expected& program, const std::string& chip) {
  // A slice of tpu7x has a third axis, and two devices a chip.
  const std::string mesh = program.mesh == "2x2" && chip == "tpu7x" ? "2x1x1" : program.mesh;
  const report::CompileRequest request{.chip = chip, .mesh = mesh, .compile_options = program.options};
  constexpr std::string_view kModel = "model/";
  Result<Judged> judged = program.name.starts_with(kModel)
                              ? judgedModel(program.name.substr(kModel.size()), request)
                              : judgedFile(programPath(program.name), request);
  EXPECT_TRUE(judged.ok()) << program.name << ": " << (judged.ok() ? "" : judged.error().text());
  if (!judged.ok()) return {};
  std::vector<Finding> findings = findingsOf(judged->evidence());
  double gain = 0;
  for (const Finding& finding : findings) {
    gain += finding.gain_us;
    EXPECT_FALSE(finding.what.empty() || finding.cure.empty()) << program.name << " " << finding.rule;
    EXPECT_FALSE(finding.edit && finding.edit->kind == EditKind::kDonate && finding.edit->argument < 0);
  }
  EXPECT_LE(gain, 1.000001 * judged->step.us) << program.name;
  return findings;
}

}  // namespace sublane::findings
