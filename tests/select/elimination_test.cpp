#include "ockham/select/elimination.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/random.h"
#include "ockham/data/table_encoding.h"
#include "ockham/data/toy.h"
#include "ockham/network/architectures.h"
#include "tests/support/expect_error.h"

namespace ockham {
namespace {

constexpr int64_t kEpochs = 100, kExamples = 100;

/// Rises from `begin` towards `end`, with the given time constant in epochs.
EvidenceTrace saturating(size_t candidate, double begin, double end, double constant) {
  EvidenceTrace trace;
  trace.candidate = candidate;
  for (int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    trace.points.push_back({epoch, end + (begin - end) * std::exp(-static_cast<double>(epoch) / constant)});
  }
  return trace;
}

std::vector<bool> survivors(int64_t rung, const std::vector<EvidenceTrace>& traces) {
  return eliminate_hopeless({rung, kEpochs, kExamples}, traces, {}).survives;
}

TEST(Elimination, RungsAreEpochs) {
  EXPECT_EQ(rung_epochs(1000, {}), (std::vector<int64_t>{250, 500, 750}));
  EXPECT_EQ(rung_epochs(2, {}), (std::vector<int64_t>{1}));
  EXPECT_TRUE(rung_epochs(1, {}).empty());
  EliminationOptions options;
  options.rungs = {0.5, 1};
  testing::expect_error(ErrorKind::usage, {"between 0 and 1"}, [&] { rung_epochs(10, options); });
}

TEST(Elimination, TheHopelessGoAndTheCloseStay) {
  const std::vector<EvidenceTrace> traces = {saturating(0, -300, -60, 5), saturating(1, -300, -250, 5),
                                             saturating(2, -300, -80, 5)};
  EXPECT_EQ(survivors(50, traces), (std::vector<bool>{true, false, true}));
}

TEST(Elimination, GrantsTheRiseOfTheLastEpochsAndAJump) {
  const std::vector<EvidenceTrace> traces = {saturating(0, -300, -60, 5), saturating(1, -300, -100, 40)};
  const Elimination result = eliminate_hopeless({25, kEpochs, kExamples}, traces, {});
  const auto value = [](double epoch) { return -100 - 200 * std::exp(-epoch / 40); };
  EXPECT_NEAR(result.reachable[1], value(25) + (value(25) - value(12)) * 75 / 13 + 0.25 * kExamples, 1e-9);
  EXPECT_NEAR(result.leader, -60 - 240 * std::exp(-25.0 / 5), 1e-9);
  // With everything flat, a quarter of a nat per example remains.
  const std::vector<EvidenceTrace> flat = {saturating(0, -10, -10, 1), saturating(1, -34, -34, 1),
                                           saturating(2, -36, -36, 1)};
  EXPECT_EQ(survivors(50, flat), (std::vector<bool>{true, true, false}));
}

TEST(Elimination, BeforeTheFirstPassNobodyGoes) {
  std::vector<CandidateTraining> trainings(2);
  for (size_t i = 0; i < trainings.size(); ++i) {
    trainings[i].candidate = i;
    trainings[i].result.failure = "no curvature pass was made";
  }
  EXPECT_EQ(survivors(25, evidence_traces(trainings)), (std::vector<bool>{true, true}));
  trainings[1].result.state.failure = "the loss is not finite";
  EXPECT_EQ(survivors(25, evidence_traces(trainings)), (std::vector<bool>{true, false}));
}

/// Concave traces never rise faster than before: whoever wins in the end is never eliminated, at any rung.
TEST(Elimination, NeverLosesTheWinnerOfConcaveTraces) {
  auto stream = random_stream({5});
  int64_t eliminated = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<EvidenceTrace> traces;
    const at::Tensor draws = at::rand({8, 3}, stream, at::kDouble);
    for (size_t i = 0; i < 8; ++i) {
      const double* draw = draws.data_ptr<double>() + 3 * i;
      traces.push_back(saturating(i, -500 + 100 * draw[0], -300 * draw[1], 1 + 100 * draw[2] * draw[2]));
    }
    const auto winner = std::max_element(traces.begin(), traces.end(), [](const auto& a, const auto& b) {
      return a.points.back().log_evidence < b.points.back().log_evidence;
    });
    for (int64_t rung : rung_epochs(kEpochs, {})) {
      const std::vector<bool> stays = survivors(rung, traces);
      EXPECT_TRUE(stays[static_cast<size_t>(winner - traces.begin())]) << trial << " at " << rung;
      for (size_t i = 0; i < traces.size(); ++i) traces[i].running = stays[i];
    }
    for (const EvidenceTrace& trace : traces) eliminated += !trace.running;
  }
  EXPECT_GT(eliminated, 300) << "and yet it eliminates";
}

TEST(Elimination, ALateRiserIsNotLostToAnEarlyLeader) {
  const std::vector<EvidenceTrace> traces = {saturating(0, -200, -90, 5), saturating(1, -220, -40, 60)};
  for (int64_t rung : rung_epochs(kEpochs, {})) EXPECT_EQ(survivors(rung, traces), (std::vector<bool>{true, true}));
}

TEST(Elimination, LooksAtNothingAfterTheRungAndAtNoOrder) {
  const std::vector<EvidenceTrace> traces = {saturating(0, -300, -60, 5), saturating(1, -300, -250, 5),
                                             saturating(2, -300, -80, 5)};
  std::vector<EvidenceTrace> cut = traces;
  for (EvidenceTrace& trace : cut) trace.points.resize(50);
  EXPECT_EQ(survivors(50, cut), survivors(50, traces));
  std::reverse(cut.begin(), cut.end());
  EXPECT_EQ(survivors(50, cut), (std::vector<bool>{true, false, true}));
}

TEST(Elimination, RestartsGoOrStayTogether) {
  // The mean ranks: a bad restart of the leading network stays, a good one of a hopeless network goes.
  const std::vector<EvidenceTrace> traces = {saturating(0, -300, 0, 4), saturating(0, -300, -120, 4),
                                             saturating(1, -300, -100, 4), saturating(1, -300, -290, 4)};
  EXPECT_EQ(survivors(75, traces), (std::vector<bool>{true, true, false, false}));
}

TEST(Elimination, FailuresDoNotLeadAndBurnInDecidesNothing) {
  std::vector<EvidenceTrace> traces = {saturating(0, -300, 1e6, 5), saturating(1, -300, -250, 5)};
  traces[0].running = false;
  EXPECT_EQ(survivors(50, traces), (std::vector<bool>{false, true}));
  std::vector<EvidenceTrace> late = {saturating(0, -300, -60, 5), saturating(1, -300, -250, 5)};
  for (EvidenceTrace& trace : late) trace.points.erase(trace.points.begin(), trace.points.begin() + 30);
  EXPECT_EQ(survivors(50, late), (std::vector<bool>{true, true}));
  EXPECT_TRUE(std::isinf(eliminate_hopeless({50, kEpochs, kExamples}, late, {}).reachable[0]));
}

TEST(Elimination, OnRealTrainingsTheWinnerStaysAndTimeIsSaved) {
  for (uint64_t seed : {0, 1}) {
    ToyCurveOptions curve;
    curve.noise = 0.15;
    const CsvTable table = make_toy_curve(seed, curve);
    const TableEncoding encoding = learn_encoding(table, {});
    const Dataset data(encode_inputs(encoding, table), encode_targets(encoding, table));
    std::vector<Candidate> candidates;
    for (const char* spec : {"linear", "mlp:1,act=tanh", "mlp:8,act=tanh", "mlp:16,act=tanh"}) {
      candidates.push_back({spec,
                            [=](uint64_t restart) {
                              const Network network = make_architecture(spec, {1}, 1, at::kDouble, restart);
                              const Prior prior = Prior::layerwise(network.layout());
                              Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
                              start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
                              return Model{network, Gaussian{}, prior, start};
                            },
                            1});
    }
    CandidatesOptions options;
    options.online.epochs = 400;
    options.online.frequency = 4;
    options.online.hyper.steps = 4;
    options.online.hyper.step_size = 0.05;
    options.online.optimiser.learning_rate = 0.03;
    options.online.laplace.curvature.structure = Structure::full;
    options.online.laplace.curvature.batch_size = 1000;
    const auto plain = train_candidates(candidates, data, options);
    use_elimination(options, data.size());
    const auto quick = train_candidates(candidates, data, options);
    const auto best = std::max_element(plain.begin(), plain.end(), [](const auto& a, const auto& b) {
      return a.result.best.log_evidence < b.result.best.log_evidence;
    });
    const CandidateTraining& winner = quick[static_cast<size_t>(best - plain.begin())];
    EXPECT_EQ(winner.eliminated_at, 0) << candidates[winner.candidate].network;
    EXPECT_EQ(winner.result.best.log_evidence, best->result.best.log_evidence) << "and it ends as it did without";
    EXPECT_GT(quick[0].eliminated_at, 0) << "a straight line is hopeless here";
    int64_t all = 0, spent = 0;
    for (size_t i = 0; i < plain.size(); ++i) {
      all += plain[i].result.state.epoch;
      spent += quick[i].result.state.epoch;
    }
    EXPECT_LT(spent, 0.9 * static_cast<double>(all));
  }
}

}  // namespace
}  // namespace ockham
