// Runs a graph on the CPU plugin and compares it with the interpreter: what the plugin tests are made of.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "../graph/run_text.h"
#include "graph/interpreter.h"
#include "lower/lower.h"
#include "pjrt/pjrt.h"
#include "pjrt/worker.h"

namespace sublane::lower {

using graph::Array;
using graph::Graph;

inline Result<pjrt::Client> openClient(const std::string& part) {
  SUBLANE_TRY(std::string path, pjrt::pluginPath(part));
  SUBLANE_TRY(pjrt::Plugin plugin, pjrt::Plugin::load(path));
  return pjrt::Client::create(plugin, {{"cpu_device_count", int64_t{1}}});
}

/// The pinned CPU plugin, opened once.
inline pjrt::Client& cpu() {
  static Result<pjrt::Client> client = openClient("cpu");
  if (!client.ok()) {
    ADD_FAILURE() << client.error().text();
    std::abort();
  }
  return *client;
}

inline Result<std::vector<Array>> runOn(pjrt::Client& client, const Graph& graph,
                                        const std::vector<Array>& arguments,
                                        const pjrt::Options& flags = {}) {
  SUBLANE_TRY(std::string text, toStableHlo(graph));
  pjrt::CompileOptions options;
  options.overrides = flags;
  SUBLANE_TRY(pjrt::Executable program, client.compile(text, options));
  std::vector<pjrt::Buffer> buffers;
  for (const Array& argument : arguments) {
    SUBLANE_TRY(pjrt::Buffer buffer, client.toDevice(argument.type, argument.data));
    buffers.push_back(std::move(buffer));
  }
  std::vector<pjrt::Buffer*> pointers;
  for (pjrt::Buffer& buffer : buffers) pointers.push_back(&buffer);
  SUBLANE_TRY(std::vector<pjrt::Buffer> outputs, program.execute(pointers));
  std::vector<Array> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(graph::zeros(graph.type(graph.outputs[i].value)));
    SUBLANE_CHECK_OK(outputs[i].toHost(results.back().data));
  }
  return results;
}

/// Every output of the compiled graph equals the interpreter's; tolerance 0 means bit by bit, but for NaN.
inline void expectAsInterpreted(const Graph& graph, const std::vector<Array>& arguments, double tolerance,
                                const pjrt::Options& flags = {}) {
  Result<std::vector<Array>> wanted = graph::interpret(graph, arguments);
  ASSERT_TRUE(wanted.ok()) << wanted.error().text();
  Result<std::vector<Array>> got = runOn(cpu(), graph, arguments, flags);
  ASSERT_TRUE(got.ok()) << got.error().text();
  for (size_t i = 0; i < wanted->size(); ++i) {
    SCOPED_TRACE("output " + graph.outputs[i].name);
    graph::expectValues(graph::values((*got)[i]), graph::values((*wanted)[i]), tolerance);
  }
}

/// Arguments in the order of the parameters.
inline std::vector<Array> argumentsOf(const Graph& graph, const std::vector<std::vector<double>>& values) {
  std::vector<Array> arrays;
  for (size_t i = 0; i < values.size(); ++i) {
    arrays.push_back(graph::arrayOf(graph.type(graph.parameters[i].value), values[i]));
  }
  return arrays;
}

}  // namespace sublane::lower
