// Numbers as the paper prints them, and tables as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"

namespace ockham::paper {

/// Of values that are finite; the error is the standard deviation / √count, NaN for fewer than two.
struct Summary {
  double mean = 0;
  double error = 0;
  int64_t count = 0;
};

/// Values that are not finite are left out. Of none the mean is NaN.
Summary summarise(const std::vector<double>& values);

/// A number as the paper prints it, "–" when it is not finite: "0.53", "-6.93".
std::string format_number(double value, int decimals = 2);

/// "0.53 ± 0.02"; without an error "0.53"; "–" without values.
std::string format_summary(const Summary& summary, int decimals = 2);
std::string mean_and_error(const std::vector<double>& values, int decimals = 2);

/// Whether `ours` is at most two combined standard errors above `theirs`, for scores where lower is better. An error
/// that is not known counts as zero. Empty when one of the means is not there.
std::optional<bool> as_good(const Summary& ours, const Summary& theirs);

/// "yes", "no", "partly", "open".
std::string verdict_word(Verdict verdict);

/// yes or no when there are cases, else open.
Verdict verdict_of(std::optional<bool> holds);

/// A pipe table with its title as a heading of that level and its note below.
std::string markdown(const Table& table, int heading = 3);

/// Columns aligned with blanks, for a terminal: the first to the left, the others to the right.
std::string plain_text(const Table& table);

}  // namespace ockham::paper
