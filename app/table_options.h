// From the flags of a table to the library's options.
#pragma once

#include "app/table_flags.h"
#include "ockham/data/csv.h"

namespace ockham::app {

inline CsvOptions csv_options(const TableFlags& flags) {
  CsvOptions options;
  options.separator = flags.separator;
  options.header = flags.header == HeaderChoice::yes  ? HeaderRow::present
                   : flags.header == HeaderChoice::no ? HeaderRow::absent
                                                      : HeaderRow::automatic;
  return options;
}

}  // namespace ockham::app
