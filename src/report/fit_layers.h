// A model that doesn't fit one device, cut to some layers of each kind: what a step costs by layer still
// shows.
//
//   const CutModel cut = cutToFit(config, 2, 24e9);      // bytes of a weight, bytes for all of them
//   if (!cut.note.empty()) assumptions.push_back(cut.note);
#pragma once

#include <string>

#include "models/models.h"

namespace sublane::report {

struct CutModel {
  models::DecoderConfig config;
  std::string note;  // what was left out; empty: nothing
};

/// Keeps the first layers of each kind (mixer, MLP or experts, window or none): four of each, fewer while the
/// weights are above `most_bytes`, never less than one. A model whose weights fit is left whole.
CutModel cutToFit(const models::DecoderConfig& config, int64_t bytes_per_weight, double most_bytes);

}  // namespace sublane::report
