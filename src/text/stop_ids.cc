#include <algorithm>
#include <array>
#include <set>

#include "text/tokenizer_state.h"

namespace sublane::text {
namespace {

// Names under which model families end a turn or a text. They count only for control tokens of the file.
constexpr std::array<std::string_view, 9> kEndNames = {"<|im_end|>", "<end_of_turn>", "<|eot_id|>",
                                                       "<|eom_id|>", "<|end|>",       "<|eot|>",
                                                       "<turn|>",    "<|endoftext|>", "<|end_of_text|>"};

/// The longest control token at the start of `text`.
std::optional<int32_t> controlTokenAt(const Vocabulary& vocabulary, std::string_view text) {
  std::optional<int32_t> best;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (vocabulary.kinds[id] != kControl || token.empty() || !text.starts_with(token)) continue;
    if (!best || token.size() > vocabulary.tokens[*best].size()) best = id;
  }
  return best;
}

/// What the template itself says: the control token right after an assistant's message.
std::optional<int32_t> turnEndOf(const Vocabulary& vocabulary, const rust::Template& chat_template) {
  const std::string mark = "sublane marks the end of this message";
  std::vector<Message> turns = {{"user", "question"}, {"assistant", mark}};
  auto text = chat_template.render(templateContext(vocabulary, turns, false), "2000-01-01");
  if (!text.ok()) return std::nullopt;
  size_t at = text->rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(at + mark.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
  return controlTokenAt(vocabulary, rest);
}

}  // namespace

std::vector<int32_t> stopIdsOf(const Vocabulary& vocabulary,
                               const std::optional<rust::Template>& chat_template) {
  std::set<int32_t> ids;
  for (auto id : {vocabulary.eos_id, vocabulary.eot_id, vocabulary.eom_id}) {
    if (id) ids.insert(*id);
  }
  ids.insert(vocabulary.end_ids.begin(), vocabulary.end_ids.end());
  if (chat_template) {
    auto id = turnEndOf(vocabulary, *chat_template);
    if (id && id != vocabulary.bos_id) ids.insert(*id);
  }
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.kinds[id] != kControl) continue;
    if (std::ranges::find(kEndNames, vocabulary.tokens[id]) != kEndNames.end()) ids.insert(id);
  }
  return {ids.begin(), ids.end()};
}

}  // namespace sublane::text
