#include "ockham/probability/data_fit.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "ockham/base/error.h"
#include "ockham/probability/each_likelihood.h"

namespace ockham {
namespace {

constexpr double kSameTemperature = 1e-12;  // on the log scale: what restoring a value from text may change

/// Few large pieces instead of many batches, at O(log) copies an example: equal neighbours are joined.
void append(std::vector<at::Tensor>& pieces, at::Tensor piece) {
  while (!pieces.empty() && piece.size(0) >= pieces.back().size(0)) {
    piece = at::cat({pieces.back(), piece}, 0);
    pieces.pop_back();
  }
  pieces.push_back(std::move(piece));
}

at::Tensor joined(const std::vector<at::Tensor>& pieces, bool kept) {
  if (!kept) {
    throw Error(ErrorKind::usage,
                "The outputs of this fit were not kept; make the fit with derivatives of the temperature or noise.");
  }
  return pieces.empty() ? at::Tensor() : at::cat(pieces, 0);
}

bool has_temperature(const Likelihood& likelihood) {
  return std::holds_alternative<Categorical>(likelihood) || std::holds_alternative<Bernoulli>(likelihood);
}

}  // namespace

DataFit::DataFit(Likelihood likelihood, Hyperparameters at, bool keep_outputs)
    : likelihood_(std::move(likelihood)), at_(at.clone()), keep_outputs_(keep_outputs) {}

DataFit::DataFit(Likelihood likelihood, Hyperparameters at, const Summary& summary)
    : likelihood_(std::move(likelihood)),
      at_(at.clone()),
      keep_outputs_(summary.kept_outputs.defined()),
      examples_(summary.examples),
      outputs_(summary.outputs),
      value_(summary.value),
      temperature_gradient_(summary.temperature_gradient),
      squared_residuals_(summary.squared_residuals) {
  if (!keep_outputs_) return;
  output_batches_ = {summary.kept_outputs};
  target_batches_ = {summary.kept_targets};
}

DataFit::Summary DataFit::summary() const {
  Summary summary{examples_, outputs_, value_, temperature_gradient_, squared_residuals_, {}, {}};
  if (keep_outputs_) {
    summary.kept_outputs = kept_outputs();
    summary.kept_targets = kept_targets();
  }
  return summary;
}

void DataFit::add(const at::Tensor& outputs, const at::Tensor& targets) {
  const at::Tensor doubles = outputs.detach().to(at::kDouble);
  if (std::holds_alternative<Gaussian>(likelihood_)) {
    const at::Tensor squares = (doubles - targets).square().sum(0);
    squared_residuals_ = squared_residuals_.defined() ? squared_residuals_ + squares : squares;
  } else {
    const each::DataTerm term =
        std::visit([&](const auto& one) { return each::data_term(one, doubles, targets, at_); }, likelihood_);
    value_ += term.value;
    temperature_gradient_ += term.gradient_log_temperature;
  }
  examples_ += outputs.size(0);
  outputs_ = outputs.size(1);
  if (!keep_outputs_) return;
  append(output_batches_, doubles);
  append(target_batches_, std::holds_alternative<Categorical>(likelihood_) ? targets : targets.to(at::kDouble));
}

DataFit::Value DataFit::evaluate(const Hyperparameters& hyperparameters) const {
  const at::Tensor none = at::zeros({0}, at::kDouble);
  if (const Gaussian* gaussian = std::get_if<Gaussian>(&likelihood_)) {
    const at::Tensor log_noise = each::log_noise_of(*gaussian, hyperparameters, outputs_);
    if (!squared_residuals_.defined()) return {0, at::zeros_like(log_noise), none};
    at::Tensor gradient = at::zeros(log_noise.sizes(), at::kDouble);
    const double count = static_cast<double>(examples_);
    double value = 0;
    for (int64_t c = 0; c < outputs_; ++c) {
      const int64_t i = gaussian->noise_per_output ? c : 0;
      const double log_sigma = log_noise.data_ptr<double>()[i];
      const double scaled = squared_residuals_.data_ptr<double>()[c] * std::exp(-2 * log_sigma);
      value -= 0.5 * (scaled + count * (2 * log_sigma + std::log(2 * M_PI)));
      gradient.data_ptr<double>()[i] += scaled - count;
    }
    return {value, gradient, none};
  }
  if (!has_temperature(likelihood_)) return {value_, none, none};

  const double pass = std::log(each::temperature_of(at_)), now = std::log(each::temperature_of(hyperparameters));
  each::DataTerm sum{value_, temperature_gradient_};
  if (std::abs(now - pass) > kSameTemperature) {
    if (!keep_outputs_) {
      throw Error(
          ErrorKind::usage,
          fmt::format("The fit was made at temperature {:.6g} without keeping the outputs and cannot be evaluated at "
                      "{:.6g}; make it with derivatives of the temperature.",
                      std::exp(pass), std::exp(now)));
    }
    sum = {};
    for (size_t i = 0; i < output_batches_.size(); ++i) {
      const each::DataTerm term = std::visit(
          [&](const auto& one) {
            return each::data_term(one, output_batches_[i], target_batches_[i], hyperparameters);
          },
          likelihood_);
      sum.value += term.value;
      sum.gradient_log_temperature += term.gradient_log_temperature;
    }
  }
  return {sum.value, none, at::full({1}, sum.gradient_log_temperature, at::kDouble)};
}

at::Tensor DataFit::kept_outputs() const { return joined(output_batches_, keep_outputs_); }
at::Tensor DataFit::kept_targets() const { return joined(target_batches_, keep_outputs_); }

}  // namespace ockham
