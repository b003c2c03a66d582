// ockham data: its flags.
#pragma once

#include "app/flags.h"

namespace ockham::app {

struct DataFlags {
  std::string name;        // empty: list the data sets
  std::string directory;   // where NAME.csv or the files of images go; empty: the current one, and NAME for images
  int64_t rows = 0;        // of a made table; 0: its own number
  bool overwrite = false;  // existing files
  CommonFlags common;
};

void declare_data(CLI::App& app, DataFlags& flags);

/// In the engine (data.cpp).
int run_data(const DataFlags& flags);

}  // namespace ockham::app
