// ockham paper: its flags.
#pragma once

#include <string>
#include <vector>

#include "app/flags.h"

namespace ockham::app {

struct PaperFlags {
  std::string experiment;  // empty: list them
  std::string data = ".";
  std::string out = "ockham-paper";
  int64_t splits = 0, epochs = 0, train_size = 0;  // 0: the experiment's own
  bool quick = false;
  std::vector<std::string> only;
  int64_t workers = 0;  // 0: as many as threads
  CommonFlags common;
};

void declare_paper(CLI::App& app, PaperFlags& flags);

/// In the engine (paper.cpp).
int run_paper(const PaperFlags& flags);

}  // namespace ockham::app
