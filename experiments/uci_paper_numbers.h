// The paper's own numbers on the UCI tables, by table of the data and column.
#pragma once

#include <map>
#include <string>

#include "experiments/table_text.h"

namespace ockham::paper {

/// One of the paper's tables: set and column to mean and standard error over the paper's splits. Columns are called
/// like our methods, "full-ggn" for the MAP and "full-ggn bayes" for the linearised predictive; those of its
/// cross-validation are "cv-map", "cv-vi" and "cv-laplace".
class PaperNumbers {
 public:
  PaperNumbers(const std::vector<std::string>& columns, const std::map<std::string, std::vector<double>>& rows);
  /// Adds the columns of another table of the same sets; columns that are there already stay.
  PaperNumbers& add(const PaperNumbers& other);
  /// NaN when the paper has no such number.
  Summary at(const std::string& set, const std::string& column) const;

 private:
  std::map<std::string, std::map<std::string, Summary>> numbers_;
};

/// Negative test log likelihood of the regression sets: tab:uci_regression, tab:app:nll_regression_bayes and
/// tab:app:nll_regression_diag.
const PaperNumbers& paper_regression_nll();

/// The classification sets: tab:nll1t and tab:nllcdiag, tab:acc1t (per cent; the text lacks australian), tab:ece1t.
const PaperNumbers& paper_classification_nll();
const PaperNumbers& paper_classification_accuracy();
const PaperNumbers& paper_classification_ece();

}  // namespace ockham::paper
