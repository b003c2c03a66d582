// ockham export: its flags.
#pragma once

#include <string>

#include "app/flags.h"

namespace ockham::app {

struct ExportFlags {
  CommonFlags common;
  std::string run;  // a run directory
  std::string to;   // the TorchScript file
  bool overwrite = false;
};

void declare_export(CLI::App& app, ExportFlags& flags);

/// In the engine (export.cpp).
int run_export(const ExportFlags& flags);

}  // namespace ockham::app
