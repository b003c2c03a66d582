// The experiments on images, from their cells to what is shown, on images of a test.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>

#include "experiments/experiment.h"
#include "experiments/table_text.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_images.h"

namespace ockham::paper {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;
using testing::tiny_images;
using testing::write_cifar_directory;
using testing::write_idx_directory;

std::vector<Experiment> image_experiments() {
  return {images(), damping(), augmentation(), runtime(), architectures(), depth(), robustness()};
}

class ImageExperiments : public ::testing::Test {
 protected:
  ImageExperiments() {
    settings_.data = data_.path("");
    settings_.quick = true;
    settings_.epochs = 1;
    settings_.train_size = 12;
  }

  void write_data() {
    write_idx_directory(data_.path("mnist"), tiny_images(15, 1, 28, 1), 6, 2);
    write_idx_directory(data_.path("fashion-mnist"), tiny_images(15, 1, 28, 3), 6, 4);
    for (const char* name : {"cifar-10", "cifar-100-subset", "svhn-subset"})
      write_cifar_directory(data_.path(name), 15, 6, 5);
  }

  /// Numbers that a training could have given; `good` says how good.
  static Json made_up(double good) {
    return {{"accuracy", 0.5 + 0.1 * good},
            {"log_likelihood", good - 2},
            {"ece", 0.2 - 0.1 * good},
            {"auroc", 0.5 + 0.1 * good},
            {"evidence", good - 3},
            {"parameters", 100},
            {"test_images", 1000},
            {"classes", 3},
            {"best_epoch", 1},
            {"seconds_training", 2},
            {"seconds_curvature", 1},
            {"losses", {1.0}},
            {"train_log_likelihood", -0.5},
            {"passes", {{{"epoch", 1}, {"evidence", -2.0}}}},
            {"curve", {{{"train_nll", 1.0}, {"test_nll", 1.2}, {"train_error", 0.4}, {"test_error", 0.5}}}}};
  }

  static Verdict verdict_on(const Presentation& presentation, const std::string& words) {
    for (const Claim& claim : presentation.claims)
      if (claim.statement.find(words) != std::string::npos) return claim.verdict;
    ADD_FAILURE() << "no claim has the words: " << words;
    return Verdict::open;
  }

  TemporaryDirectory data_;
  Settings settings_;
};

TEST_F(ImageExperiments, WithoutDataOneSentenceSaysWhatToGet) {
  for (const Experiment& experiment : image_experiments())
    expect_error(ErrorKind::data, {"cifar-10", "ockham data"}, [&] { experiment.cells(settings_); });
}

TEST_F(ImageExperiments, NamesOfCellsAreDistinctAndPlain) {
  write_data();
  for (const bool quick : {true, false})
    for (const Experiment& experiment : image_experiments()) {
      Settings settings = settings_;
      settings.quick = quick;
      settings.train_size = settings.epochs = 0;
      std::set<std::string> names;
      for (const Cell& cell : experiment.cells(settings)) {
        EXPECT_TRUE(names.insert(cell.name).second) << cell.name;
        EXPECT_GT(cell.cost, 0) << cell.name;
        for (const char letter : cell.name)
          EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(letter)) ||
                      std::string("-.=/").find(letter) != std::string::npos)
              << cell.name;
      }
      EXPECT_GE(names.size(), 2u) << experiment.name;
    }
}

TEST_F(ImageExperiments, FullSettingsAreThePapers) {
  write_data();
  Settings full;
  full.data = settings_.data;
  EXPECT_EQ(images().cells(full).size(), 5u * (2 * 4 + 3 * 5 + 4));
  EXPECT_EQ(damping().cells(full).size(), 5u * 5 * 2);
  EXPECT_EQ(augmentation().cells(full).size(), 5u * 8);
  EXPECT_EQ(architectures().cells(full).size(), 45u + 45 + 37);
  EXPECT_EQ(depth().cells(full).size(), 5u * 10);
  for (const Experiment& experiment : image_experiments())
    for (const Cell& cell : experiment.cells(full)) {
      EXPECT_EQ(cell.settings.at("epochs"), experiment.name == "architectures" ? 250 : 300) << cell.name;
      EXPECT_EQ(cell.settings.at("train_size"), 0);
    }
}

/// One --out computes what several experiments have only once: the same name always has the same settings.
TEST_F(ImageExperiments, ShareTheirCells) {
  write_data();
  for (const bool quick : {true, false}) {
    settings_.quick = quick;
    std::map<std::string, Json> known;
    std::map<std::string, size_t> shared;
    for (const Experiment& experiment : image_experiments())
      for (const Cell& cell : experiment.cells(settings_)) {
        const auto [place, is_new] = known.emplace(cell.name, cell.settings);
        if (is_new) continue;
        EXPECT_EQ(place->second, cell.settings) << cell.name;
        ++shared[experiment.name];
      }
    const size_t seeds = quick ? 1 : 5;
    EXPECT_EQ(shared["damping"], 5 * seeds) << "the undamped ones";
    EXPECT_EQ(shared["augmentation"], 4 * seeds) << "those without augmentation";
    EXPECT_EQ(shared["depth"], 2 * seeds) << "the smallest network";
    EXPECT_EQ(shared.size(), 3u);
  }
}

TEST_F(ImageExperiments, NothingComputedIsShownAsOpen) {
  write_data();
  for (const Experiment& experiment : image_experiments()) {
    const Presentation presentation = experiment.present(settings_, {});
    EXPECT_FALSE(presentation.claims.empty());
    for (const Claim& claim : presentation.claims)
      EXPECT_EQ(claim.verdict, Verdict::open) << experiment.name << ": " << claim.statement;
  }
}

/// One cell of each kind is trained; all others are made up.
TEST_F(ImageExperiments, EveryOneRunsAndIsShown) {
  write_data();
  for (const Experiment& experiment : image_experiments()) {
    Results results;
    std::set<std::string> methods;
    for (const Cell& cell : experiment.cells(settings_)) {
      const std::string kind = cell.settings.at("method").get<std::string>() + cell.settings.at("augment").dump();
      results[cell.name] = methods.insert(kind).second ? cell.run({}) : made_up(0.5);
    }
    const Presentation presentation = experiment.present(settings_, results);
    EXPECT_FALSE(presentation.figures.empty()) << experiment.name;
    EXPECT_FALSE(presentation.tables.empty()) << experiment.name;
    EXPECT_FALSE(presentation.tables[0].rows.empty()) << experiment.name;
    for (const Table& table : presentation.tables)
      for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.title;
    for (const Claim& claim : presentation.claims) EXPECT_NE(claim.grounds.find("rule: "), std::string::npos);
  }
}

TEST_F(ImageExperiments, ClaimsFollowTheNumbers) {
  write_data();
  for (const bool favourable : {true, false}) {
    Results results;
    for (const Cell& cell : images().cells(settings_)) {
      const bool decay = cell.name.find("weight-decay") != std::string::npos;
      results[cell.name] = made_up(decay == favourable ? 0 : 1);
    }
    const Presentation shown = images().present(settings_, results);
    const Verdict expected = favourable ? Verdict::yes : Verdict::no;
    EXPECT_EQ(verdict_on(shown, "log likelihood is better"), expected);
    EXPECT_EQ(verdict_on(shown, "calibration"), expected);

    results.clear();
    for (const Cell& cell : damping().cells(settings_))
      results[cell.name] = made_up((cell.name.find("damped") != std::string::npos) == favourable ? 0 : 1);
    EXPECT_EQ(verdict_on(damping().present(settings_, results), "accuracy worse"), expected);

    results.clear();
    for (const Cell& cell : augmentation().cells(settings_))
      results[cell.name] = made_up((cell.name.find("weight-decay") != std::string::npos) == favourable ? 0 : 1);
    EXPECT_EQ(verdict_on(augmentation().present(settings_, results), "out-of-distribution"), expected);

    results.clear();
    for (const Cell& cell : runtime().cells(settings_)) {
      results[cell.name] = made_up((cell.name.find("weight-decay") != std::string::npos) == favourable ? 0 : 1);
      results[cell.name]["seconds_curvature"] = favourable ? 2 : 4;  // of 2 s of training: 2 and 3 times
    }
    EXPECT_EQ(verdict_on(runtime().present(settings_, results), "twice the time"), expected);
    EXPECT_EQ(verdict_on(runtime().present(settings_, results), "generalisation gap"), expected);

    results.clear();
    double good = 0;
    for (const Cell& cell : architectures().cells(settings_)) {
      results[cell.name] = made_up(good += 0.01);
      if (!favourable) results[cell.name]["accuracy"] = 1 - good;
    }
    EXPECT_EQ(verdict_on(architectures().present(settings_, results), "cifar-10: evidence"), expected);

    results.clear();
    good = 0;
    for (const Cell& cell : depth().cells(settings_)) results[cell.name] = made_up(good += favourable ? 0.001 : 0.5);
    EXPECT_EQ(verdict_on(depth().present(settings_, results), "largely unaffected"), expected);

    results.clear();
    for (const Cell& cell : robustness().cells(settings_)) {
      results[cell.name] = made_up(cell.settings.at("burn_in") == 0 || favourable ? 1 : 0);
      if (!favourable) results[cell.name]["failure"] = "the loss is not finite";
    }
    EXPECT_EQ(verdict_on(robustness().present(settings_, results), "burn-in"), expected);
    EXPECT_EQ(verdict_on(robustness().present(settings_, results), "without divergence"), expected);
  }
}

}  // namespace
}  // namespace ockham::paper
