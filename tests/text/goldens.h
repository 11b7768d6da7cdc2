// One JSON object a line, as tools/reference/text/make_goldens.py writes them.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sublane::text {

inline std::vector<nlohmann::ordered_json> readGoldens(const std::string& name) {
  std::ifstream file(std::string(SUBLANE_SOURCE_DIR) + "/tests/text/goldens/" + name);
  std::vector<nlohmann::ordered_json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::ordered_json::parse(line));
  return rows;
}

}  // namespace sublane::text
