// Looks for a random model on which a comparison fails.
// OCKHAM_PROPERTY_CASES models (100), drawn from OCKHAM_PROPERTY_SEED.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "ockham/base/platform.h"
#include "tests/properties/random_generators.h"

namespace ockham::properties {

inline int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoll(text, nullptr, 10);
}

inline const int64_t kCases = number_from("OCKHAM_PROPERTY_CASES", 100),
                     kSeed = number_from("OCKHAM_PROPERTY_SEED", 2021);

/// Runs `compare` on random models, and says what to do about the first that fails.
template <class Compare>
std::string find_failure(const std::string& name, const Compare& compare, int64_t& models) {
  namespace detail = rc::detail;
  detail::TestParams parameters;
  parameters.maxSuccess = static_cast<int>(kCases);
  parameters.seed = static_cast<uint64_t>(kSeed);
  detail::TestMetadata metadata;
  metadata.id = metadata.description = name;
  detail::TestListenerAdapter silent;
  models = 0;
  const auto property = [&] {
    const RandomCase random = *random_case().as("model");
    ++models;
    compare(random);
  };
  std::unordered_map<std::string, detail::Reproduce> again;
  if (std::getenv("RC_PARAMS") != nullptr) again = detail::configuration().reproduce;
  const detail::TestResult result = detail::checkTestable(property, metadata, parameters, silent, again);
  if (result.is<detail::SuccessResult>()) return "";
  std::ostringstream text;
  detail::printResultMessage(result, text);
  text << fmt::format("\nall of it again: OCKHAM_PROPERTY_SEED={} OCKHAM_PROPERTY_CASES={} tests/properties_tests",
                      kSeed, kCases);
  if (result.is<detail::FailureResult>()) {
    detail::Configuration only_this;
    only_this.reproduce[name] = result.get<detail::FailureResult>().reproduce;
    text << fmt::format("\nonly this model: RC_PARAMS='{}' tests/properties_tests",
                        detail::configToMinimalString(only_this));
  }
  return text.str();
}

/// Small networks: threads that wait for each other cost ten times the work.
class RandomModels : public ::testing::Test {
 protected:
  RandomModels() { set_threads(1); }
  ~RandomModels() override { set_threads(threads_before_); }

 private:
  const int threads_before_ = check_platform().aten_threads;
};

}  // namespace ockham::properties
