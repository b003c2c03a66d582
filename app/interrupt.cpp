#include "app/interrupt.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ockham/base/atomic_file.h"

namespace ockham::app {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Microseconds until a signal is noticed, and for saving after that; the rest of two seconds is for a busy machine.
constexpr long kPatience = 900000, kSaving = 600000;

// Signal handlers read these: fixed memory, nothing that could be locked.
std::atomic<bool> signal_came{false}, noticed{false}, at_once{false}, farewell_said{false};
char farewell_line[8192];
std::atomic<int> ending_signal{0};
sem_t cleaner_wanted;

void write_farewell() {
  if (farewell_said.exchange(true)) return;
  const ssize_t ignored = ::write(2, farewell_line, std::strlen(farewell_line));
  static_cast<void>(ignored);
}

[[noreturn]] void leave_now() {
  write_farewell();
  remove_unfinished_files();
  ::_exit(exit_interrupted);
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  if (signal == SIGHUP && before.sa_handler == SIG_IGN) return;  // nohup
  ::sigaction(signal, &action, nullptr);
}

void end_by_signal(int signal) {
  remove_unfinished_files();
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

void wait_until_end(long microseconds) {
  itimerval timer{};
  timer.it_value = {microseconds / 1000000, microseconds % 1000000};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void lose_patience(int) { leave_now(); }

void note(int signal) {
  if (at_once) leave_now();
  if (signal_came.exchange(true)) end_by_signal(signal);  // whoever asks twice does not want to wait
  wait_until_end(kPatience);
}

void wake_cleaner(int signal) {
  int none = 0;
  if (!ending_signal.compare_exchange_strong(none, signal)) return;  // a closed terminal may say it twice
  wait_until_end(kPatience + kSaving);
  ::sem_post(&cleaner_wanted);
}

}  // namespace

void end_cleanly_on_signals() {
  for (const int signal : kSignals) install(signal, end_by_signal);
}

CleanUpOnSignal::CleanUpOnSignal(std::function<void()> clean_up) {
  ::sem_init(&cleaner_wanted, 0, 0);
  cleaner_ = std::thread([clean_up = std::move(clean_up)] {
    while (::sem_wait(&cleaner_wanted) != 0 && errno == EINTR) {
    }
    if (ending_signal == 0) return;
    remove_unfinished_files();
    clean_up();
    end_by_signal(ending_signal);
  });
  install(SIGALRM, lose_patience);
  for (const int signal : kSignals) install(signal, wake_cleaner);
}

CleanUpOnSignal::~CleanUpOnSignal() {
  end_cleanly_on_signals();
  ::sem_post(&cleaner_wanted);
  cleaner_.join();
  if (ending_signal != 0) end_by_signal(ending_signal);  // it came just now
}

InterruptWatch::InterruptWatch(const std::string& farewell) {
  signal_came = noticed = at_once = farewell_said = false;
  farewell_said = farewell.empty();
  const std::string line = (::isatty(2) == 1 ? "\r\033[K" : "") + farewell;  // over the line of the progress
  const size_t length = std::min(line.size(), sizeof farewell_line - 2);
  std::memcpy(farewell_line, line.data(), length);
  std::memcpy(farewell_line + length, "\n", 2);
  install(SIGALRM, lose_patience);
  for (const int signal : kSignals) install(signal, note);
}

// The timer of a signal that came goes on: it also watches over the end of the process.
InterruptWatch::~InterruptWatch() { end_cleanly_on_signals(); }

bool InterruptWatch::interrupted() const {
  if (!signal_came) return false;
  if (!noticed.exchange(true)) {
    itimerval left{};
    ::getitimer(ITIMER_REAL, &left);
    wait_until_end(1000000 * left.it_value.tv_sec + left.it_value.tv_usec + kSaving);
  }
  return true;
}

void InterruptWatch::stop_waiting() const {
  at_once = true;
  if (signal_came) leave_now();
}

int InterruptWatch::say_farewell() const {
  write_farewell();
  return exit_interrupted;
}

}  // namespace ockham::app
