// How help looks: the sentence, the examples, then the flags.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ockham::app {

/// For a subcommand: description, examples (the app's footer), usage, flags by group.
std::shared_ptr<CLI::FormatterBase> make_formatter();

struct CommandSummary {
  std::string name, description, example;
};

/// For `ockham --help`: examples, the subcommands with a sentence each, where to read on.
std::string overview(const std::vector<CommandSummary>& commands);

}  // namespace ockham::app
