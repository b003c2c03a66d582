// fig:toy_model_selection: 1 and 3 hidden layers of 50, by activation, since the paper does not name its own.
#include <fmt/format.h>

#include <cmath>

#include "experiments/table_text.h"
#include "experiments/toy_regression_parts.h"

namespace ockham::paper {
namespace {

constexpr const char* kActivations[] = {"tanh", "relu"};
constexpr double kNoiseSlack = 0.2;  // of the true noise

// fig:toy_model_selection
constexpr double kPaperShallow = -110, kPaperDeep = -88;

std::string cell_name(const std::string& activation, int layers, uint64_t data_seed, uint64_t network_seed) {
  return fmt::format("depth/act={}/layers={}/data={}/net={}", activation, layers, data_seed, network_seed);
}

struct Comparison {
  int data_seeds = 0, pairs = 0;  // that are complete
  int wins = 0, last_wins = 0;    // of pairs, by the restored and by the last state
  int higher = 0;                 // data seeds for which the deeper network's mean evidence is higher
  int more_noise = 0;             // … the one-layer network's mean σ is higher
  int better_test = 0;            // … the network with the higher mean evidence has the lower mean test NLL
  int honest = 0;                 // … the deeper network's σ is near the true one and f is less certain in the gap
  std::vector<double> shallow_noise, deep_noise, gap, data, shallow_nll, deep_nll;
};

struct Side {
  std::vector<double> evidence, last, noise, nll, bayes, gap, data;

  void add(const Json& result) {
    evidence.push_back(number(result, "log_evidence")), last.push_back(number(result, "last_log_evidence"));
    noise.push_back(number(result, "noise")), nll.push_back(number(result, "test_nll"));
    bayes.push_back(number(result, "test_nll_bayes"));
    gap.push_back(number(result, "epistemic_gap")), data.push_back(number(result, "epistemic_data"));
  }
};

double mean(const std::vector<double>& values) { return summarise(values).mean; }

void append(std::vector<double>& all, const std::vector<double>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

Comparison compare(const std::string& activation, const ToySeeds& seeds, const Results& results, Table& table) {
  Comparison out;
  for (const uint64_t data_seed : seeds.all()) {
    Side shallow, deep;
    double rows = NAN;
    for (const uint64_t network_seed : seeds.all()) {
      const Json* one = find_result(results, cell_name(activation, 1, data_seed, network_seed));
      const Json* three = find_result(results, cell_name(activation, 3, data_seed, network_seed));
      if (!one || !three) continue;
      shallow.add(*one), deep.add(*three);
      rows = number(*one, "N");
      ++out.pairs;
      out.wins += deep.evidence.back() > shallow.evidence.back();
      out.last_wins += deep.last.back() > shallow.last.back();
    }
    if (shallow.evidence.empty()) continue;
    out.data_seeds += static_cast<int64_t>(shallow.evidence.size()) == seeds.count;
    out.higher += mean(deep.evidence) > mean(shallow.evidence);
    out.more_noise += mean(shallow.noise) > mean(deep.noise);
    out.better_test += (mean(deep.nll) < mean(shallow.nll)) == (mean(deep.evidence) > mean(shallow.evidence));
    out.honest += std::abs(mean(deep.noise) - toy_noise) <= kNoiseSlack * toy_noise && mean(deep.gap) > mean(deep.data);
    append(out.shallow_noise, shallow.noise), append(out.deep_noise, deep.noise);
    append(out.gap, deep.gap), append(out.data, deep.data);
    append(out.shallow_nll, shallow.nll), append(out.deep_nll, deep.nll);
    for (const auto& [layers, side] : {std::pair<const char*, const Side*>{"1", &shallow}, {"3", &deep}})
      table.rows.push_back({activation, std::to_string(data_seed), format_number(rows, 0), layers,
                            mean_and_error(side->evidence), mean_and_error(side->last), mean_and_error(side->noise, 3),
                            mean_and_error(side->nll, 3), mean_and_error(side->bayes, 3)});
  }
  return out;
}

// Yes when it holds for every data seed with both activations, partly when with one of them only.
Verdict judge(const std::vector<Comparison>& both, int Comparison::*holding, int64_t seeds) {
  int with = 0;
  for (const Comparison& one : both) {
    if (one.data_seeds < seeds) return Verdict::open;
    with += one.*holding == one.data_seeds;
  }
  return with == static_cast<int>(both.size()) ? Verdict::yes : with > 0 ? Verdict::partly : Verdict::no;
}

std::string by_activation(const std::vector<Comparison>& both, int Comparison::*holding) {
  std::string text;
  for (size_t i = 0; i < both.size(); ++i)
    text +=
        fmt::format("{}{}: {} of {} data seeds", i ? "; " : "", kActivations[i], both[i].*holding, both[i].data_seeds);
  return text;
}

void add_claims(const std::vector<Comparison>& both, int64_t seeds, Presentation& out) {
  const auto means = [&](std::vector<double> Comparison::*values, int decimals) {
    return mean_and_error(both[0].*values, decimals) + " and " + mean_and_error(both[1].*values, decimals);
  };
  std::string pairs;
  for (size_t i = 0; i < both.size(); ++i)
    pairs += fmt::format("; {}: {} of {} runs, {} by the last state", kActivations[i], both[i].wins, both[i].pairs,
                         both[i].last_wins);
  out.claims.push_back({"The deeper network of three hidden layers has a higher marginal likelihood than that of one.",
                        judge(both, &Comparison::higher, seeds),
                        "Higher with " + by_activation(both, &Comparison::higher) + pairs + "."});
  out.claims.push_back(
      {"The one-layer network underfits and explains parts of the signal by noise.",
       judge(both, &Comparison::more_noise, seeds),
       fmt::format("Its σ is higher with {}; means with tanh and ReLU {} against {} (the truth is {}).",
                   by_activation(both, &Comparison::more_noise), means(&Comparison::shallow_noise, 3),
                   means(&Comparison::deep_noise, 3), toy_noise)});
  out.claims.push_back(
      {"The network that the marginal likelihood prefers predicts better.",
       judge(both, &Comparison::better_test, seeds),
       fmt::format(
           "The higher mean evidence has the lower mean test NLL with {}; test NLL of three layers with tanh and "
           "ReLU {} against {} of one.",
           by_activation(both, &Comparison::better_test), means(&Comparison::deep_nll, 3),
           means(&Comparison::shallow_nll, 3))});
  out.claims.push_back(
      {"Training by the marginal likelihood splits the predictive uncertainty into noise and model reasonably.",
       judge(both, &Comparison::honest, seeds),
       fmt::format(
           "Reasonable: three layers' σ is within {:.0f} % of the true {}, and the standard deviation of f is "
           "larger in the gap than on the data. {}; with tanh and ReLU σ is {}, the model's {} in the gap and {} "
           "on the data.",
           100 * kNoiseSlack, toy_noise, by_activation(both, &Comparison::honest), means(&Comparison::deep_noise, 3),
           means(&Comparison::gap, 3), means(&Comparison::data, 3))});
}

void add_figures(const ToySeeds& seeds, const Results& results, Presentation& out) {
  for (const char* activation : kActivations) {
    std::vector<Plot> plots;
    for (const Bands kind : {Bands::map, Bands::linearised})
      for (const int layers : {3, 1}) {
        const Json* result = find_result(results, cell_name(activation, layers, seeds.first, seeds.first));
        if (!result || !result->contains("bands")) continue;
        const std::string title =
            fmt::format("{} layer{}, {:.0f} weights: log evidence {:.1f}", layers, layers > 1 ? "s" : "",
                        number(*result, "parameters"), number(*result, "log_evidence"));
        plots.push_back(plot_bands(result->at("bands"), title, kind));
      }
    if (!plots.empty())
      out.figures.push_back(
          {fmt::format("Three hidden layers and one, {}", activation), draw(plots, 2),
           fmt::format(
               "fig:toy_model_selection and fig:app:toy_regression_bayes. Data seed {0}, network seed {0}. First "
               "row: the MAP predictive with the learned noise. Second row: the linearised predictive, its "
               "noise exactly and the model's part as what is left of the total standard deviation. The paper's "
               "evidences are {1} and {2}.",
               seeds.first, kPaperDeep, kPaperShallow)});
  }
}

}  // namespace

std::vector<Cell> depth_cells(const Settings& settings) {
  std::vector<Cell> cells;
  const ToySeeds seeds = toy_seeds(settings);
  for (const std::string activation : kActivations)
    for (const int layers : {1, 3})
      for (const uint64_t data_seed : seeds.all())
        for (const uint64_t network_seed : seeds.all()) {
          ToyNetwork network;
          network.spec = (layers == 1 ? "mlp:50,act=" : "mlp:50-50-50,act=") + activation;
          network.seed = network_seed;
          OnlineOptions options = paper_settings(toy_epochs(settings));
          options.restart = network_seed;
          cells.push_back(make_regression_cell(settings, cell_name(activation, layers, data_seed, network_seed),
                                               data_seed, network, options,
                                               data_seed == network_seed ? Picture::kept : Picture::left_out));
        }
  return cells;
}

void present_depths(const Settings& settings, const Results& results, Presentation& out) {
  const ToySeeds seeds = toy_seeds(settings);
  Table table{
      "Three hidden layers of 50 against one",
      {"activation", "data seed", "N", "layers", "evidence", "of the last state", "σ", "test NLL",
       "test NLL, linearised"},
      {{"the paper's own", "–", "–", "1", format_number(kPaperShallow, 0), "–", "–", "–", "–"},
       {"the paper's own", "–", "–", "3", format_number(kPaperDeep, 0), "–", "–", "–", "–"}},
      "Log evidence of the restored state (the best of the run) and of the last one; σ and test NLL of the restored "
      "state; mean ± standard error over the network seeds. Test NLL: MAP predictive, then the linearised one. "
      "The paper's numbers are of one network and data set (fig:toy_model_selection)."};
  std::vector<Comparison> both;
  for (const char* activation : kActivations) both.push_back(compare(activation, seeds, results, table));
  add_claims(both, seeds.count, out);
  add_figures(seeds, results, out);
  out.tables.push_back(table);
}

}  // namespace ockham::paper
