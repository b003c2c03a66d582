#include "app/interrupt.h"

#include <csignal>

namespace ockham::app {
namespace {

volatile std::sig_atomic_t signal_came = 0;

void note(int signal) {
  signal_came = 1;
  std::signal(signal, SIG_DFL);  // whoever asks twice does not want to wait
}

}  // namespace

InterruptWatch::InterruptWatch() {
  signal_came = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptWatch::interrupted() const { return signal_came != 0; }

}  // namespace ockham::app
