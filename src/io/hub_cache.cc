#include "io/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/paths.h"
#include "base/text.h"

namespace sublane::io {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> hubCache() {
  if (std::string cache = environment("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (std::string home = environment("HF_HOME"); !home.empty()) return home + "/hub";
  if (std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/huggingface/hub";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/huggingface/hub";
  return machineError("hf: none of HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME and HOME is set");
}

/// What the hub allows in a part of a name; no part can lead out of the cache.
bool isPart(std::string_view part) {
  const bool letters = std::ranges::all_of(
      part, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; });
  return letters && !part.empty() && part.size() <= 96 && !part.starts_with('.') &&
         part.find("..") == std::string_view::npos && part.find("--") == std::string_view::npos;
}

struct HubName {
  std::string organisation, model, revision = "main";
  std::string command() const {
    std::string text = fmt::format("hf download {}/{}", organisation, model);
    return revision == "main" ? text : text + " --revision " + revision;
  }
};

Result<HubName> parseName(std::string_view text) {
  HubName name;
  std::string_view rest = text.substr(kHubPrefix.size());
  if (size_t at = rest.find('@'); at != std::string_view::npos) {
    name.revision = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  const size_t slash = rest.find('/');
  name.organisation = rest.substr(0, slash);
  name.model = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  std::string_view revision = name.revision;
  bool good = isPart(name.organisation) && isPart(name.model);
  for (bool more = true; more && good;) {  // a branch may have slashes: refs/pr/3
    const size_t end = revision.find('/');
    good = isPart(revision.substr(0, end));
    more = end != std::string_view::npos;
    if (more) revision.remove_prefix(end + 1);
  }
  if (good) return name;
  return inputError("{}: not a name of the form hf:org/name or hf:org/name@revision", inQuotes(text));
}

/// Of a branch or tag, the commit that it stood at when it was fetched.
std::string commitOf(const std::string& repository, const std::string& revision) {
  auto text = readFile(repository + "/refs/" + revision);
  if (!text.ok()) return revision;
  std::string commit = *text;
  while (!commit.empty() && std::isspace(static_cast<unsigned char>(commit.back()))) commit.pop_back();
  return isPart(commit) ? commit : revision;
}

}  // namespace

Result<std::string> hubFolder(std::string_view text) {
  SUBLANE_TRY(HubName name, parseName(text));
  SUBLANE_TRY(std::string cache, hubCache());
  const std::string repository = fmt::format("{}/models--{}--{}", cache, name.organisation, name.model);
  const std::string folder = repository + "/snapshots/" + commitOf(repository, name.revision);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return folder;
  const bool other = fs::is_directory(repository, ignored);
  return inputError("{}: not in the hub's cache: {} {}", text, other ? folder : repository, "does not exist")
      .hint("fetch it with the hub's own tool: " + name.command());
}

}  // namespace sublane::io
