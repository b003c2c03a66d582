// A TorchScript model with every difficulty at once: convolution, layer norm, embedding, a shared weight, an in-place
// activation and a parameter that no recogniser explains.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/network/torchscript.h"
#include "tests/support/dense_reference.h"
#include "tests/support/finite_differences.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torchscript_builder.h"

namespace ockham {
namespace {

using testing::relative_mismatch;

constexpr double kExact = 1e-11;

class MixedScript : public ::testing::Test {
 protected:
  void SetUp() override {
    at::Generator generator = random_stream({21});
    const auto parameter = [&](std::vector<int64_t> shape) { return at::randn(shape, generator, at::kDouble) * 0.4; };
    testing::TorchScriptBuilder()
        .parameter("embed", parameter({7, 4}))
        .parameter("conv_w", parameter({4, 4, 3}))
        .parameter("conv_b", parameter({4}))
        .parameter("norm_w", parameter({4}) + 1)
        .parameter("norm_b", parameter({4}))
        .parameter("shared", parameter({4, 4}))
        .parameter("odd", parameter({4}))
        .parameter("head_w", parameter({3, 4}))
        .parameter("head_b", parameter({3}))
        .define(R"(
def forward(self, x):
    h = torch.embedding(self.embed, x).transpose(1, 2)
    h = torch.relu_(torch.conv1d(h, self.conv_w, self.conv_b, padding=1))
    h = torch.layer_norm(h.transpose(1, 2), [4], self.norm_w, self.norm_b)
    h = torch.tanh(torch.linear(h, self.shared))
    h = torch.tanh(torch.linear(h, self.shared)).sum(1)
    h = h / (1.0 + self.odd * self.odd)
    return torch.linear(h, self.head_w, self.head_b)
)")
        .save(path());
    inputs_ = at::randint(0, 7, {9, 5}, generator, at::kLong);
    targets_ = at::randint(0, 3, {9}, generator, at::kLong);
  }

  std::string path() const { return directory_.path("mixed.pt"); }

  CurvatureEstimate estimate(const Network& network, const CurvatureOptions& options) const {
    return estimate_curvature(network, Categorical{}, Dataset(inputs_, targets_),
                              default_likelihood_hyperparameters(Categorical{}, 3), options);
  }

  testing::TemporaryDirectory directory_;
  at::Tensor inputs_, targets_;
};

TEST_F(MixedScript, EachStructureEqualsTheDenseReferenceOrSaysByName) {
  const Network network = load_torchscript(path(), at::kDouble);
  std::vector<int64_t> sizes;
  for (const ParameterSlot& slot : network.layout().slots()) sizes.push_back(slot.size);
  for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
    const at::Tensor full = testing::brute_force_curvature(network, inputs_, targets_, Categorical{},
                                                           default_likelihood_hyperparameters(Categorical{}, 3), kind);
    CurvatureOptions options;
    options.kind = kind;
    options.batch_size = 4;
    options.structure = Structure::full;
    EXPECT_LT(relative_mismatch(dense(estimate(network, options).curvature, sizes), full), kExact);
    options.structure = Structure::diagonal;
    EXPECT_LT(relative_mismatch(at::diagonal(dense(estimate(network, options).curvature, sizes)), at::diagonal(full)),
              kExact);
    options.structure = Structure::block;
    const at::Tensor blocks = dense(estimate(network, options).curvature, sizes);
    options.structure = Structure::kronecker;
    const CurvatureEstimate kronecker = estimate(network, options);
    const at::Tensor factored = dense(kronecker.curvature, sizes);
    for (const ParameterSlot& slot : network.layout().slots()) {
      const auto block = [&](const at::Tensor& t) {
        return t.narrow(0, slot.offset, slot.size).narrow(1, slot.offset, slot.size);
      };
      EXPECT_LT(relative_mismatch(block(blocks), block(full)), kExact) << slot.name;
      const bool exact = slot.name == "odd" || slot.name == "norm_w" || slot.name == "norm_b" || slot.name == "head_b";
      if (exact) {
        EXPECT_LT(relative_mismatch(block(factored), block(full)), kExact) << slot.name;
      }
    }
    ASSERT_EQ(kronecker.messages.size(), 1u);
    EXPECT_NE(kronecker.messages[0].find("'odd'"), std::string::npos) << kronecker.messages[0];
  }
}

}  // namespace
}  // namespace ockham
