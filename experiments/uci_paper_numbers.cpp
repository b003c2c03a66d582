#include "experiments/uci_paper_numbers.h"

#include <limits>

namespace ockham::paper {
namespace {

// Each number is followed by its standard error.

PaperNumbers regression_table() {
  return PaperNumbers(
      {"cv-map", "cv-vi", "cv-laplace", "full-ggn", "full-ef", "kron"},
      {
          {"boston", {2.71, 0.10, 2.58, 0.03, 2.57, 0.05, 2.69, 0.12, 2.62, 0.12, 2.70, 0.09}},
          {"concrete", {3.17, 0.04, 3.17, 0.01, 3.05, 0.04, 3.06, 0.05, 3.07, 0.04, 3.13, 0.06}},
          {"energy", {1.02, 0.05, 1.42, 0.01, 0.82, 0.03, 0.55, 0.11, 0.73, 0.15, 0.53, 0.02}},
          {"kin8nm", {-1.09, 0.01, -0.87, 0.00, -1.23, 0.01, -1.14, 0.01, -1.14, 0.01, -1.13, 0.01}},
          {"naval", {-5.75, 0.05, -3.82, 0.02, -6.40, 0.06, -6.93, 0.03, -6.92, 0.04, -6.88, 0.05}},
          {"power", {2.82, 0.01, 2.86, 0.01, 2.83, 0.01, 2.78, 0.02, 2.78, 0.01, 2.78, 0.02}},
          {"wine-quality-red", {0.98, 0.02, 0.96, 0.01, 0.97, 0.02, 0.93, 0.02, 0.93, 0.01, 0.94, 0.02}},
          {"yacht", {2.30, 0.02, 1.67, 0.01, 1.01, 0.05, 5.89, 1.25, 2.43, 0.61, 1.48, 0.07}},
      });
}

PaperNumbers regression_bayes() {
  return PaperNumbers(
      {"cv-map", "cv-vi", "cv-laplace", "full-ggn bayes", "full-ggn", "full-ef bayes", "full-ef", "kron bayes", "kron"},
      {
          {"boston",
           {2.71, 0.10, 2.58, 0.03, 2.57, 0.05, 2.68, 0.12, 2.69, 0.13, 2.60, 0.09, 2.62, 0.12, 2.70, 0.08, 2.70,
            0.09}},
          {"concrete",
           {3.17, 0.04, 3.17, 0.01, 3.05, 0.04, 3.06, 0.05, 3.06, 0.05, 3.07, 0.04, 3.07, 0.04, 3.13, 0.06, 3.13,
            0.06}},
          {"energy",
           {1.02, 0.05, 1.42, 0.01, 0.82, 0.03, 0.54, 0.11, 0.55, 0.11, 0.78, 0.13, 0.73, 0.15, 0.54, 0.02, 0.53,
            0.02}},
          {"kin8nm",
           {-1.09, 0.01, -0.87, 0.00, -1.23, 0.01, -1.14, 0.01, -1.14, 0.01, -1.13, 0.01, -1.14, 0.01, -1.13, 0.01,
            -1.13, 0.01}},
          {"naval",
           {-5.75, 0.05, -3.82, 0.02, -6.40, 0.06, -6.61, 0.03, -6.93, 0.03, -6.21, 0.05, -6.92, 0.04, -6.32, 0.05,
            -6.88, 0.05}},
          {"power",
           {2.82, 0.01, 2.86, 0.01, 2.83, 0.01, 2.78, 0.02, 2.78, 0.02, 2.78, 0.01, 2.78, 0.01, 2.78, 0.02, 2.78,
            0.02}},
          {"wine-quality-red",
           {0.98, 0.02, 0.96, 0.01, 0.97, 0.02, 0.94, 0.02, 0.93, 0.02, 0.94, 0.01, 0.93, 0.02, 0.94, 0.02, 0.94,
            0.02}},
          {"yacht",
           {2.30, 0.02, 1.67, 0.01, 1.01, 0.05, 3.51, 0.62, 5.89, 1.25, 1.29, 0.17, 2.43, 0.61, 1.48, 0.07, 1.48,
            0.07}},
      });
}

PaperNumbers regression_diagonal() {
  return PaperNumbers(
      {"full-ggn bayes", "full-ggn", "diag-ggn bayes", "diag-ggn", "diag-ef bayes", "diag-ef"},
      {
          {"boston", {2.68, 0.12, 2.69, 0.13, 2.84, 0.05, 2.84, 0.05, 2.90, 0.03, 2.89, 0.03}},
          {"concrete", {3.06, 0.05, 3.06, 0.05, 3.13, 0.04, 3.13, 0.04, 3.11, 0.02, 3.11, 0.02}},
          {"energy", {0.54, 0.11, 0.55, 0.11, 0.70, 0.03, 0.69, 0.03, 0.88, 0.05, 0.85, 0.05}},
          {"kin8nm", {-1.14, 0.01, -1.14, 0.01, -1.14, 0.01, -1.13, 0.01, -1.13, 0.01, -1.13, 0.01}},
          {"naval", {-6.61, 0.03, -6.93, 0.03, -6.17, 0.05, -6.91, 0.08, -5.83, 0.06, -6.95, 0.04}},
          {"power", {2.78, 0.02, 2.78, 0.02, 2.79, 0.02, 2.79, 0.02, 2.79, 0.01, 2.79, 0.01}},
          {"wine-quality-red", {0.94, 0.02, 0.93, 0.02, 0.96, 0.01, 0.95, 0.02, 0.98, 0.01, 0.96, 0.02}},
          {"yacht", {3.51, 0.62, 5.89, 1.25, 2.91, 0.04, 2.90, 0.04, 3.16, 0.02, 3.15, 0.02}},
      });
}

PaperNumbers classification_nll() {
  return PaperNumbers(
      {"cv-map", "cv-vi", "cv-laplace", "full-ggn bayes", "full-ggn", "full-ef bayes", "full-ef", "kron bayes", "kron"},
      {
          {"australian",
           {0.32, 0.01, 0.32, 0.01, 0.32, 0.01, 0.31, 0.01, 0.31, 0.01, 0.34, 0.01, 0.31, 0.01, 0.32, 0.01, 0.31,
            0.01}},
          {"breast_cancer",
           {0.13, 0.03, 0.17, 0.05, 0.10, 0.01, 0.10, 0.01, 0.09, 0.01, 0.25, 0.01, 0.10, 0.02, 0.10, 0.01, 0.09,
            0.01}},
          {"ionosphere",
           {0.28, 0.02, 0.23, 0.02, 0.28, 0.01, 0.29, 0.02, 0.26, 0.03, 0.42, 0.01, 0.28, 0.04, 0.31, 0.02, 0.29,
            0.02}},
          {"glass",
           {0.89, 0.03, 1.07, 0.07, 0.88, 0.01, 0.92, 0.02, 0.91, 0.05, 1.37, 0.02, 1.03, 0.10, 0.98, 0.02, 0.98,
            0.04}},
          {"vehicle",
           {0.39, 0.01, 0.37, 0.01, 0.46, 0.00, 0.47, 0.01, 0.41, 0.01, 0.75, 0.01, 0.38, 0.01, 0.49, 0.00, 0.45,
            0.01}},
          {"waveform",
           {0.36, 0.00, 0.35, 0.00, 0.37, 0.00, 0.35, 0.01, 0.34, 0.01, 0.43, 0.01, 0.36, 0.02, 0.35, 0.01, 0.34,
            0.01}},
          {"digits",
           {0.08, 0.00, 0.14, 0.01, 0.26, 0.00, 0.31, 0.01, 0.13, 0.01, 1.81, 0.01, 0.07, 0.01, 0.30, 0.01, 0.16,
            0.01}},
          {"satellite",
           {0.23, 0.00, 0.28, 0.00, 0.25, 0.00, 0.25, 0.00, 0.22, 0.01, 0.68, 0.01, 0.24, 0.01, 0.25, 0.00, 0.24,
            0.00}},
      });
}

PaperNumbers classification_accuracy() {
  return PaperNumbers(
      {"cv-map", "cv-vi", "cv-laplace", "full-ggn bayes", "full-ggn", "full-ef bayes", "full-ef", "kron bayes", "kron"},
      {
          {"breast_cancer",
           {96.8, 0.4, 96.4, 0.4, 97.0, 0.3, 96.8, 0.4, 96.9, 0.4, 96.7, 0.5, 96.7, 0.5, 96.7, 0.5, 96.7, 0.5}},
          {"ionosphere",
           {90.6, 0.7, 92.6, 0.7, 90.6, 0.6, 90.0, 1.3, 90.0, 1.3, 90.9, 1.2, 91.5, 1.0, 89.1, 1.3, 88.9, 1.4}},
          {"glass",
           {67.2, 1.4, 63.4, 1.4, 65.3, 1.4, 64.4, 2.7, 64.1, 2.8, 65.9, 2.7, 67.8, 2.2, 63.7, 2.0, 64.7, 1.9}},
          {"vehicle",
           {83.2, 0.3, 81.4, 0.4, 80.9, 0.3, 81.7, 0.9, 82.0, 0.9, 82.1, 0.6, 83.2, 0.5, 80.3, 0.8, 80.3, 0.8}},
          {"waveform",
           {85.7, 0.3, 85.6, 0.3, 85.7, 0.3, 85.9, 0.6, 85.9, 0.5, 84.7, 0.8, 84.3, 0.8, 86.0, 0.5, 85.9, 0.6}},
          {"digits",
           {98.1, 0.1, 97.3, 0.1, 97.1, 0.1, 97.3, 0.2, 97.4, 0.2, 86.9, 0.8, 98.1, 0.2, 97.0, 0.4, 97.1, 0.3}},
          {"satellite",
           {91.6, 0.1, 89.9, 0.1, 91.3, 0.1, 91.6, 0.2, 91.6, 0.3, 91.1, 0.4, 91.5, 0.3, 91.0, 0.2, 91.0, 0.2}},
      });
}

PaperNumbers classification_ece() {
  return PaperNumbers(
      {"cv-map", "cv-vi", "cv-laplace", "full-ggn bayes", "full-ggn", "full-ef bayes", "full-ef", "kron bayes", "kron"},
      {
          {"australian",
           {0.06, 0.01, 0.06, 0.00, 0.07, 0.01, 0.07, 0.01, 0.05, 0.01, 0.09, 0.01, 0.06, 0.00, 0.06, 0.01, 0.06,
            0.01}},
          {"breast_cancer",
           {0.03, 0.00, 0.03, 0.00, 0.03, 0.00, 0.03, 0.00, 0.03, 0.00, 0.18, 0.01, 0.03, 0.00, 0.03, 0.00, 0.03,
            0.00}},
          {"ionosphere",
           {0.08, 0.00, 0.07, 0.00, 0.11, 0.00, 0.10, 0.01, 0.08, 0.01, 0.22, 0.01, 0.06, 0.01, 0.10, 0.01, 0.08,
            0.01}},
          {"glass",
           {0.17, 0.01, 0.17, 0.01, 0.19, 0.01, 0.18, 0.02, 0.17, 0.01, 0.36, 0.02, 0.18, 0.02, 0.19, 0.02, 0.18,
            0.01}},
          {"vehicle",
           {0.06, 0.00, 0.07, 0.00, 0.10, 0.00, 0.12, 0.01, 0.07, 0.01, 0.30, 0.01, 0.06, 0.01, 0.12, 0.01, 0.08,
            0.01}},
          {"waveform",
           {0.05, 0.00, 0.04, 0.00, 0.06, 0.00, 0.07, 0.00, 0.05, 0.01, 0.12, 0.01, 0.05, 0.00, 0.07, 0.00, 0.05,
            0.00}},
          {"digits",
           {0.01, 0.00, 0.03, 0.00, 0.17, 0.00, 0.20, 0.00, 0.06, 0.00, 0.70, 0.01, 0.01, 0.00, 0.19, 0.00, 0.08,
            0.00}},
          {"satellite",
           {0.02, 0.00, 0.02, 0.00, 0.04, 0.00, 0.05, 0.00, 0.02, 0.00, 0.36, 0.00, 0.02, 0.00, 0.05, 0.00, 0.03,
            0.00}},
      });
}

PaperNumbers classification_nll_diagonal() {
  return PaperNumbers({"full-ggn bayes", "full-ggn", "diag-ggn bayes", "diag-ggn", "diag-ef bayes", "diag-ef"},
                      {
                          {"australian", {0.31, 0.01, 0.31, 0.01, 0.35, 0.01, 0.33, 0.01, 0.34, 0.01, 0.32, 0.01}},
                          {"breast_cancer", {0.10, 0.01, 0.09, 0.01, 0.12, 0.01, 0.09, 0.01, 0.16, 0.01, 0.09, 0.01}},
                          {"ionosphere", {0.29, 0.02, 0.26, 0.03, 0.38, 0.01, 0.35, 0.01, 0.37, 0.01, 0.31, 0.02}},
                          {"glass", {0.92, 0.02, 0.91, 0.05, 1.09, 0.01, 1.06, 0.02, 1.05, 0.02, 0.99, 0.03}},
                          {"vehicle", {0.47, 0.01, 0.41, 0.01, 0.75, 0.01, 0.68, 0.01, 0.71, 0.01, 0.59, 0.01}},
                          {"waveform", {0.35, 0.01, 0.34, 0.01, 0.41, 0.01, 0.38, 0.01, 0.40, 0.01, 0.37, 0.01}},
                          {"digits", {0.31, 0.01, 0.13, 0.01, 0.43, 0.00, 0.23, 0.01, 0.97, 0.02, 0.09, 0.01}},
                          {"satellite", {0.25, 0.00, 0.22, 0.01, 0.34, 0.00, 0.30, 0.00, 0.35, 0.00, 0.29, 0.00}},
                      });
}

}  // namespace

PaperNumbers::PaperNumbers(const std::vector<std::string>& columns,
                           const std::map<std::string, std::vector<double>>& rows) {
  for (const auto& [set, values] : rows)
    for (size_t i = 0; i < columns.size(); ++i) numbers_[set][columns[i]] = {values[2 * i], values[2 * i + 1], 10};
}

PaperNumbers& PaperNumbers::add(const PaperNumbers& other) {
  for (const auto& [set, columns] : other.numbers_) numbers_[set].insert(columns.begin(), columns.end());
  return *this;
}

Summary PaperNumbers::at(const std::string& set, const std::string& column) const {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto row = numbers_.find(set);
  if (row == numbers_.end() || row->second.count(column) == 0) return {nothing, nothing, 0};
  return row->second.at(column);
}

const PaperNumbers& paper_regression_nll() {
  static const PaperNumbers numbers = regression_table().add(regression_bayes()).add(regression_diagonal());
  return numbers;
}

const PaperNumbers& paper_classification_nll() {
  static const PaperNumbers numbers = classification_nll().add(classification_nll_diagonal());
  return numbers;
}

const PaperNumbers& paper_classification_accuracy() {
  static const PaperNumbers numbers = classification_accuracy();
  return numbers;
}

const PaperNumbers& paper_classification_ece() {
  static const PaperNumbers numbers = classification_ece();
  return numbers;
}

}  // namespace ockham::paper
