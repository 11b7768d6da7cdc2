// Fills a struct from a JSON object of somebody else's: the first key that is missing or of another type is
// remembered with its path, and nothing is read after it.
//
//   JsonKeys keys(document);
//   keys.text("subject", report.subject);
//   keys.each("steps", [&](JsonKeys& step) { step.number("us", us); });
//   SUBLANE_CHECK_OK(keys.status());            // steps[3].us: no number
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sublane {

class JsonKeys {
 public:
  explicit JsonKeys(const nlohmann::json& object);

  void text(const char* key, std::string& value);
  void number(const char* key, double& value);
  /// From 0 to `most`: sums of many of them must fit.
  void integer(const char* key, int64_t& value, int64_t most = int64_t{1} << 42);
  void texts(const char* key, std::vector<std::string>& values);
  /// null, or not there: the value stays.
  void textIfThere(const char* key, std::string& value);
  /// Of a list of objects.
  void each(const char* key, const std::function<void(JsonKeys&)>& take);
  /// An object of its own.
  void inside(const char* key, const std::function<void(JsonKeys&)>& take);
  /// The names and whole numbers of an object, with the same bounds.
  void counts(const char* key, const std::function<void(const std::string&, int64_t)>& take);
  /// The value of a key that may be of several types; null if it is not there.
  const nlohmann::json& at(const char* key) const;

  void fail(const std::string& key, const std::string& what);
  bool ok() const { return wrong_->empty(); }
  Status status() const;

 private:
  JsonKeys(const nlohmann::json& object, std::string path, std::shared_ptr<std::string> wrong);
  const nlohmann::json* find(const char* key, bool (nlohmann::json::*is)() const noexcept, const char* what);
  const nlohmann::json& object_;
  std::string path_;
  std::shared_ptr<std::string> wrong_;  // of all that belong to one document
};

}  // namespace sublane
