// Runs the operations of a text in the interpreter: what most of these tests are made of.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/interpreter.h"
#include "graph/text_form.h"

namespace sublane::graph {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline Graph parsed(const std::string& text) {
  Result<Graph> graph = parse(text);
  if (graph.ok()) return std::move(*graph);
  ADD_FAILURE() << graph.error().message() << "\n" << text;
  return {};
}

/// The first output of "graph test { <body> }" as doubles; arguments in the order of the parameters.
inline std::vector<double> run(const std::string& body,
                               const std::vector<std::vector<double>>& arguments = {}) {
  Graph graph = parsed("graph test {\n" + body + "\n}");
  std::vector<Array> arrays;
  for (size_t i = 0; i < arguments.size(); ++i)
    arrays.push_back(arrayOf(graph.type(graph.parameters[i].value), arguments[i]));
  Result<std::vector<Array>> results = interpret(graph, arrays);
  if (results.ok()) return values(results->front());
  ADD_FAILURE() << results.error().message();
  return {};
}

/// Equal, NaN equal to NaN, within a relative tolerance (0: exactly).
inline void expectValues(const std::vector<double>& got, const std::vector<double>& wanted,
                         double tolerance = 0) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    } else if (got[i] != wanted[i]) {
      EXPECT_NEAR(got[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << "element " << i;
    }
  }
}

}  // namespace sublane::graph
