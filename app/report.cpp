// ockham report: draws report.html again from what the run kept.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/fit_report.h"
#include "app/report_flags.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/report/run_report.h"

namespace ockham::app {

int run_report(const ReportFlags& flags) {
  const RunDirectory run = RunDirectory::open(flags.run, RunAccess::write);
  if (!run.has(RunFile::summary))
    throw Error(ErrorKind::data, fmt::format("{}: the run is not finished, so there is nothing to report; continue it "
                                             "with 'ockham fit --resume --out {}'",
                                             flags.run, flags.run));
  run.write(RunFile::report, render_report(parse_report_data(read_file(report_data_path(run)))));
  const std::string path = run.path_of(RunFile::report);
  if (flags.common.json) {
    fmt::print("{}\n", nlohmann::json{{"schema", 1}, {"report", path}}.dump());
  } else {
    fmt::print("{}\n", path);
  }
  return 0;
}

}  // namespace ockham::app
