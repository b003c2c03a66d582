#include "ockham/predict/trained_model.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "ockham/evidence/evidence.h"
#include "ockham/predict/linearised.h"
#include "ockham/store/safetensors.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trained_cases.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::make_trained;
using testing::relative_difference;
using testing::TrainedCase;

class SavedModel : public ::testing::Test {
 protected:
  TrainedModel save_and_load(const TrainedModel& trained) const {
    save_trained_model(path_, trained);
    return load_trained_model(path_);
  }
  /// Writes a good model, changes the file's content and expects that reading refuses it.
  void expect_refused(const std::vector<std::string>& mentioned, const std::function<void(TensorFile&)>& spoil) const {
    TensorFile file = good_;
    spoil(file);
    write_safetensors(path_, file);
    std::vector<std::string> all = mentioned;
    all.push_back("model.safetensors");
    expect_error(ErrorKind::data, all, [&] { load_trained_model(path_); });
  }
  void remember_good(const TrainedModel& trained) {
    save_trained_model(path_, trained);
    good_ = read_safetensors(path_);
  }

  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("model.safetensors");
  TensorFile good_;
};

FunctionPredictive predict(const TrainedModel& trained, const Likelihood& likelihood) {
  const at::Tensor inputs =
      testing::trained_data(trained, likelihood, 25, 11).inputs().to(trained.model.network.dtype());
  return predict_function(trained.model.network, trained.posterior, trained.model.hyperparameters, inputs);
}

void expect_same_predictions(const TrainedModel& saved, const TrainedModel& loaded, const Likelihood& likelihood) {
  const FunctionPredictive before = predict(saved, likelihood), after = predict(loaded, likelihood);
  EXPECT_TRUE(before.mean.equal(after.mean));
  EXPECT_TRUE(before.covariance.equal(after.covariance));
}

TEST_F(SavedModel, PredictsBitForBitInEveryStructureAndType) {
  for (const Likelihood& likelihood :
       std::vector<Likelihood>{Gaussian{}, Gaussian{true}, Categorical{}, Bernoulli{}, Poisson{}}) {
    for (Structure structure : {Structure::full, Structure::block, Structure::kronecker, Structure::diagonal}) {
      for (at::ScalarType dtype : {at::kFloat, at::kDouble}) {
        TrainedCase wanted;
        wanted.likelihood = likelihood;
        wanted.structure = structure;
        wanted.dtype = dtype;
        const TrainedModel trained = make_trained(wanted);
        const TrainedModel loaded = save_and_load(trained);
        EXPECT_EQ(loaded.model.network.dtype(), dtype);
        EXPECT_TRUE(loaded.posterior.mode.equal(trained.posterior.mode));
        expect_same_predictions(trained, loaded, likelihood);
        const double before = evidence(trained.posterior, trained.model.hyperparameters).value;
        const double after = evidence(loaded.posterior, loaded.model.hyperparameters).value;
        EXPECT_NEAR(before, after, 1e-12 * std::abs(before));
      }
    }
  }
}

TEST_F(SavedModel, KeepsEveryKindOfPrior) {
  for (PriorKind kind :
       {PriorKind::scalar, PriorKind::layerwise, PriorKind::diagonal, PriorKind::ard, PriorKind::groups}) {
    TrainedCase wanted;
    wanted.prior = kind;
    const TrainedModel trained = make_trained(wanted);
    const TrainedModel loaded = save_and_load(trained);
    EXPECT_EQ(loaded.model.prior.kind(), kind);
    EXPECT_EQ(loaded.model.prior.names(), trained.model.prior.names());
    expect_same_predictions(trained, loaded, wanted.likelihood);
  }
}

TEST_F(SavedModel, LeavesOutDerivativesAndKeepsTheRest) {
  TrainedCase wanted;
  wanted.likelihood = Categorical{};
  wanted.root_derivatives = true;
  for (Structure structure : {Structure::full, Structure::kronecker}) {
    wanted.structure = structure;
    const TrainedModel trained = make_trained(wanted);
    const TrainedModel loaded = save_and_load(trained);
    EXPECT_EQ(loaded.posterior.curvature.root_derivative_count(), 0);
    // With derivatives the eigenvectors are computed at another moment: the last bits may differ.
    EXPECT_LT(relative_difference(predict(loaded, wanted.likelihood).covariance,
                                  predict(trained, wanted.likelihood).covariance),
              1e-12);
    EXPECT_NEAR(evidence(loaded.posterior, loaded.model.hyperparameters).value,
                evidence(trained.posterior, trained.model.hyperparameters).value, 1e-9);
  }
  wanted.structure = Structure::kronecker;
  wanted.damping = true;
  wanted.root_derivatives = false;
  wanted.prior = PriorKind::scalar;
  const TrainedModel damped = make_trained(wanted);
  EXPECT_TRUE(save_and_load(damped).posterior.options.damping);
  expect_same_predictions(damped, save_and_load(damped), wanted.likelihood);
}

TEST_F(SavedModel, EmbedsATorchScriptNetwork) {
  TrainedCase wanted;
  wanted.spec = "net.pt";
  wanted.torchscript = testing::torchscript_bytes(3);
  wanted.likelihood = Categorical{};
  const TrainedModel trained = make_trained(wanted, 3);  // its weights are no longer those of the file
  const TrainedModel loaded = save_and_load(trained);
  EXPECT_EQ(loaded.network, "net.pt");
  EXPECT_EQ(loaded.torchscript, wanted.torchscript);
  EXPECT_EQ(loaded.model.network.layout()[2].name, "last.weight");
  expect_same_predictions(trained, loaded, wanted.likelihood);

  remember_good(trained);
  expect_refused({"net.pt", "ZIP"}, [](TensorFile& file) {
    file.tensors["network.torchscript"] = file.tensors["network.torchscript"].slice(0, 0, 100).clone();
  });
  expect_refused({"network.torchscript", "missing"},
                 [](TensorFile& file) { file.tensors.erase("network.torchscript"); });
}

TEST_F(SavedModel, NamesWhatPeopleLookFor) {
  TrainedCase wanted;
  remember_good(make_trained(wanted));
  for (const char* name : {"weights.hidden1.weight", "weights.output.bias", "prior.log_precision", "noise.log_sd",
                           "posterior.0.matrix", "scaling.input_mean", "scaling.input_sd", "scaling.target_mean",
                           "scaling.target_sd", "data_fit.squared_residuals"})
    EXPECT_EQ(good_.tensors.count(name), 1u) << name;
  EXPECT_EQ(good_.tensors["weights.hidden1.weight"].scalar_type(), at::kFloat);
  EXPECT_EQ(good_.tensors["scaling.input_mean"].sizes(), at::IntArrayRef({5}));
}

TEST_F(SavedModel, RefusesDamage) {
  remember_good(make_trained({}));
  const auto replace = [](const std::string& key, const std::string& from, const std::string& to) {
    return [=](TensorFile& file) {
      std::string& text = file.metadata[key];
      const size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos);
      text.replace(at, from.size(), to);
    };
  };
  expect_refused({"no model of ockham"}, [](TensorFile& file) { file.metadata.clear(); });
  expect_refused({"format 7", "newer"}, [](TensorFile& file) { file.metadata["format_version"] = "7"; });
  expect_refused({"version"}, [](TensorFile& file) { file.metadata["format_version"] = "x"; });
  expect_refused({"model", "missing"}, [](TensorFile& file) { file.metadata.erase("model"); });
  expect_refused({"description"}, [](TensorFile& file) { file.metadata["model"] = "{"; });
  expect_refused({"encoding"}, [](TensorFile& file) { file.metadata["encoding"] = "[]"; });
  expect_refused({"structure", "fool"}, replace("model", "\"full\"", "\"fool\""));
  expect_refused({"likelihood"}, replace("model", "\"gaussian\"", "\"gauss\""));
  expect_refused({"categorical", "regression"}, replace("model", "\"gaussian\"", "\"categorical\""));
  expect_refused({"3 outputs"}, replace("model", "\"outputs\": 1", "\"outputs\": 3"));
  expect_refused({"outputs"}, replace("model", "\"outputs\": 1", "\"outputs\": -1"));
  expect_refused({"mlq"}, replace("model", "mlp:4", "mlq:4"));
  expect_refused({"more than the 29 weights", "hidden1.bias"}, replace("model", "mlp:4", "mlp:5"));
  expect_refused({"hidden1.weight", "[3, 5]"}, replace("model", "mlp:4", "mlp:3"));
  expect_refused({"features"}, replace("model", "\"input_shape\": [\n  5", "\"input_shape\": [\n  6"));
  expect_refused({"more than the 28 weights", "output.bias"},
                 [](TensorFile& file) { file.tensors.erase("weights.output.bias"); });
  expect_refused({"weights.output.bias", "not finite"},
                 [](TensorFile& file) { file.tensors["weights.output.bias"] = at::full({1}, NAN); });
  expect_refused({"weights.output.bias", "Double"},
                 [](TensorFile& file) { file.tensors["weights.output.bias"] = at::zeros({1}, at::kDouble); });
  expect_refused({"prior.log_precision", "[3]"},
                 [](TensorFile& file) { file.tensors["prior.log_precision"] = at::zeros({3}, at::kDouble); });
  expect_refused({"noise.log_sd"}, [](TensorFile& file) { file.tensors.erase("noise.log_sd"); });
  expect_refused({"0.matrix"}, [](TensorFile& file) { file.tensors["posterior.0.matrix"] = at::zeros({2, 2}); });
  expect_refused({"0 blocks"}, [](TensorFile& file) {
    for (const char* name : {"posterior.0.matrix", "posterior.0.factor", "posterior.0.parameters"})
      file.tensors.erase(name);
  });
  // What a few words describe is not made before it is known to fit what the file holds.
  for (const char* network :
       {"mlp:900000000-900000000", "mlp:100000-100000", "mlp:5-5-5-5-5-5-5-5-5-5-5-5-5-5-5-5-5-5-5"})
    expect_refused({"more than the"}, [&](TensorFile& file) {
      std::string& text = file.metadata["model"];
      const std::string key = "\"network\": \"";
      const size_t first = text.find(key) + key.size();
      text.replace(first, text.find('"', first) - first, network);
    });
  testing::write_bytes(path_, "not a model");
  expect_error(ErrorKind::data, {"model.safetensors"}, [&] { load_trained_model(path_); });
  expect_error(ErrorKind::data, {"nowhere"}, [&] { load_trained_model(directory_.path("nowhere")); });
}

TEST_F(SavedModel, RefusesToSaveWhatDoesNotBelongTogether) {
  const TrainedModel trained = make_trained({});
  const auto refused = [&](const std::vector<std::string>& mentioned, const std::function<void(TrainedModel&)>& spoil) {
    TrainedModel copy = trained;
    spoil(copy);
    expect_error(ErrorKind::usage, mentioned, [&] { save_trained_model(path_, copy); });
    EXPECT_FALSE(std::filesystem::exists(path_));
  };
  refused({"other weights"}, [](TrainedModel& copy) { copy.posterior.mode = copy.posterior.mode + 1; });
  refused({"features"}, [](TrainedModel& copy) { copy.input_shape = {4}; });
  refused({"outputs"}, [](TrainedModel& copy) { copy.encoding.targets.push_back({"more"}); });
  refused({"gaussian", "classification"}, [](TrainedModel& copy) { copy.encoding.task = Task::classification; });
}

}  // namespace
}  // namespace ockham
