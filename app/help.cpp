#include "app/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/flags.h"

namespace ockham::app {
namespace {

constexpr size_t text_width = 100;
constexpr size_t flag_width = 34;

/// Breaks text at spaces; lines after the first are indented.
std::string wrap(const std::string& text, size_t indent) {
  std::istringstream words(text);
  std::string wrapped;
  size_t column = indent;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > text_width) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  return wrapped;
}

std::string indented_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string indented;
  for (std::string line; std::getline(lines, line);) indented += "  " + line + "\n";
  return indented;
}

class ExamplesFirst : public CLI::Formatter {
 public:
  ExamplesFirst() { label("Positionals", "Arguments"); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    return fmt::format("{}\n\nExamples:\n{}\n{}{}{}", wrap(app->get_description(), 0),
                       indented_lines(app->get_footer()), make_usage(app, name), make_positionals(app),
                       make_flags(app));
  }

  /// "Usage: ockham predict [OPTIONS] RUN [DATA]".
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = fmt::format("Usage: {} [OPTIONS]", name.empty() ? app->get_name() : name);
    for (const CLI::Option* option : app->get_options([](const CLI::Option* one) { return one->get_positional(); })) {
      const bool required = option->get_description().find("(required)") != std::string::npos;
      usage += fmt::format(required ? " {}" : " [{}]", option->get_name(/*positional=*/true));
    }
    return usage + "\n";
  }

  /// The subcommand's own flags before those that every subcommand has.
  std::string make_flags(const CLI::App* app) const {
    std::vector<std::string> groups = app->get_groups();
    std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != common_group; });
    std::string text;
    for (const std::string& group : groups) {
      const auto options = app->get_options(
          [&group](const CLI::Option* option) { return !option->get_positional() && option->get_group() == group; });
      if (!group.empty() && !options.empty()) text += make_group(group, false, options);
    }
    return text;
  }

  /// What stands for the value; which flags exclude each other is said in words.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = option->get_option_text();
    return text.empty() || option->get_positional() ? "" : " " + text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string left = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    const std::string right = wrap(make_option_desc(option), flag_width);
    const std::string gap =
        left.size() + 2 > flag_width ? "\n" + std::string(flag_width, ' ') : std::string(flag_width - left.size(), ' ');
    return left + gap + right + "\n";
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_formatter() { return std::make_shared<ExamplesFirst>(); }

std::string overview(const std::vector<CommandSummary>& commands) {
  std::string text =
      "ockham: chooses neural networks by their marginal likelihood (the evidence), from the training data alone.\n\n"
      "Examples:\n";
  size_t width = 0;
  for (const CommandSummary& command : commands) {
    text += fmt::format("  {}\n", command.example);
    width = std::max(width, command.name.size());
  }
  text += "\nUsage: ockham SUBCOMMAND [OPTIONS]\n\nSubcommands:\n";
  for (const CommandSummary& command : commands)
    text += fmt::format("  {:<{}}  {}\n", command.name, width, wrap(command.description, width + 4));
  text +=
      "\n  ockham SUBCOMMAND --help   examples and flags of a subcommand\n"
      "  ockham --version           the version\n";
  return text;
}

}  // namespace ockham::app
