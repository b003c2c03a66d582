// The subcommands, each declared once, and the parsing of a command line. Shared by the front end, which answers --help
// and wrong usage with it, and the engine, which runs what was asked for. Knows no libtorch.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/data_flags.h"
#include "app/doctor_flags.h"
#include "app/evidence_flags.h"
#include "app/export_flags.h"
#include "app/fit_flags.h"
#include "app/paper_flags.h"
#include "app/predict_flags.h"
#include "app/rank_flags.h"
#include "app/report_flags.h"

namespace ockham::app {

/// The flags of the chosen subcommand. A variant, so that the compiler asks the engine to run each kind.
using Flags =
    std::variant<FitFlags, EvidenceFlags, DoctorFlags, DataFlags, PredictFlags, ExportFlags, ReportFlags, PaperFlags>;

const CommonFlags& common_flags(const Flags& flags);
/// Null for a subcommand that is always one process.
const RankFlags* rank_flags(const Flags& flags);

struct CommandLine {
  std::optional<Flags> flags;  // absent: help was printed, or there is a complaint; the program ends with
  int exit_code = 0;
  std::string complaint;  // what is wrong, with the nearest flag or subcommand where there is one
};

/// Parses `ockham SUBCOMMAND ...`. Prints help and version on stdout.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace ockham::app
