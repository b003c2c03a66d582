#include "experiments/uci_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/plot.h"

namespace ockham::paper {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMostSplits = 1000;

double number_at(const Json& cell, const std::string& key) {
  const auto found = cell.find(key);
  return found != cell.end() && found->is_number() ? found->get<double>() : kNothing;
}

std::string cell_prefix(std::string set, const std::string& method) {
  std::replace(set.begin(), set.end(), '_', '-');  // names of cells have none
  return fmt::format("{}/{}/split-", set, method);
}

}  // namespace

std::string uci_cell_name(const std::string& set, const std::string& method, int64_t split) {
  return cell_prefix(set, method) + std::to_string(split);
}

std::vector<double> UciResults::values(const std::string& set, const std::string& method,
                                       const std::string& key) const {
  const std::string prefix = cell_prefix(set, method);
  std::vector<double> all;
  for (auto one = results_.lower_bound(prefix); one != results_.end() && one->first.rfind(prefix, 0) == 0; ++one) {
    const int64_t split = std::stoll(one->first.substr(prefix.size()));
    if (split < 0 || split >= kMostSplits) continue;
    if (static_cast<int64_t>(all.size()) <= split) all.resize(static_cast<size_t>(split) + 1, kNothing);
    all[static_cast<size_t>(split)] = number_at(one->second, key);
  }
  return all;
}

Summary UciResults::summary(const std::string& set, const std::string& method, const std::string& key) const {
  return summarise(values(set, method, key));
}

int64_t UciResults::splits(const std::string& set, const std::string& method) const {
  return summary(set, method, "nll").count;
}

Summary UciResults::difference(const std::string& set, const std::string& first, const std::string& second,
                               const std::string& key_first, const std::string& key_second) const {
  std::vector<double> left = values(set, first, key_first);
  const std::vector<double> right = values(set, second, key_second);
  left.resize(std::min(left.size(), right.size()));
  for (size_t i = 0; i < left.size(); ++i) left[i] -= right[i];
  return summarise(left);
}

UciResults::Trace UciResults::trace(const std::string& set, const std::string& method, const std::string& key) const {
  const std::string prefix = cell_prefix(set, method);
  Trace trace;
  std::vector<double> counts;
  for (auto one = results_.lower_bound(prefix); one != results_.end() && one->first.rfind(prefix, 0) == 0; ++one) {
    const Json kept = one->second.value("trace", Json::object());
    if (!kept.contains("epoch") || !kept.contains(key)) continue;
    const Json& epochs = kept.at("epoch");
    const Json& values = kept.at(key);
    for (size_t i = 0; i < std::min(epochs.size(), values.size()); ++i) {
      if (!values[i].is_number()) continue;
      if (i >= trace.epochs.size()) {
        trace.epochs.resize(i + 1, epochs[i].get<double>());
        trace.mean.resize(i + 1, 0);
        counts.resize(i + 1, 0);
      }
      trace.mean[i] += values[i].get<double>();
      ++counts[i];
    }
  }
  for (size_t i = 0; i < counts.size(); ++i) trace.mean[i] = counts[i] > 0 ? trace.mean[i] / counts[i] : kNothing;
  return trace;
}

Figure trace_figure(const UciResults& results, const std::vector<std::string>& sets,
                    const std::vector<TraceLine>& lines, const std::string& key, const std::string& label,
                    const std::string& title) {
  std::vector<Plot> plots;
  for (const std::string& set : sets) {
    Plot plot;
    plot.title = set;
    plot.x.label = "epoch";
    plot.y.label = label;
    double high = -INFINITY, low = INFINITY;
    for (const TraceLine& line : lines) {
      const auto trace = results.trace(set, line.cell, key);
      if (trace.epochs.empty()) continue;
      plot.lines.push_back({line.name, trace.epochs, trace.mean, {}, {}, false, -1});
      for (size_t i = trace.mean.size() / 20; i < trace.mean.size(); ++i)
        if (std::isfinite(trace.mean[i])) high = std::max(high, trace.mean[i]), low = std::min(low, trace.mean[i]);
    }
    if (plot.lines.empty()) continue;
    if (high > low) plot.y.first = low, plot.y.last = high + 0.05 * (high - low);
    plots.push_back(plot);
  }
  return {title, plots.empty() ? "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>" : draw(plots, 2),
          "Means over the splits; the first twentieth of the epochs may lie below the axis."};
}

void Tally::add(std::optional<bool> holds_here, const std::string& name) {
  if (!holds_here) return;
  ++cases;
  if (*holds_here)
    ++holds;
  else
    exceptions.push_back(name);
}

Verdict Tally::verdict(double share) const {
  if (cases == 0) return Verdict::open;
  return static_cast<double>(holds) >= share * static_cast<double>(cases) ? Verdict::yes : Verdict::no;
}

std::string Tally::text() const {
  if (cases == 0) return "no cells yet";
  const double share = 100.0 * static_cast<double>(holds) / static_cast<double>(cases);
  return fmt::format("{} of {} ({:.0f} %){}", holds, cases, share,
                     exceptions.empty() ? "" : fmt::format("; not {}", fmt::join(exceptions, ", ")));
}

void Differences::add(const std::string& set, const Summary& difference) {
  if (difference.count == 0) return;
  const bool alone = difference.count == 1;
  if (!alone) tally.add(as_good(difference, {0, 0, 1}), set);
  numbers += fmt::format("{}{} {}{}", numbers.empty() ? "" : ", ", set, format_summary(difference, 3),
                         alone ? " (one split)" : "");
}

std::string Differences::text(const std::string& name) const {
  if (numbers.empty()) return tally.text();
  return fmt::format("{}. {}: {}", tally.cases == 0 ? "no set with two splits yet" : tally.text(), name, numbers);
}

}  // namespace ockham::paper
