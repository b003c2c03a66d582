#include "app/table_flags.h"

#include <CLI/CLI.hpp>

namespace ockham::app {

void add_table_flags(CLI::App& app, TableFlags& flags) {
  add_choice<HeaderChoice>(app, "--header", flags.header,
                           {{"auto", HeaderChoice::automatic}, {"yes", HeaderChoice::yes}, {"no", HeaderChoice::no}},
                           "Whether the first row names the columns");
  add_choice<char>(app, "--separator", flags.separator,
                   {{"auto", 0}, {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"space", ' '}, {"pipe", '|'}},
                   "What stands between the fields of a row");
}

}  // namespace ockham::app
