#include "app/data_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/model_flags.h"

namespace ockham::app {

void declare_data(CLI::App& app, DataFlags& flags) {
  app.description(
      "Gets or makes a data set: a CSV file, or image files. Without a name it lists them and how each is obtained.");
  app.footer(
      "ockham data                            # what there is\n"
      "ockham data wine --to tables           # writes tables/wine.csv\n"
      "ockham data toy-curve --seed 3 --rows 500\n"
      "ockham data fashion-mnist --to clothes # writes clothes/train-images-idx3-ubyte.gz, ...");
  app.add_option("NAME", flags.name, "The data set (default: list them all)");
  app.add_option("--to", flags.directory,
                 "The directory for the files, made if it is missing (default: the current one; for images NAME)")
      ->option_text("DIR");
  app.add_option_function<std::string>(
         "--rows",
         [&flags](const std::string& text) {
           constexpr int64_t most = 10'000'000;
           flags.rows = parse_count("--rows", 2, text);
           if (flags.rows > most)
             throw CLI::ValidationError("--rows", fmt::format("at most {} rows can be made", most));
         },
         "How many rows a toy table gets; it is made from --seed (default: as listed)")
      ->option_text("N");
  app.add_flag("--overwrite,--force", flags.overwrite, "Replace files that exist");
  add_common_flags(app, flags.common,
                   {"--threads", "--dtype", "--device", "--memory", "--time-limit", "--color", "--no-torchscript"});
}

}  // namespace ockham::app
