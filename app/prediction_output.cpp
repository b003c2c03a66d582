#include "app/prediction_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "ockham/base/error.h"

namespace ockham::app {
namespace {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(ErrorKind::failure,
                fmt::format("the predictions cannot be written to standard output: {}", failure_reason(errno)));
}

}  // namespace

PredictionOutput::PredictionOutput(const PredictFlags& flags, const TrainedModel& trained)
    : flags_(flags), trained_(trained) {}

void PredictionOutput::add(const PredictedRows& rows) {
  const bool to_file = !flags_.out.empty();
  if (!begun_ && to_file) file_ = std::make_unique<AtomicFile>(flags_.out);
  if (to_file || !flags_.common.json) {
    std::string text = begun_ ? "" : csv_header(trained_);
    text += csv_rows(trained_, rows);
    to_file ? file_->write(text) : print(text);
  }
  if (flags_.common.json) {
    std::string text = begun_ ? "," : json_beginning(trained_, flags_, rows.predictions.method);
    text += json_rows(trained_, rows);
    print(text);
  }
  begun_ = true;
}

void PredictionOutput::finish(const PredictReport& report) {
  if (file_) file_->commit();
  if (flags_.common.json) print(json_ending(report));
}

}  // namespace ockham::app
