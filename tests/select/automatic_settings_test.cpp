#include "ockham/select/automatic_settings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ockham/network/architectures.h"

namespace ockham {
namespace {

ProblemSize problem(int64_t examples, int64_t features, int64_t columns = 1) {
  return {examples, features, columns, columns, /*classes=*/columns > 1, /*threads=*/2};
}

std::vector<int64_t> parameters_of(const ProblemSize& size) {
  std::vector<int64_t> counts;
  for (const std::string& spec : automatic_networks())
    counts.push_back(make_architecture(spec, {size.features}, size.outputs, at::kFloat, 0).layout().total());
  return counts;
}

TEST(AutomaticSettings, TheCandidatesHaveOneToThreeHiddenLayersInTwoWidths) {
  const std::vector<std::string> networks = automatic_networks();
  EXPECT_EQ(networks.front(), "linear");
  for (int64_t hidden = 1; hidden <= 3; ++hidden) {
    EXPECT_EQ(std::count_if(networks.begin(), networks.end(),
                            [&](const std::string& name) {
                              return name.find("tanh") != std::string::npos &&
                                     std::count(name.begin(), name.end(), '-') == hidden - 1;
                            }),
              2);
  }
}

TEST(AutomaticSettings, SmallTablesTrainWithTheFullBatchAndExactCurvature) {
  const ProblemSize size = problem(691, 8);
  const AutomaticSettings settings = automatic_settings(size, parameters_of(size), 1);
  EXPECT_EQ(settings.batch_size, 0);
  EXPECT_EQ(settings.structure, Structure::full);
  EXPECT_EQ(settings.workers, 2u);
  EXPECT_LE(settings.seconds, 150);
  EXPECT_GE(settings.epochs, 1000);
}

TEST(AutomaticSettings, TheBudgetHoldsForEverySize) {
  for (const int64_t examples : {20, 2000, 19'999, 20'000, 200'000})
    for (const int64_t features : {1, 20, 300})
      for (const int64_t columns : {1, 9}) {
        const ProblemSize size = problem(examples, features, columns);
        const AutomaticSettings settings = automatic_settings(size, parameters_of(size), 2);
        EXPECT_EQ(settings.batch_size > 0, examples >= 20'000);
        EXPECT_GE(settings.epochs, 50);
        EXPECT_GE(settings.frequency, 1);
        EXPECT_GE(settings.epochs / settings.frequency, 25);
        if (settings.epochs > 100) {
          EXPECT_LE(settings.seconds, 150) << examples << " " << features;
        }
      }
}

TEST(AutomaticSettings, MoreOutputsThanTheExactCurvatureCanPayForGetKroneckerFactors) {
  const ProblemSize size = problem(10'000, 64, 9);
  EXPECT_EQ(automatic_settings(size, parameters_of(size), 1).structure, Structure::kronecker);
}

TEST(AutomaticSettings, DearPassesAreMadeAsOftenAsTheBudgetAllows) {
  AutomaticSettings settings;
  settings.epochs = 1000, settings.frequency = 5, settings.budget = 150;
  EXPECT_EQ(affordable_frequency(settings, 0.05, 0.1), 5);
  EXPECT_EQ(affordable_frequency(settings, 0.05, 2), 20);  // 100 s are left for 50 passes
  EXPECT_EQ(affordable_frequency(settings, 0.05, 500), 200);
  EXPECT_EQ(affordable_frequency(settings, 10, 1), 200);
}

}  // namespace
}  // namespace ockham
