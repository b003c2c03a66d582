// Choosing among networks by their evidence (fig:teaser_marglik_accuracy, fig:cifar100_arch and three appendix tables).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/image_architectures.h"
#include "experiments/image_cell.h"
#include "experiments/image_data.h"
#include "experiments/image_scatter.h"
#include "experiments/image_summary.h"

namespace ockham::paper {
namespace {

const ImageScale of_paper{250, 1, 0, 0, true, false};
const std::vector<std::string> sets = {"fashion-mnist", "cifar-10", "cifar-100"};
constexpr double kStrong = 0.5;  // Spearman's rho from which on the claim counts as supported

double paper_rho(const std::string& set) { return set == "fashion-mnist" ? 0.69 : 0.97; }

ArchitectureList list_of(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  return settings.quick ? ArchitectureList::quick : scale.full ? ArchitectureList::full : ArchitectureList::reduced;
}

std::vector<Cell> make_cells(const Settings& settings) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  std::vector<Cell> cells;
  for (const std::string& set : present_sets(settings.data, sets))
    for (const Architecture& one : architectures_of(set, list_of(settings)))
      for (int64_t seed = 0; seed < scale.seeds; ++seed) {
        ImageTraining training = paper_training(set, spec_of(one), ImageMethod::diagonal_ef, scale);
        training.seed = image_seed(settings, seed);
        training.frequency = frequency_for(scale.epochs, 5);
        training.optimiser = OptimiserKind::sgd;
        training.learning_rate = 0.01;
        cells.push_back(image_cell(seed_name(scale_word(scale) + "/" + start_of(one), seed), training, settings));
      }
  return cells;
}

std::string rho_words(const std::optional<double>& rho) { return rho ? fmt::format("{:.2f}", *rho) : "–"; }

Claim rank_claim(const std::vector<TrainedArchitecture>& all, const std::string& set) {
  const std::vector<TrainedArchitecture> of_set = those(all, set);
  const auto rho = correlate(of_set, &TrainedArchitecture::evidence, &TrainedArchitecture::accuracy);
  Claim claim{fmt::format("{}: evidence and test accuracy rank the networks alike (the paper: rho = {:.2f}).", set,
                          paper_rho(set)),
              Verdict::open, fmt::format("rule: Spearman's rho at least {} is yes, above 0 partly", kStrong)};
  if (!rho) return claim;
  claim.verdict = *rho >= kStrong ? Verdict::yes : *rho > 0 ? Verdict::partly : Verdict::no;
  claim.grounds += fmt::format(". rho = {:.2f} over {} networks", *rho, of_set.size());
  return claim;
}

/// Whether networks of one family have the higher evidences: the share of pairs in which they do.
Case family_case(const std::vector<TrainedArchitecture>& all, const std::string& set, Family better, Family worse) {
  int64_t pairs = 0, wins = 0;
  for (const TrainedArchitecture& one : those(all, set, better))
    for (const TrainedArchitecture& other : those(all, set, worse)) {
      ++pairs;
      wins += one.evidence > other.evidence ? 1 : 0;
    }
  Case result{set, std::nullopt, ""};
  if (pairs == 0) return result;
  result.holds = 10 * wins >= 9 * pairs;
  result.numbers = fmt::format("{} of {} pairs", wins, pairs);
  return result;
}

/// Of networks with equal accuracy, within a point: whether the smaller one has the higher evidence.
Case size_case(const std::vector<TrainedArchitecture>& all, const std::string& set) {
  constexpr double alike = 0.01;
  int64_t pairs = 0, wins = 0;
  for (const TrainedArchitecture& one : those(all, set))
    for (const TrainedArchitecture& other : those(all, set)) {
      if (one.parameters >= other.parameters || std::abs(one.accuracy - other.accuracy) > alike) continue;
      ++pairs;
      wins += one.evidence > other.evidence ? 1 : 0;
    }
  Case result{set, std::nullopt, ""};
  if (pairs == 0) return result;
  result.holds = 2 * wins > pairs;
  result.numbers = fmt::format("the smaller one in {} of {} pairs", wins, pairs);
  return result;
}

Case width_case(const std::vector<TrainedArchitecture>& all, const std::string& set) {
  const auto residual = those(all, set, Family::resnet);
  const auto width = correlate(residual, &TrainedArchitecture::evidence, &TrainedArchitecture::width);
  const auto depth = correlate(residual, &TrainedArchitecture::evidence, &TrainedArchitecture::depth);
  Case result{set, std::nullopt, ""};
  if (!width || !depth) return result;
  result.holds = *width > 0 && *width > *depth;
  result.numbers = fmt::format("rho with width {:.2f}, with depth {:.2f}, {} ResNets", *width, *depth, residual.size());
  return result;
}

Case narrow_case(const std::vector<TrainedArchitecture>& all) {
  const auto dense = those(all, "fashion-mnist", Family::mlp);
  const auto rho = correlate(dense, &TrainedArchitecture::evidence, &TrainedArchitecture::width);
  Case result{"fashion-mnist", std::nullopt, ""};
  if (!rho) return result;
  result.holds = *rho < 0;
  result.numbers = fmt::format("rho of evidence and width {:.2f}, {} MLPs", *rho, dense.size());
  return result;
}

std::vector<Claim> make_claims(const std::vector<TrainedArchitecture>& all) {
  std::vector<Claim> claims;
  for (const std::string& set : sets) claims.push_back(rank_claim(all, set));
  const char* share = "in nine of ten pairs of networks or more";
  claims.push_back(claim_of("CNNs have higher evidences than MLPs on Fashion-MNIST.", share,
                            {family_case(all, "fashion-mnist", Family::cnn, Family::mlp)}));
  claims.push_back(claim_of("ResNets have higher evidences than CNNs on CIFAR.", share,
                            {family_case(all, "cifar-10", Family::resnet, Family::cnn),
                             family_case(all, "cifar-100", Family::resnet, Family::cnn)}));
  claims.push_back(
      claim_of("For similar performance, smaller models tend to have a higher evidence.",
               "in more than half of the pairs whose accuracies are within a point",
               {size_case(all, "fashion-mnist"), size_case(all, "cifar-10"), size_case(all, "cifar-100")}));
  claims.push_back(claim_of("Width raises the evidence of ResNets more than depth.",
                            "Spearman's rho of evidence and width is positive and above that with depth",
                            {width_case(all, "cifar-10"), width_case(all, "cifar-100")}));
  claims.push_back(claim_of("Less wide MLPs have a better evidence on Fashion-MNIST.",
                            "Spearman's rho of evidence and width is negative", {narrow_case(all)}));
  return claims;
}

Table rho_table(const std::vector<TrainedArchitecture>& all) {
  Table table{"Spearman's rho of evidence per image and test accuracy",
              {"set", "networks", "ours", "paper's text", "paper's table"},
              {},
              "The last column is computed from the accuracies and evidences in the paper's appendix tables."};
  for (const std::string& set : sets) {
    const auto ours = those(all, set);
    std::vector<TrainedArchitecture> theirs;
    for (const Architecture& one : paper_architectures())
      if (one.set == set) theirs.push_back({one, one.accuracy, one.evidence, 0, 0, 0, 0});
    table.rows.push_back(
        {set, fmt::format("{}", ours.size()),
         rho_words(correlate(ours, &TrainedArchitecture::evidence, &TrainedArchitecture::accuracy)),
         fmt::format("{:.2f}", paper_rho(set)),
         rho_words(correlate(theirs, &TrainedArchitecture::evidence, &TrainedArchitecture::accuracy))});
  }
  return table;
}

Table network_table(const std::vector<TrainedArchitecture>& all, const std::string& set) {
  Table table{set,
              {"network", "width", "depth", "parameters", "paper", "accuracy %", "paper", "evidence", "paper",
               "log likelihood"},
              {},
              ""};
  std::vector<TrainedArchitecture> sorted = those(all, set);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.evidence > b.evidence; });
  for (const TrainedArchitecture& one : sorted)
    table.rows.push_back(
        {word_of(one.what.family), fmt::format("{}", one.what.width), fmt::format("{}", one.what.depth),
         fmt::format("{:.0f}", one.parameters), one.what.parameters > 0 ? fmt::format("{}", one.what.parameters) : "–",
         format_number(100 * one.accuracy, 2), format_number(one.what.accuracy, 2), format_number(one.evidence, 3),
         format_number(one.what.evidence, 3), format_number(one.log_likelihood, 3)});
  return table;
}

Presentation make_presentation(const Settings& settings, const Results& all_results) {
  const ImageScale scale = image_scale(settings, of_paper.epochs, of_paper.seeds);
  const Results results = of_scale(all_results, scale);
  const std::vector<TrainedArchitecture> all = trained_architectures(results, sets, list_of(settings));
  Presentation presentation;
  presentation.claims = make_claims(all);
  presentation.tables = {rho_table(all)};
  for (const std::string& set : sets)
    if (!those(all, set).empty()) presentation.tables.push_back(network_table(all, set));
  if (!all.empty()) presentation.figures = architecture_figures(all, sets);
  presentation.notes = {
      scale_words(scale, of_paper),
      fmt::format("Diagonal EF, SGD with rate 0.01 and momentum 0.9, F = {}, K = 100, γ = 1, B = {}; the "
                  "rate times 0.1 after 1/2, 3/4 and 11/12 of the epochs; the best state of the last tenth of them.",
                  frequency_for(scale.epochs, 5), burn_in_for(scale)),
      "Networks count fewer parameters here than in the paper's tables, by a little: the tables exceed the counts of "
      "the paper's own text in the same way.",
  };
  if (list_of(settings) == ArchitectureList::reduced)
    presentation.notes.push_back(
        "With fewer images or epochs than the paper's, only its smaller networks are trained (with all images and 250 "
        "epochs: all); on CIFAR-100 ResNets of widths 8 to 24 and depths 8 and 14, which the paper does not have.");
  add_closing_notes(presentation, settings, results, sets);
  return presentation;
}

}  // namespace

Experiment architectures() {
  return {"architectures",
          "Many widths and depths on three image sets: evidence against test accuracy",
          "Figures on architectures (first page, CIFAR-100, appendix) and the three appendix tables",
          "fashion-mnist/, cifar-10/, cifar-100*/ (what is there)",
          "years in full; --train-size 2000 --epochs 20 about half an hour on two idle cores; --quick 2 min",
          make_cells,
          make_presentation};
}

}  // namespace ockham::paper
