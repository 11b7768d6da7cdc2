// Holds JSON against its published schema: the keys of an object and those that the schema requires, both
// ways.
//
//   const auto schema = schemaOf("diff-1");
//   expectKeys(json, schema);
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace sublane {

inline nlohmann::json schemaOf(const std::string& name) {
  std::ifstream file(SUBLANE_SOURCE_DIR "/docs/schemas/" + name + ".schema.json");
  return nlohmann::json::parse(file);
}

inline void expectKeys(const nlohmann::json& object, const nlohmann::json& schema) {
  std::set<std::string> has, required, described;
  for (const auto& [key, value] : object.items()) has.insert(key);
  for (const auto& key : schema["required"]) required.insert(key.get<std::string>());
  for (const auto& [key, value] : schema["properties"].items()) described.insert(key);
  EXPECT_EQ(has, required);
  EXPECT_EQ(required, described);
}

}  // namespace sublane
