#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "report/diff_lines.h"

namespace sublane::report {
namespace {

constexpr double kLeastCovered = 0.5;  // of what changed, before its error says anything

/// What makes two rows alike: the same work that took the same cycles for the same reasons.
using Alike = std::tuple<std::string, std::string, int64_t, int64_t, int64_t, events::CauseCycles>;
Alike alikeOf(const SimulatedRow& row) {
  return {
      row.row.kind, row.row.kernel, row.row.count, row.row.cycles, row.hbm_read_bytes + row.hbm_write_bytes,
      row.causes};
}

/// Changed rows of one class, of one line.
struct ClassChange {
  double before_us = 0, after_us = 0;
  std::set<std::string> kernels_before, kernels_after;
  double changedUs() const { return std::max(before_us, after_us); }
};
using Changes = std::map<std::string, ClassChange>;  // by class; of none: a tab and the kind

void add(const SimulatedRow& row, bool before, Changes& changes) {
  const std::string kind = row.error_class.empty() ? classOf(row.row) : row.error_class;
  ClassChange& change = changes[kind.empty() ? "\t" + row.row.kind : kind];
  (before ? change.before_us : change.after_us) += row.row.us;
  (before ? change.kernels_before : change.kernels_after)
      .insert(row.row.kernel.empty() ? row.row.kind : row.row.kernel);
}

double errorUs(const std::string& kind, const ClassChange& change, const SideErrors& errors, bool& known) {
  const auto before = errors.before.find(kind), after = errors.after.find(kind);
  if (change.changedUs() <= 0) return 0;
  known = (before != errors.before.end() || change.before_us == 0) &&
          (after != errors.after.end() || change.after_us == 0) && kind[0] != '\t';
  if (!known) return 0;
  if (!errors.one_chip) {
    return (change.before_us > 0 ? before->second.p90 * change.before_us : 0) +
           (change.after_us > 0 ? after->second.p90 * change.after_us : 0);
  }
  const bool one_kernel = change.kernels_before == change.kernels_after;
  return errorOfChange(before->second, change.before_us, change.after_us, one_kernel);
}

/// Errors of the classes add up: they may all be wrong the same way.
ChangeError errorOf(const Changes& changes, const SideErrors& errors) {
  ChangeError error;
  double known_us = 0, largest = 0;
  for (const auto& [kind, change] : changes) {
    bool known = false;
    error.us += errorUs(kind, change, errors, known);
    error.changed_us += change.changedUs();
    if (known) known_us += change.changedUs();
    if (change.changedUs() <= largest) continue;
    largest = change.changedUs();
    error.name = kind[0] == '\t' ? kind.substr(1) : kind;
  }
  if (error.changed_us <= 0) {
    error.known = true;
    return error;
  }
  error.covered = known_us / error.changed_us;
  error.known = error.covered >= kLeastCovered;
  error.us = error.known ? error.us / error.covered : 0;
  return error;
}

bool isResolvable(double change_us, const ChangeError& error) {
  return error.known && std::abs(change_us) >= error.us;
}

}  // namespace

bool DiffLine::resolvable() const { return isResolvable(changeUs(), error); }
bool StepDiff::resolvable() const { return sameOrigin() && isResolvable(changeUs(), error); }

void setErrors(const SimulatedStep& before, const SimulatedStep& after, const SideErrors& errors,
               StepDiff& diff) {
  std::map<Alike, int64_t> twins;  // left on the other side
  if (errors.one_chip) {
    for (const SimulatedRow& row : after.rows) ++twins[alikeOf(row)];
  }
  std::map<Alike, int64_t> taken;
  // Rows belong to the line that has their key, as a part or as a whole.
  std::map<std::pair<std::string, std::string>, size_t> line_of;
  for (size_t i = 0; i < diff.lines.size(); ++i)
    for (const DiffLine& part : diff.lines[i].parts) line_of[{part.place, part.kind}] = i;
  const bool by_source = shareSources(before, after);
  std::vector<Changes> by_line(diff.lines.size());
  const auto count = [&](const SimulatedRow& row, bool is_before) {
    const std::string key = keyOf(row.row, by_source);
    const auto line = line_of.find({key[0] == '\t' ? "" : key, row.row.kind});
    if (line != line_of.end()) add(row, is_before, by_line[line->second]);
  };
  for (const SimulatedRow& row : before.rows) {
    const auto twin = twins.find(alikeOf(row));
    if (twin == twins.end() || twin->second == 0) {
      count(row, true);
    } else {
      --twin->second;
      ++taken[twin->first];
    }
  }
  for (const SimulatedRow& row : after.rows) {
    const auto twin = taken.find(alikeOf(row));
    if (twin == taken.end() || twin->second == 0) {
      count(row, false);
    } else {
      --twin->second;
    }
  }
  Changes whole;
  for (size_t i = 0; i < diff.lines.size(); ++i) {
    diff.lines[i].error = errorOf(by_line[i], errors);
    for (const auto& [kind, change] : by_line[i]) {
      ClassChange& sum = whole[kind];
      sum.before_us += change.before_us;
      sum.after_us += change.after_us;
      sum.kernels_before.insert(change.kernels_before.begin(), change.kernels_before.end());
      sum.kernels_after.insert(change.kernels_after.begin(), change.kernels_after.end());
    }
  }
  diff.error = errorOf(whole, errors);
}

}  // namespace sublane::report
