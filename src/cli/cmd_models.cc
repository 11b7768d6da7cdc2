#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/cli.h"
#include "models/models.h"

namespace sublane::cli {
namespace {

void printModelTable() {
  const auto listed = [](models::Model::Names names) {
    return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
  };
  fmt::print("{:<10}{:<18}{}\n", "model", "GGUF architecture", "Hugging Face architecture");
  for (const models::Model* model : models::allModels())
    fmt::print("{:<10}{:<18}{}\n", model->name, listed(model->gguf_architectures),
               listed(model->hf_architectures));
  fmt::print(
      "\nEach: the logits of tiny random models equal transformers' in float32 within 1e-4 "
      "(tests/models).\n\n");
  for (const models::Model* model : models::allModels())
    for (const models::Refusal& refusal : model->refusals)
      fmt::print("not supported: {}: {}\n", refusal.architecture, refusal.reason);
  fmt::print("\n`sublane inspect MODEL` says how a checkpoint is read.\n");
}

nlohmann::ordered_json toJson(const models::Model& model) {
  nlohmann::ordered_json json;
  json["name"] = model.name;
  json["gguf_architectures"] =
      std::vector<std::string_view>(model.gguf_architectures.begin(), model.gguf_architectures.end());
  json["hf_architectures"] =
      std::vector<std::string_view>(model.hf_architectures.begin(), model.hf_architectures.end());
  json["refused"] = nlohmann::ordered_json::array();
  for (const models::Refusal& refusal : model.refusals)
    json["refused"].push_back({{"architecture", refusal.architecture}, {"reason", refusal.reason}});
  return json;
}

void printModelJson() {
  nlohmann::ordered_json document = jsonDocument("sublane.models/1");
  for (const models::Model* model : models::allModels()) document["models"].push_back(toJson(*model));
  printJson(document);
}

}  // namespace

extern const Command cmd_models;
const Command cmd_models{
    "models", "List the model families and the architectures that they read", [](CLI::App& verb) -> Action {
      auto format = std::make_shared<std::string>("text");
      verb.add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
      verb.add_flag_callback("--json", [format] { *format = "json"; }, "Short for --format json");
      return [format]() -> Status {
        *format == "json" ? printModelJson() : printModelTable();
        return Ok{};
      };
    }};

}  // namespace sublane::cli
