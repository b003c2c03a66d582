// Writes the sample reports as pages, for the browser test: report_samples DIRECTORY.
#include <cstdio>

#include "ockham/base/atomic_file.h"
#include "tests/support/sample_reports.h"

int main(int count, char** arguments) {
  using namespace ockham;
  if (count != 2) return std::fputs("report_samples DIRECTORY\n", stderr), 2;
  const std::string directory = arguments[1];
  make_directories(directory);
  const auto write = [&](const char* name, const RunReport& report) {
    write_atomically(directory + "/" + name + ".html", render_report(report));
  };
  write("regression", testing::regression_report(5000));
  write("classification", testing::classification_report());
  write("images", testing::images_report());
  write("one_input", testing::one_input_report());
  write("two_inputs", testing::two_inputs_report());
  write("two_inputs_regression", testing::two_inputs_regression_report());
  write("empty", testing::empty_report());
}
