#include <algorithm>
#include <charconv>
#include <map>

#include "base/paths.h"
#include "report/calibrate.h"

namespace sublane::report {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

using Field = std::string CalibrationPoint::*;
const std::map<std::string_view, Field>& textFields() {
  static const std::map<std::string_view, Field> kFields = {
      {"key", &CalibrationPoint::key},         {"chip", &CalibrationPoint::chip},
      {"class", &CalibrationPoint::kind},      {"kernel", &CalibrationPoint::kernel},
      {"source", &CalibrationPoint::source},   {"scope", &CalibrationPoint::scope},
      {"program", &CalibrationPoint::program}, {"inputs", &CalibrationPoint::inputs},
      {"options", &CalibrationPoint::options}};
  return kFields;
}

Result<CalibrationPoint> pointOf(const std::vector<std::string_view>& header,
                                 const std::vector<std::string_view>& fields, const std::string& where) {
  CalibrationPoint point;
  for (size_t i = 0; i < header.size(); ++i) {
    const auto field = textFields().find(header[i]);
    if (field != textFields().end()) {
      point.*field->second = std::string(fields[i]);
    } else if (header[i] == "timing") {
      if (fields[i] != "host" && fields[i] != "device")
        return inputError("{}: timing {} is neither host nor device", where, fields[i]);
      point.host_timed = fields[i] == "host";
    } else if (header[i] == "measured_us") {
      const auto [end, error] =
          std::from_chars(fields[i].data(), fields[i].data() + fields[i].size(), point.measured_us);
      if (error != std::errc() || end != fields[i].data() + fields[i].size() || !(point.measured_us > 0))
        return inputError("{}: measured_us {} is not a positive number", where, fields[i]);
    }
  }
  return point;
}

}  // namespace

Result<std::vector<CalibrationPoint>> parsePoints(std::string_view text, const std::string& where) {
  std::vector<CalibrationPoint> points;
  std::vector<std::string_view> header;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string at = fmt::format("{}:{}", where, number);
    if (line.find('"') != std::string_view::npos) return inputError("{}: a quoted field", at);
    const std::vector<std::string_view> fields = split(line);
    if (header.empty()) {
      header = fields;
      continue;
    }
    if (fields.size() != header.size())
      return inputError("{}: {} fields, the header has {}", at, fields.size(), header.size());
    SUBLANE_TRY(CalibrationPoint point, pointOf(header, fields, at));
    points.push_back(std::move(point));
  }
  for (std::string_view needed : {"key", "chip", "class", "kernel", "timing", "measured_us", "program"}) {
    if (std::find(header.begin(), header.end(), needed) == header.end())
      return inputError("{}: no column \"{}\"", where, needed)
          .hint("bench/fidelity/run.py --points FILE writes such a file");
  }
  return points;
}

Result<std::vector<CalibrationPoint>> readPoints(const std::string& path) {
  SUBLANE_TRY(const std::string text, readFile(path));
  return parsePoints(text, path);
}

}  // namespace sublane::report
