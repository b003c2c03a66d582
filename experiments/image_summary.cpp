#include "experiments/image_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"

namespace ockham::paper {
namespace {

Case compare(const std::string& label, const Summary& ours, const Summary& theirs, int decimals, double sign,
             Margin margin) {
  Case result{label, std::nullopt, ""};
  if (!std::isfinite(ours.mean) || !std::isfinite(theirs.mean)) return result;
  const auto known = [](double error) { return std::isfinite(error) ? error : 0; };
  const double slack = margin == Margin::none ? 0 : 2 * std::hypot(known(ours.error), known(theirs.error));
  const double lead = sign * (ours.mean - theirs.mean);
  result.holds = margin == Margin::none ? lead > 0 : lead >= -slack;
  result.numbers = fmt::format("{} against {}", format_summary(ours, decimals), format_summary(theirs, decimals));
  return result;
}

/// Trainings whose test accuracy is within two standard errors of chance, or below.
size_t at_chance(const Results& results) {
  size_t count = 0;
  for (const auto& [name, result] : results) {
    const double chance = 1 / number_of(result, "classes"), images = number_of(result, "test_images");
    count += number_of(result, "accuracy") < chance + 2 * std::sqrt(chance * (1 - chance) / images) ? 1 : 0;
  }
  return count;
}

}  // namespace

Results of_scale(const Results& results, const ImageScale& scale) {
  const std::string prefix = scale_word(scale) + "/";
  Results chosen;
  for (const auto& [name, result] : results)
    if (name.rfind(prefix, 0) == 0) chosen[name.substr(prefix.size())] = result;
  return chosen;
}

std::string seed_name(const std::string& start, int64_t seed) { return fmt::format("{}/seed-{}", start, seed); }

std::vector<const Json*> seeds_of(const Results& results, const std::string& start) {
  std::vector<const Json*> found;
  const std::string prefix = start + "/seed-";
  for (auto place = results.lower_bound(prefix); place != results.end(); ++place) {
    if (place->first.rfind(prefix, 0) != 0) break;
    found.push_back(&place->second);
  }
  return found;
}

Summary summary_of(const Results& results, const std::string& start, const std::string& key, const std::string& part) {
  std::vector<double> values;
  for (const Json* result : seeds_of(results, start)) {
    if (part.empty()) {
      values.push_back(number_of(*result, key));
    } else if (result->contains(part)) {
      values.push_back(number_of(result->at(part), key));
    }
  }
  return summarise(values);
}

Summary accuracy_of(const Results& results, const std::string& start) {
  Summary summary = summary_of(results, start, "accuracy");
  const double images = summary_of(results, start, "test_images").mean;
  if (!std::isfinite(summary.mean) || !(images > 0)) return summary;
  const double sampling = summary.mean * (1 - summary.mean) / images;
  summary.error = std::sqrt((std::isfinite(summary.error) ? summary.error * summary.error : 0) + sampling);
  return summary;
}

std::string percent(const Summary& summary) {
  return format_summary({100 * summary.mean, 100 * summary.error, summary.count}, 2);
}

Case higher(const std::string& label, const Summary& ours, const Summary& theirs, int decimals, Margin margin) {
  return compare(label, ours, theirs, decimals, 1, margin);
}

Case lower(const std::string& label, const Summary& ours, const Summary& theirs, int decimals, Margin margin) {
  return compare(label, ours, theirs, decimals, -1, margin);
}

Claim claim_of(const std::string& statement, const std::string& rule, const std::vector<Case>& cases) {
  Claim claim{statement, Verdict::open, "rule: " + rule};
  int64_t decided = 0, holding = 0;
  std::string numbers;
  for (const Case& one : cases) {
    if (!one.holds) continue;
    ++decided;
    holding += *one.holds ? 1 : 0;
    numbers +=
        fmt::format("{}{}: {} ({})", numbers.empty() ? "" : "; ", one.label, one.numbers, *one.holds ? "yes" : "no");
  }
  if (decided == 0) return claim;
  claim.verdict = holding == decided ? Verdict::yes : holding == 0 ? Verdict::no : Verdict::partly;
  claim.grounds += fmt::format(". {} of {}: {}", holding, decided, numbers);
  return claim;
}

void add_closing_notes(Presentation& presentation, const Settings& settings, const Results& results,
                       const std::vector<std::string>& sets, const std::string& quick) {
  std::vector<std::string>& notes = presentation.notes;
  if (settings.quick && !quick.empty()) notes.push_back(quick);
  if (const size_t count = at_chance(results); count > 0)
    notes.push_back(fmt::format(
        "{} of {} trainings learnt nothing (a test accuracy at chance): what compares with them says little.", count,
        results.size()));
  for (const std::string& sentence : missing_sets(settings.data, sets)) notes.push_back(sentence);
}

std::string minutes_of(const Results& results, const std::string& start) {
  const double seconds =
      summary_of(results, start, "seconds_training").mean + summary_of(results, start, "seconds_curvature").mean;
  return format_number(seconds / 60, 1);
}

}  // namespace ockham::paper
