#include "ockham/evidence/clipped_spectrum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/evidence/evidence.h"
#include "tests/evidence/small_problem.h"

namespace ockham {
namespace {

LaplaceFit fit_of(Structure structure) {
  const auto problem = testing::small_problems().front();  // a network 3-4-2
  const Prior prior = Prior::scalar(problem.network.layout());
  LaplaceOptions options;
  options.curvature.structure = structure;
  options.curvature.dense_form = CurvatureOptions::DenseForm::matrix;
  return fit_laplace({problem.network, problem.likelihood, prior, problem.at(prior)}, problem.data, options);
}

TEST(ClippedSpectrum, CountsTheEigenvaluesOfEveryStructure) {
  const auto count = [](Structure structure) { return clipped_spectrum(fit_of(structure)).eigenvalues; };
  EXPECT_EQ(count(Structure::full), 26);
  EXPECT_EQ(count(Structure::diagonal), 26);
  EXPECT_EQ(count(Structure::kronecker), (4 + 3) + 4 + (2 + 4) + 2);
}

TEST(ClippedSpectrum, IsReportedWhenItIsMaterial) {
  LaplaceFit fit = fit_of(Structure::full);
  evidence(fit, fit.fitted_at);
  EXPECT_EQ(describe_clipped(clipped_spectrum(fit)), "");
  Curvature curvature = fit.curvature.curvature();
  at::Tensor spectrum = at::ones({26}, at::kDouble);
  spectrum.narrow(0, 0, 7).fill_(-1e-6);
  std::get<DenseBlock>(curvature.blocks[0]).matrix = spectrum.diag();
  fit.curvature = DecomposedCurvature(curvature, fit.prior);
  evidence(fit, fit.fitted_at);
  const ClippedSpectrum clipped = clipped_spectrum(fit);
  EXPECT_EQ(clipped.clipped, 7);
  EXPECT_NE(describe_clipped(clipped).find("7 of 26 eigenvalues"), std::string::npos) << describe_clipped(clipped);
  EXPECT_EQ(describe_clipped({6, 26}), "");
}

}  // namespace
}  // namespace ockham
