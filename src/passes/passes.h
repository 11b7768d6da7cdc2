// Passes: rewrites of a graph that keep its meaning, one file each, and the pipeline that orders them.
//
// A pass does one thing and says whether it changed something. Its file starts with a comment that holds a
// graph BEFORE and AFTER; a test runs that comment. The list of passes is made from the file names; the
// order of the pipeline stands in pipeline.cc and nowhere else.
//
//   PipelineOptions options;
//   options.print_after = "dead_code";
//   options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
//   SUBLANE_TRY(auto reports, runPipeline(graph, options));
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace sublane::passes {

/// What a pass is given beside the graph, and what it tells.
struct Context {
  int64_t rewrites = 0;  // nodes that it removed, replaced or added
};

struct Pass {
  std::string_view name;     // of its file: "dead_code"
  std::string_view summary;  // one line
  Result<bool> (*run)(graph::Graph& graph, Context& context);
};

/// All passes, by name.
std::span<const Pass* const> allPasses();
/// Those of the pipeline, in its order.
std::span<const Pass* const> pipelinePasses();

struct PipelineOptions {
  std::string print_after;     // a pass's name or "all": its graph goes to `print`
  std::string stop_after;      // the last pass to run
  bool time = false;           // a table of times goes to `print`, at the end
  bool verify_between = true;  // before the first pass and after each
  std::function<void(std::string_view)> print;
};
struct PassReport {
  std::string_view name;
  bool changed = false;
  int64_t rewrites = 0;
  int64_t ns = 0;  // measured
};

/// Errors: the name of a pass that isn't in the pipeline; a graph that doesn't verify, and after which pass.
Result<std::vector<PassReport>> runPipeline(graph::Graph& graph, const PipelineOptions& options = {});

}  // namespace sublane::passes
