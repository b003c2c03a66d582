#include "experiments/image_curve.h"

#include <cmath>
#include <filesystem>

#include "ockham/base/atomic_file.h"

namespace ockham::paper {

EpochCurve::EpochCurve(const CellContext& context, int64_t epochs, Score score)
    : context_(context),
      path_(context.directory.empty() ? "" : context.directory + "/curve.json"),
      score_(std::move(score)),
      values_(static_cast<size_t>(epochs)) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  const Json kept = Json::parse(read_file(path_), nullptr, /*allow_exceptions=*/false);
  if (kept.is_array() && kept.size() == values_.size()) values_ = kept.get<std::vector<Json>>();
}

CellContext EpochCurve::watched() {
  return {context_.directory, [this](double fraction) {
            const double epoch = fraction * static_cast<double>(values_.size());
            if (epoch > 0.5 && std::abs(epoch - std::round(epoch)) < 1e-6) add(std::llround(epoch));
            return !context_.go_on || context_.go_on(fraction);
          }};
}

Json EpochCurve::values() const { return values_; }

void EpochCurve::add(int64_t epoch) {
  const auto place = static_cast<size_t>(epoch - 1);
  if (place >= values_.size() || !values_[place].is_null()) return;
  values_[place] = score_(epoch);
  if (!path_.empty()) write_atomically(path_, Json(values_).dump());
}

}  // namespace ockham::paper
