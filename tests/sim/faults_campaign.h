// Many faults in many programs, counted: made, caught, located.
#pragma once

#include <map>

#include "faults_judge.h"

namespace sublane::sim {

struct Tally {
  int made = 0, equivalent = 0, caught = 0, errors = 0, operation = 0, near = 0;

  void add(const Verdict& v) {
    ++made;
    equivalent += v.equivalent;
    caught += v.caught;
    errors += v.error;
    operation += v.operation;
    near += v.near;
  }
  /// Of those that change anything.
  double shareCaught() const { return static_cast<double>(caught) / std::max(1, made - equivalent); }
  double shareLocated() const { return static_cast<double>(operation) / std::max(1, made - equivalent); }
};

struct Campaign {
  std::map<size_t, Tally> by_kind;
  std::map<std::string, Tally> by_program;
  Tally all;
  std::string open;  // the faults that were not caught, or not located, and what was said
};

/// With SUBLANE_FAULTS=all in the environment, `open` tells of every fault.
inline Result<Campaign> campaign(const std::vector<std::string>& names, const std::string& chip,
                                 size_t each) {
  const bool loud = std::getenv("SUBLANE_FAULTS") != nullptr;
  Campaign result;
  for (const std::string& name : names) {
    SUBLANE_TRY(Subject subject, subjectNamed(name));
    SUBLANE_TRY(Judge judge, Judge::of(std::move(subject), chip));
    const llo::Program& program = judge.compiled().program;
    SUBLANE_TRY(const Coverage coverage, coverageOf(judge.compiled()));
    for (const Fault& fault : faultsOf(program, coverage, each)) {
      const std::string what = fmt::format("{}: {}", name, textOf(program, fault));
      const Verdict verdict = judge.on(fault);
      for (Tally* tally : {&result.by_kind[fault.kind], &result.by_program[name], &result.all})
        tally->add(verdict);
      if (verdict.operation && !loud) continue;
      const char* how = verdict.caught ? (verdict.operation ? "" : "not located: ") : "not caught: ";
      result.open += fmt::format("  {}\n    {}{}\n", what, how, verdict.said);
    }
  }
  return result;
}

inline void printRow(const std::string& name, const Tally& t) {
  std::printf("| %-17s | %4d | %10d | %6d | %6d | %7d | %4d |\n", name.c_str(), t.made, t.equivalent,
              t.caught, t.errors, t.operation, t.near);
}

/// "Equivalent": no store and no result differs in a bit. "Located": the operation with the fault is named;
/// "near": so is a bundle of it within kNear of the fault.
inline void print(const Campaign& campaign) {
  std::printf("| fault             | made | equivalent | caught | errors | located | near |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const auto& [kind, tally] : campaign.by_kind) printRow(kFaultKinds[kind].name, tally);
  for (const auto& [name, tally] : campaign.by_program) printRow("in " + name, tally);
  printRow("all", campaign.all);
  std::printf("Not caught or not located:\n%s", campaign.open.c_str());
}

}  // namespace sublane::sim
