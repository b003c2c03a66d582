// What the seeds of one training gave together, and claims that compare such groups.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/image_training.h"
#include "experiments/table_text.h"

namespace ockham::paper {

/// The results of one scale, without its word in their names.
Results of_scale(const Results& results, const ImageScale& scale);

/// Cells "start/seed-0", "start/seed-1", …
std::string seed_name(const std::string& start, int64_t seed);
std::vector<const Json*> seeds_of(const Results& results, const std::string& start);

/// Mean and standard error over the seeds of a number (number_of); of `part`'s where it is given ("bayes").
Summary summary_of(const Results& results, const std::string& start, const std::string& key,
                   const std::string& part = "");

/// Accuracy with the error that a finite test set leaves beside that of the seeds: √(error² + p(1-p)/n).
Summary accuracy_of(const Results& results, const std::string& start);

/// "86.5 ± 0.2" in percent.
std::string percent(const Summary& summary);

/// One case of a claim, decided or (a number is missing) not.
struct Case {
  std::string label;
  std::optional<bool> holds;
  std::string numbers;
};

/// ours > theirs; empty when one is missing. `within_errors` takes off two combined standard errors.
enum class Margin { none, within_errors };
Case higher(const std::string& label, const Summary& ours, const Summary& theirs, int decimals = 3,
            Margin margin = Margin::none);
Case lower(const std::string& label, const Summary& ours, const Summary& theirs, int decimals = 3,
           Margin margin = Margin::none);

/// yes when every case that is decided holds, no when none, else partly; open without cases. The grounds have the rule
/// and all numbers.
Claim claim_of(const std::string& statement, const std::string& rule, const std::vector<Case>& cases);

/// What ends the notes of every experiment on images: `quick` in a quick run, a sentence when trainings learnt nothing
/// (test accuracies at chance), and which of `sets` are missing.
void add_closing_notes(Presentation& presentation, const Settings& settings, const Results& results,
                       const std::vector<std::string>& sets, const std::string& quick = "");

/// Minutes of training and curvature together, over the seeds.
std::string minutes_of(const Results& results, const std::string& start);

}  // namespace ockham::paper
