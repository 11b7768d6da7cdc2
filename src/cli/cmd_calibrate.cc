#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/paths.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "report/calibrate.h"

namespace sublane::cli {
namespace {

struct CalibrateVerb {
  std::string points, out;
  std::vector<std::string> chips;
  report::CalibrateOptions options;
  bool json = false;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::vector<std::string> chipsOf(const std::vector<report::CalibrationPoint>& points) {
  std::vector<std::string> chips;
  for (const auto& point : points) {
    if (std::find(chips.begin(), chips.end(), point.chip) == chips.end()) chips.push_back(point.chip);
  }
  return chips;
}

Status calibrate(CalibrateVerb& verb) {
  SUBLANE_TRY(const auto points, report::readPoints(verb.points));
  if (verb.chips.empty()) verb.chips = chipsOf(points);
  if (verb.options.date.empty()) verb.options.date = today();
  if (verb.options.data.empty()) verb.options.data = verb.points.substr(verb.points.rfind('/') + 1);
  if (isatty(STDERR_FILENO))
    verb.options.common.progress = [](std::string_view what) { fmt::print(stderr, "calibrate: {}\n", what); };
  verb.options.common.cancel = &interrupted();
  std::vector<report::Calibration> all;
  for (const std::string& chip : verb.chips) {
    verb.options.chip = chip;
    SUBLANE_TRY(report::Calibration found, report::calibrate(points, verb.options));
    if (!verb.json) SUBLANE_CHECK_OK(writeOutput(report::toText(found) + "\n"));
    if (!verb.out.empty()) {
      const std::string file = fmt::format("{}/{}.fit.json", verb.out, chip);
      SUBLANE_CHECK_OK(writeFileAtomically(file, report::fitJson(found)));
      fmt::print(stderr, "wrote {}; build again to simulate with it\n", file);
    }
    all.push_back(std::move(found));
  }
  if (verb.json) return writeOutput(report::toJson(all));
  if (verb.out.empty()) return writeOutput("nothing was written; --out src/sim/models keeps the fit\n");
  return Ok{};
}

Action addCalibrate(CLI::App& app) {
  auto verb = std::make_shared<CalibrateVerb>();
  app.add_option("POINTS", verb->points, "CSV of measured points, as bench/fidelity/run.py --points writes")
      ->required();
  app.add_option("--chip", verb->chips, "Only these chips; without it all that the file has");
  app.add_option("--out", verb->out, "A folder for <chip>.fit.json: src/sim/models");
  app.add_option("--fix", verb->options.fixed, "A parameter that keeps its source's value; may repeat");
  app.add_option("--data", verb->options.data, "What the points are called in the fit");
  app.add_flag("--json", verb->json, "Print one JSON document");
  app.add_option("--date", verb->options.date, "The fit's date; today, if not given");
  return [verb] { return untilInterrupted("calibrate", [&] { return calibrate(*verb); }); };
}

}  // namespace

extern const Command cmd_calibrate;
const Command cmd_calibrate{"calibrate", "Refit the chips' models to measured points", addCalibrate};

}  // namespace sublane::cli
