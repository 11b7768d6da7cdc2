#include "cli/inspect_facts.h"

#include <algorithm>
#include <map>

#include "base/mapped_file.h"

namespace sublane::cli {
namespace {

int64_t elementsOf(const io::Tensor& tensor) {
  int64_t elements = 1;
  for (int64_t size : tensor.shape) elements *= size;
  return elements;
}

std::vector<InspectedFile> filesOf(const io::Checkpoint& checkpoint) {
  std::vector<InspectedFile> files;
  for (const auto& file : checkpoint.files)
    files.push_back({.path = file->path(), .bytes = static_cast<int64_t>(file->bytes().size())});
  for (const io::Tensor& tensor : checkpoint.tensors)
    if (tensor.file < files.size()) ++files[tensor.file].tensors;
  return files;
}

void addModel(InspectFacts& facts) {
  Result<models::DecoderConfig> config = models::readConfig(facts.checkpoint);
  if (!config.ok()) {
    facts.model_fault = std::move(config).error();
    return;
  }
  facts.config = std::move(config).value();
  Status fit = models::checkTensors(facts.checkpoint, *facts.config);
  if (!fit.ok()) facts.model_fault = std::move(fit).error();
}

void addText(InspectFacts& facts) {
  Result<text::Tokenizer> tokenizer = text::Tokenizer::fromCheckpoint(facts.checkpoint);
  if (tokenizer.ok())
    facts.tokenizer = std::move(tokenizer).value();
  else
    facts.text_fault = std::move(tokenizer).error();
}

}  // namespace

void TensorTotal::add(const io::Tensor& tensor) {
  ++tensors;
  parameters += elementsOf(tensor);
  bytes += storedBytes(tensor);
}

int64_t storedBytes(const io::Tensor& tensor) {
  int64_t bytes = static_cast<int64_t>(tensor.bytes.size());
  for (const io::Tensor& part : tensor.parts)
    if (part.bytes.data() != tensor.bytes.data()) bytes += static_cast<int64_t>(part.bytes.size());
  return bytes;
}

std::string formatOf(const io::Tensor& tensor) {
  if (!tensor.quantised) return std::string(formats::info(tensor.packing).name);
  return fmt::format("{}: {}", tensor.quantised->method, formats::describe(*tensor.quantised));
}

std::vector<std::string> InspectFacts::assumptions() const {
  std::vector<std::string> all = config ? config->assumptions : std::vector<std::string>{};
  all.insert(all.end(), checkpoint.notes.begin(), checkpoint.notes.end());
  return all;
}

InspectFacts inspectFacts(io::Checkpoint checkpoint) {
  InspectFacts facts;
  facts.checkpoint = std::move(checkpoint);
  std::map<std::string, TensorTotal> by_format;
  for (const io::Tensor& tensor : facts.checkpoint.tensors) {
    facts.total.add(tensor);
    by_format[formatOf(tensor)].add(tensor);
  }
  facts.by_format.assign(by_format.begin(), by_format.end());
  std::ranges::stable_sort(facts.by_format, std::greater(),
                           [](const auto& entry) { return entry.second.bytes; });
  facts.files = filesOf(facts.checkpoint);
  addModel(facts);
  addText(facts);
  return facts;
}

}  // namespace sublane::cli
