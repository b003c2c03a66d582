// How a CSV file is to be read: flags of every subcommand that takes a table. Knows no libtorch.
#pragma once

#include <string>

#include "app/flags.h"

namespace ockham::app {

enum class HeaderChoice { automatic, yes, no };

struct TableFlags {
  HeaderChoice header = HeaderChoice::automatic;
  char separator = 0;  // 0: found out
};

/// --header and --separator.
void add_table_flags(CLI::App& app, TableFlags& flags);

}  // namespace ockham::app
