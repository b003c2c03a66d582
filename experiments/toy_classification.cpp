// toy-classification: the same network twice on banana, by the online algorithm and with a fixed weak prior.
#include "experiments/toy_classification.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/table_text.h"
#include "experiments/toy_predictive.h"

namespace ockham::paper {
namespace {

constexpr double kWeakPrecision = 1e-4;
constexpr int64_t kPaperSteps = 200, kLonger = 15, kQuickLonger = 5;  // the latter two: times as many

Json run_cell(const CellContext& context, const std::string& directory, uint64_t data_seed, const ToyNetwork& network,
              const OnlineOptions& options) {
  const ToyProblem problem = draw_banana(directory, data_seed);
  const ToyRun run = train_toy(context, problem, network, options);
  ClassificationOptions more;
  more.seed = network.seed;
  if (network.seed == data_seed) more.picture = Picture::kept;
  Json result = state_of(run, problem);
  result.update(classification_scores(run, problem, options, more));
  result["trace"] = trace_of(run.result);
  return result;
}

OnlineOptions weakly_regularised(const OnlineOptions& online) {
  OnlineOptions options = online;
  options.frequency = options.epochs;  // one pass, at the end: no evidence takes part in the training
  options.hyper.steps = 0;
  return options;
}

std::vector<Cell> make_cells(const Settings& settings) {
  check_banana(settings.data);
  std::vector<Cell> cells;
  const ToySeeds seeds = toy_seeds(settings);
  for (const BananaSettings& one : banana_settings(settings))
    for (const std::string activation : toy_activations)
      for (const Regularisation kind : {Regularisation::online, Regularisation::weak})
        for (const uint64_t data_seed : seeds.all())
          for (const uint64_t network_seed : seeds.all()) {
            ToyNetwork network;
            network.spec = "mlp:50,act=" + activation;
            network.seed = network_seed;
            OnlineOptions options = one.online;
            options.restart = network_seed;
            if (kind == Regularisation::weak) network.precision = kWeakPrecision, options = weakly_regularised(options);
            Cell cell;
            cell.name = banana_cell(one.name, activation, kind, data_seed, network_seed);
            cell.settings = {{"problem", "banana"}, {"data_seed", data_seed}, {"samples", 1000}};
            cell.settings.update(describe(network));
            cell.settings.update(describe(options));
            cell.cost = static_cast<double>(options.epochs) * (0.2 + 2.0 / static_cast<double>(options.frequency));
            cell.run = [directory = settings.data, data_seed, network, options](const CellContext& context) {
              return run_cell(context, directory, data_seed, network, options);
            };
            cells.push_back(std::move(cell));
          }
  return cells;
}

struct Side {
  std::vector<double> evidence, train, test, nll, test_bayes, nll_bayes, near, far, far_map;

  void add(const Json& result) {
    evidence.push_back(number(result, "log_evidence"));
    train.push_back(number(result, "train_accuracy")), test.push_back(number(result, "test_accuracy"));
    nll.push_back(number(result, "test_nll"));
    test_bayes.push_back(number(result, "test_accuracy_bayes")), nll_bayes.push_back(number(result, "test_nll_bayes"));
    near.push_back(number(result, "confidence_near_bayes")), far.push_back(number(result, "confidence_far_bayes"));
    far_map.push_back(number(result, "confidence_far"));
  }
};

double mean(const std::vector<double>& values) { return summarise(values).mean; }

/// One of the settings with one activation.
struct Comparison {
  std::string name;
  int data_seeds = 0, runs = 0;
  int evidence = 0, accuracy = 0, gap = 0, likelihood = 0, honest = 0;  // data seeds for which the claim holds
  int evidence_runs = 0, accuracy_runs = 0;
};

std::string percent(std::vector<double> shares) {
  for (double& share : shares) share *= 100;
  return mean_and_error(shares, 2);
}

std::vector<std::string> row_of(const std::string& settings, const std::string& activation, uint64_t data_seed,
                                const std::string& method, const Side& side) {
  return {settings,
          activation,
          std::to_string(data_seed),
          method,
          mean_and_error(side.evidence, 1),
          percent(side.train),
          percent(side.test),
          mean_and_error(side.nll, 3),
          percent(side.test_bayes),
          mean_and_error(side.nll_bayes, 3)};
}

Comparison compare(const BananaSettings& settings, const std::string& activation, const ToySeeds& seeds,
                   const Results& results, Table& table) {
  Comparison out;
  out.name = settings.name + ", " + activation;
  for (const uint64_t data_seed : seeds.all()) {
    Side online, weak;
    for (const uint64_t network_seed : seeds.all()) {
      const auto find = [&](Regularisation kind) {
        return find_result(results, banana_cell(settings.name, activation, kind, data_seed, network_seed));
      };
      const Json *first = find(Regularisation::online), *second = find(Regularisation::weak);
      if (!first || !second) continue;
      online.add(*first), weak.add(*second);
      ++out.runs;
      out.evidence_runs += online.evidence.back() > weak.evidence.back();
      out.accuracy_runs += online.test.back() > weak.test.back();
    }
    if (online.test.empty()) continue;
    out.data_seeds += static_cast<int64_t>(online.test.size()) == seeds.count;
    out.evidence += mean(online.evidence) > mean(weak.evidence);
    out.accuracy += mean(online.test) > mean(weak.test);
    out.gap += mean(weak.train) - mean(weak.test) > mean(online.train) - mean(online.test);
    out.likelihood += mean(online.nll_bayes) < mean(weak.nll_bayes);
    out.honest += mean(online.far) < mean(online.near) && mean(online.far) < mean(online.far_map);
    table.rows.push_back(row_of(settings.name, activation, data_seed, "online", online));
    table.rows.push_back(row_of(settings.name, activation, data_seed, "weak", weak));
  }
  return out;
}

// Yes when it holds for every data seed with the paper's settings and both activations, partly when with some of the
// settings and activations.
Claim judge(const std::string& statement, const std::vector<Comparison>& all, int64_t seeds, int Comparison::*holding,
            const std::string& rule = "", const std::string& more = "") {
  Claim claim{statement, Verdict::open, rule + (rule.empty() ? "" : " ") + "Data seeds for which it holds:"};
  bool complete = true, paper = true, some = false;
  for (const Comparison& one : all) {
    const bool holds = one.*holding == one.data_seeds && one.data_seeds > 0;
    complete &= one.data_seeds == seeds;
    some |= holds;
    if (one.name.rfind("paper", 0) == 0) paper &= holds;
    claim.grounds += fmt::format(" {} {} of {};", one.name, one.*holding, one.data_seeds);
  }
  claim.grounds.back() = '.';
  claim.grounds += more;
  if (complete) claim.verdict = paper ? Verdict::yes : some ? Verdict::partly : Verdict::no;
  return claim;
}

void add_claims(const std::vector<Comparison>& all, int64_t seeds, Presentation& out) {
  std::string evidences, accuracies;
  for (const Comparison& one : all) {
    evidences += fmt::format(" {} {} of {};", one.name, one.evidence_runs, one.runs);
    accuracies += fmt::format(" {} {} of {};", one.name, one.accuracy_runs, one.runs);
  }
  evidences.back() = accuracies.back() = '.';
  out.claims = {
      judge(
          "The marginal likelihood of the network that was trained online is above that of the weakly regularised one.",
          all, seeds, &Comparison::evidence, "", " By run:" + evidences),
      judge("The online algorithm has the higher test accuracy.", all, seeds, &Comparison::accuracy, "",
            " By run:" + accuracies),
      judge("It reduces the gap between training and test accuracy.", all, seeds, &Comparison::gap),
      judge("The Bayesian predictive profits from the optimised hyperparameters: its test NLL is lower.", all, seeds,
            &Comparison::likelihood),
      judge("The online network's Bayesian predictive is less certain away from the data.", all, seeds,
            &Comparison::honest,
            "Less certain: its mean largest probability further than 1 from every training point is below that "
            "within 0.5 of one, and below the MAP predictive's there.")};
}

Presentation present(const Settings& settings, const Results& results) {
  const ToySeeds seeds = toy_seeds(settings);
  Presentation out;
  // fig:toy
  Table table{"Online training against a weak prior",
              {"settings", "activation", "data seed", "method", "evidence", "train accuracy %", "test accuracy %",
               "test NLL", "linearised %", "linearised NLL"},
              {{"the paper's own", "–", "–", "online", "-117", "92", "89", "–", "–", "–"},
               {"the paper's own", "–", "–", "weak", "-165", "99", "86", "–", "–", "–"}},
              "Means ± standard errors over the network seeds. Online: the restored state; weak: after the last epoch. "
              "The linearised predictive is the mean over 1000 samples of f."};
  std::vector<Comparison> all;
  for (const BananaSettings& one : banana_settings(settings)) {
    table.note += " " + one.title + ".";
    for (const char* activation : toy_activations) all.push_back(compare(one, activation, seeds, results, table));
  }
  add_claims(all, seeds.count, out);
  add_banana_figures(settings, results, out);
  out.tables.push_back(table);
  out.notes = {
      "Claims: yes when it holds for every data seed, by the means over the network seeds, with the paper's settings "
      "and "
      "both activations; partly when with some of the settings and activations.",
      fmt::format(
          "265 training rows drawn by the data seed, the others are for testing; data seeds and network seeds {} "
          "to {}; the paper shows one network.",
          seeds.first, seeds.first + static_cast<uint64_t>(seeds.count) - 1),
      fmt::format(
          "One hidden layer of 50, raw units, full GGN, float64, one thread. Layerwise prior precisions and the "
          "temperature start at 1 and are learned; weak: precision {} and T = 1, fixed.",
          kWeakPrecision),
      "The paper names neither the activation nor how weak its weak prior was, nor how long that network was trained. "
      "Hence tanh and ReLU, and a second setting that trains both networks until the weak one fits its training rows; "
      "that setting was chosen on the data seeds 0 to 2 (network seed 0) after 200 steps had not shown overfitting."};
  return out;
}

}  // namespace

std::vector<BananaSettings> banana_settings(const Settings& settings) {
  const int64_t steps = settings.epochs > 0 ? settings.epochs : kPaperSteps;
  const int64_t longer_steps = steps * (settings.quick ? kQuickLonger : kLonger);
  OnlineOptions paper = paper_settings(steps);
  paper.hyper.learn_temperature = true;
  paper.laplace.curvature.root_derivatives = true;
  OnlineOptions longer = paper;
  longer.epochs = longer_steps;
  longer.frequency = 10;
  longer.hyper.steps = 5;
  longer.hyper.step_size = 0.02;
  longer.optimiser.learning_rate = 0.03;
  return {{"paper", fmt::format("paper: {} epochs, Adam 0.01, F = 1, K = 1, step 0.01", steps), paper},
          {"long", fmt::format("long: {} epochs, Adam 0.03, F = 10, K = 5, step 0.02", longer_steps), longer}};
}

std::string banana_cell(const std::string& settings, const std::string& activation, Regularisation kind,
                        uint64_t data_seed, uint64_t network_seed) {
  return fmt::format("{}/act={}/{}/data={}/net={}", settings, activation,
                     kind == Regularisation::online ? "online" : "weak", data_seed, network_seed);
}

Experiment toy_classification() {
  return {"toy-classification",
          "Two classes in the plane: online training against a weakly regularised network",
          "Figure toy; appendix: app:toy_classification_bayes",
          "banana.csv",
          "about 3 min on two free cores; --quick 20 s",
          make_cells,
          present};
}

}  // namespace ockham::paper
