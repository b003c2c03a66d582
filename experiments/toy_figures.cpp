// toy_figures depth|grid|banana --data DIR [--seeds N] [--first-seed N]: do the claims of the paper's toy figures hold
// here?
#include "toy_figures.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "ockham/ockham.h"

namespace {

constexpr const char* kUsage =
    "usage: toy_figures depth|grid|banana --data DIR [--seeds N] [--first-seed N]; DIR holds "
    "snelson_modified_knots.csv and banana.csv";

ToyArguments parse_arguments(int count, char** values) {
  ToyArguments arguments;
  for (int i = 2; i < count; i += 2) {
    const std::string flag = values[i];
    if (i + 1 == count) throw ockham::Error(ockham::ErrorKind::usage, flag + " needs a value; " + kUsage);
    const std::string value = values[i + 1];
    if (flag == "--data")
      arguments.data = value;
    else if (flag == "--seeds")
      arguments.seeds = std::atoi(value.c_str());
    else if (flag == "--first-seed")
      arguments.first_seed = std::atoi(value.c_str());
    else
      throw ockham::Error(ockham::ErrorKind::usage, "unknown flag " + flag + "; " + kUsage);
  }
  if (arguments.data.empty())
    throw ockham::Error(ockham::ErrorKind::usage, std::string("--data is missing; ") + kUsage);
  if (arguments.seeds < 1) throw ockham::Error(ockham::ErrorKind::usage, "--seeds must be a number of at least 1");
  if (arguments.first_seed < 0) throw ockham::Error(ockham::ErrorKind::usage, "--first-seed must not be negative");
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  ockham::restart_with_tuned_environment(argv);
  ockham::set_threads(1);  // small matrices; and the same numbers whatever the machine
  ockham::keep_freed_memory();
  const std::map<std::string, std::function<void(const ToyArguments&)>> figures = {
      {"depth", compare_depths}, {"grid", compare_with_grid}, {"banana", compare_on_banana}};
  const auto figure = argc > 1 ? figures.find(argv[1]) : figures.end();
  try {
    if (figure == figures.end()) throw ockham::Error(ockham::ErrorKind::usage, kUsage);
    figure->second(parse_arguments(argc, argv));
  } catch (const ockham::Error& error) {
    std::fprintf(stderr, "toy_figures: %s\n", error.what());
    return ockham::exit_code(error.kind());
  }
  return 0;
}
