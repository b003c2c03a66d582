// ockham report: its flags.
#pragma once

#include <string>

#include "app/flags.h"

namespace ockham::app {

struct ReportFlags {
  CommonFlags common;
  std::string run;
};

void declare_report(CLI::App& app, ReportFlags& flags);

/// In the engine (report.cpp).
int run_report(const ReportFlags& flags);

}  // namespace ockham::app
