// Waits for transfers: how many of them something else could have hidden. Private to the folder.
#pragma once

#include "findings/rows.h"

namespace sublane::findings {

struct Waits {
  double all_us = 0;  // cycles in which the sequencer waits for transfers
  double idle_us =
      0;  // of them, those beyond what the HBM needs for the step's bytes: others could be hidden
  double part() const { return all_us > 0 ? idle_us / all_us : 0; }
};
Waits waitsOf(const Evidence& evidence);

}  // namespace sublane::findings
