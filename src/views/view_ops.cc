#include "report/step_text.h"
#include "views/views.h"

namespace sublane::views {
namespace {

std::string text(const Look& look) {
  std::string text = report::rowsText(look.step, look.top);
  return look.all_in_focus ? text + report::totalsText(look.step, *look.simulation.chip) : text;
}

}  // namespace

extern const View view_ops;
const View view_ops{"ops", "operations, those of one place together, with the causes of their cycles", text};

}  // namespace sublane::views
