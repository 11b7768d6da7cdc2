#include "base/units.h"
#include "findings/copies.h"

namespace sublane::findings {
namespace {

/// What the first of the copies is, from where to where.
std::string line(const Look& look, const Copy& copy) {
  return fmt::format("{} copies {} of {} into {} for {} (compiler)", copy.row->row.op, layoutOf(*copy.from),
                     whoMade(look, look.flow.operand(copy.spot, 0)), layoutOf(*copy.to),
                     whoWants(look, copy.spot));
}

/// The copy of the argument itself into the order that the program wants, if there is one.
const Copy* relayoutOf(const Look& look, const std::vector<const Copy*>& copies) {
  for (const Copy* copy : copies) {
    const Spot made = look.flow.producer(look.flow.operand(copy->spot, 0));
    const bool argument = look.flow.at(made).is("parameter") && made.computation == look.flow.module().entry;
    if (argument && !copy->same_layout && copy->from->dims == copy->to->dims) return copy;
  }
  return nullptr;
}

std::optional<Edit> editOf(const Look& look, const std::vector<const Copy*>& copies) {
  if (look.evidence.layers_in_loop && copies[0]->same_layout && copies[0]->row->row.count > 1)
    return Edit{.kind = EditKind::kModelOption, .option = "layers", .value = "unrolled"};
  const Copy* relayout = relayoutOf(look, copies);
  if (relayout == nullptr) return std::nullopt;
  return Edit{.kind = EditKind::kArgumentLayout,
              .argument = relayout->argument,
              .output = look.flow.donatedTo(relayout->argument),
              .minor_to_major = relayout->to->layout.minor_to_major};
}

std::string cureOf(const Look& look, CopyOf of, const std::vector<const Copy*>& copies) {
  const Copy& first = *copies[0];
  if (look.evidence.layers_in_loop && first.row->row.count > 1)
    return "it is copied in the loop over the layers: --layers unrolled updates it in place";
  if (const Copy* relayout = relayoutOf(look, copies))
    return fmt::format("store argument {} in the layout {} that the program wants, once", relayout->argument,
                       layoutOf(*relayout->to));
  if (of == CopyOf::kState)
    return "update it in place: read what is old before the update, and return it where it was donated";
  if (of == CopyOf::kArgument) return "read it where it lies, or donate it if it is not needed afterwards";
  return "let its maker write it where it is wanted: carry the buffer through the loop and update it there";
}

/// BEFORE  %c = copy(%cache); %n = dynamic-update-slice(%c, ...)     the whole cache moves at each step
/// AFTER   %n = dynamic-update-slice(%cache, ...)                    a row of it
/// Copies that may alias and did, took no time and have no row.
std::vector<Finding> look(const Look& look) {
  const std::vector<Copy> copies = wholeCopies(look);
  std::vector<Finding> found;
  for (const CopyOf of : {CopyOf::kState, CopyOf::kArgument, CopyOf::kOther}) {
    std::vector<const Copy*> some;
    for (const Copy& copy : copies)
      if (copy.of == of) some.push_back(&copy);
    const Rows rows = rowsOf(look, some);
    if (rows.empty() || look.evidence.percent(rows.us) < 1) continue;
    std::stable_sort(some.begin(), some.end(), [](const Copy* a, const Copy* b) { return a->us > b->us; });
    Finding finding = about(rows, "whole-copies");
    int64_t executions = 0;
    for (const Copy* copy : some) executions += copy->row->row.count;
    finding.what =
        fmt::format("{}: {} copies of a whole {} take {}, {} moved", named(rows), formatCount(executions),
                    of == CopyOf::kState      ? "buffer that is updated (a cache)"
                    : of == CopyOf::kArgument ? "argument (a weight)"
                                              : "buffer of the step",
                    timeOf(look.evidence, rows.us), formatBytes(static_cast<double>(rows.bytes)));
    finding.cure = cureOf(look, of, some);
    for (size_t i = 0; i < some.size() && i < 2; ++i) finding.evidence.push_back(line(look, *some[i]));
    finding.edit = editOf(look, some);
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace

extern const Rule rule_whole_copies;
const Rule rule_whole_copies{"whole-copies", "copies of whole caches and weights in each step",
                             Rank::kPattern, look};

}  // namespace sublane::findings
