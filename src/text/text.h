// Text in and out: tokenizer, chat template, streaming detokenizer.
//
// All three come from a checkpoint's own files and run on Rust behind a small C ABI (text/rust). Text is
// bytes until proven whole: the detokenizer holds back an incomplete UTF-8 character until it is complete, or
// the stream ends.
//
//   SUBLANE_TRY(auto tokenizer, text::Tokenizer::fromCheckpoint(checkpoint));
//   SUBLANE_TRY(std::vector<int32_t> ids, tokenizer.encode("Hello", {.add_bos = true}));
//   auto stream = tokenizer.detokenizer();
//   std::string piece = stream.push(ids[0]);         // whole characters only
//   SUBLANE_TRY(auto answer, tokenizer.textStream({.stops = {"\nUser:"}}));
//   piece = answer.push(ids[0]);                     // and nothing that may begin a stop text
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/checkpoint.h"

namespace sublane::text {

struct EncodeOptions {
  bool add_bos = true;  // put around the text what the file says (a beginning-of-sequence token), but no
                        // second one before a parsed one
  bool parse_special = false;  // true: "<|im_start|>" in the text becomes its token (templates need it)
};

/// One turn of a chat.
struct Message {
  std::string role;  // "system", "user", "assistant"
  std::string content;
};

struct ChatOptions {
  std::string chat_template;  // the name of one of the file's, or the text of another; empty: the file's
                              // "tool_use" for a request with tools, else its default
  std::string now;            // what strftime_now tells, "2025-01-31T23:59:58"; empty: the local time
};

/// Renders a template on its own; `context_json` is an object of all that it may name.
Result<std::string> renderTemplate(std::string_view source, std::string_view context_json,
                                   const std::string& now);

/// Turns a stream of token ids into UTF-8, whole characters only.
class Detokenizer {
 public:
  Detokenizer(Detokenizer&&) noexcept;
  Detokenizer& operator=(Detokenizer&&) noexcept;
  ~Detokenizer();
  /// Text that became certain with this token; may be empty. Special tokens give no text.
  std::string push(int32_t id);
  /// The rest; an incomplete character becomes U+FFFD.
  std::string finish();

 private:
  friend class Tokenizer;
  struct State;
  explicit Detokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct StopOptions {
  std::vector<std::string> stops;  // texts that end an answer; none: only ids do
  bool include_stop = false;       // the answer ends with the stop text and not before it
};

/// A Detokenizer that ends at a stop text. Text that may be the beginning of one is held back. The first stop
/// text to be complete ends the answer, the longest of those that end together: so the answer depends on the
/// text alone, and not on how tokens cut it.
class TextStream {
 public:
  TextStream(TextStream&&) noexcept;
  TextStream& operator=(TextStream&&) noexcept;
  ~TextStream();
  /// Text that became certain with this token; may be empty, and is once the stream has stopped.
  std::string push(int32_t id);
  /// What was held back, when no more tokens come.
  std::string finish();
  /// The stop text that was found.
  std::optional<std::string> stoppedBy() const;

 private:
  friend class Tokenizer;
  struct State;
  explicit TextStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Tokenizer {
 public:
  /// From GGUF metadata (tokenizer.ggml.*) or the files of a Hugging Face folder (tokenizer.json and those
  /// beside it). What is not known of them is refused by name.
  static Result<Tokenizer> fromCheckpoint(const io::Checkpoint& checkpoint);
  /// The same for a folder that may hold nothing but tokenizer.json.
  static Result<Tokenizer> fromFolder(const std::string& folder);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Error: the text is not UTF-8, or holds what the vocabulary cannot spell.
  Result<std::vector<int32_t>> encode(std::string_view text, EncodeOptions options) const;
  /// One-shot decode; equals the concatenated stream of detokenizer().
  std::string decode(const std::vector<int32_t>& ids) const;
  Detokenizer detokenizer() const;
  /// Error: a stop text is empty, not UTF-8, or longer than 1024 bytes; or there are more than 64.
  Result<TextStream> textStream(StopOptions options) const;

  /// Renders the file's chat template. Error when the file has none.
  Result<std::string> renderChat(const std::vector<Message>& messages, bool add_generation_prompt) const;
  /// The same for a request as servers take it: an object with `messages`, and perhaps `tools`, `documents`,
  /// `add_generation_prompt` (true where it is left out), `chat_template` (as in ChatOptions) and whatever
  /// else the template asks for; `chat_template_kwargs` is spread out.
  Result<std::string> renderChat(std::string_view request_json, const ChatOptions& options) const;
  bool hasChatTemplate() const;
  /// The text of the template that such a request would take.
  Result<std::string> chatTemplate(std::string_view name, bool has_tools) const;

  /// Ids that end a turn: end of sequence and end of turn, from all sources of the file.
  const std::vector<int32_t>& stopIds() const;
  std::optional<int32_t> bosId() const;
  int32_t vocabularySize() const;
  /// The bytes of text that a token stands for, perhaps half a character; of a special token, its name.
  std::string tokenBytes(int32_t id) const;
  /// One line for `inspect`: "byte-level BPE (smollm), 49152 tokens, bos 1 (not added), stops 0 (by its use
  /// or name) 2".
  std::string describe() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sublane::text
