#include "experiments/run_experiment.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "experiments/kept_cells.h"
#include "ockham/base/error.h"
#include "ockham/base/platform.h"

namespace ockham::paper {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool has_words(const std::string& name, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return name.find(word) != std::string::npos; });
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void check_names(const std::vector<Cell>& cells) {
  std::set<std::string> names;
  for (const Cell& cell : cells) {
    const bool allowed = std::all_of(cell.name.begin(), cell.name.end(), [](unsigned char letter) {
      return std::isalnum(letter) != 0 || letter == '-' || letter == '.' || letter == '=' || letter == '/';
    });
    if (cell.name.empty() || !allowed || !names.insert(cell.name).second)
      throw Error(ErrorKind::failure, fmt::format("the experiment's cell '{}' has a name that cannot be kept or comes "
                                                  "twice: this is a mistake of ockham",
                                                  cell.name));
  }
}

/// The work and its workers. Workers hold it too: they may outlive the call when it is interrupted.
class Work : public std::enable_shared_from_this<Work> {
 public:
  Work(std::vector<Cell> cells, const RunOptions& options)
      : cells_(std::move(cells)), options_(options), kept_(options.directory), fractions_(cells_.size()) {
    for (size_t i = 0; i < cells_.size(); ++i)
      if (look_for(i, true)) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return cells_[a].cost > cells_[b].cost; });
    if (asked_ == 0)
      throw Error(ErrorKind::usage, fmt::format("--only {}: no cell has {} in its name; a cell is called like '{}'",
                                                fmt::join(options.only, " --only "),
                                                options.only.size() > 1 ? "all these words" : "this word",
                                                cells_.empty() ? "" : cells_.front().name));
  }

  ExperimentRun run() {
    const size_t workers = std::min(order_.size(), static_cast<size_t>(std::max<int64_t>(1, options_.workers)));
    std::vector<std::thread> threads;
    working_ = workers;
    for (size_t i = 0; i < workers; ++i)
      threads.emplace_back([self = shared_from_this()] {
        const SingleThread alone;
        self->work();
      });
    wait();
    for (std::thread& thread : threads) run_.abandoned ? thread.detach() : thread.join();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_ && !run_.abandoned) std::rethrow_exception(error_);
    run_.seconds_now = seconds_since(start_);
    for (const Cell& cell : cells_)
      if (run_.results.count(cell.name) == 0 && run_.failures.count(cell.name) == 0) run_.missing.push_back(cell.name);
    return run_;
  }

 private:
  /// Takes a kept result of the cell; true when there is none and the cell is to be computed.
  bool look_for(size_t index, bool first) {
    const Cell& cell = cells_[index];
    const bool asked = has_words(cell.name, options_.only);
    if (first && asked) ++asked_;
    const std::optional<KeptCell> found = kept_.read(cell.name);
    if (found && found->settings == cell.settings && (found->failure.empty() || found->final || !asked)) {
      record(cell.name, *found);
      if (first) kept_.clear_away(cell.name);
      if (first && asked) ++run_.kept;
      return false;
    }
    if (first && found && asked && found->settings != cell.settings)
      say(fmt::format("{}: kept with other settings, computed again", cell.name));
    return asked;
  }

  void record(const std::string& name, const KeptCell& cell) {
    run_.seconds[name] = cell.seconds;
    if (cell.failure.empty())
      run_.results[name] = cell.result;
    else
      run_.failures[name] = cell.failure;
  }

  void work() {
    for (;;) {
      size_t mine;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (next_ >= order_.size() || stop_) break;
        mine = order_[next_++];
      }
      try {
        compute(mine);
      } catch (const Interrupted&) {
      } catch (...) {  // the disk is full and the like: nothing more can be kept
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!error_) error_ = std::current_exception();
        stop_ = true;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    --working_;
    changed_.notify_all();
  }

  void compute(size_t index) {
    const Cell& cell = cells_[index];
    const CellLock claim(options_.directory, cell.name);
    if (!claim.taken()) {
      say(fmt::format("{}: another process computes it", cell.name));
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!look_for(index, false)) return;  // another process was quicker
      running_.insert(index);
    }
    const auto start = Clock::now();
    const CellContext context{kept_.prepare_working_directory(cell.name, cell.settings), [this, index](double part) {
                                fractions_[index].store(part, std::memory_order_relaxed);
                                return !stop_;
                              }};
    KeptCell result{cell.settings, {}, {}, true, 0, OCKHAM_VERSION};
    try {
      result.result = cell.run(context);
    } catch (const Interrupted&) {
      leave(index);
      throw;
    } catch (const Error& error) {
      result.failure = error.what();
      result.final = error.kind() == ErrorKind::numerical;
    } catch (const c10::Error& error) {
      result.failure = fmt::format("libtorch failed: {}", first_line(error.what_without_backtrace()));
      result.final = false;
    } catch (const std::exception& error) {
      result.failure = fmt::format("unexpected failure: {}", first_line(error.what()));
      result.final = false;
    }
    result.seconds = seconds_since(start);
    kept_.write(cell.name, result);
    kept_.remove_working_directory(cell.name);
    leave(index);
    const std::lock_guard<std::mutex> lock(mutex_);
    record(cell.name, result);
    ++run_.computed;
    cost_done_ += cell.cost;
    if (!result.failure.empty()) say_locked(fmt::format("{}: failed: {}", cell.name, result.failure));
  }

  void leave(size_t index) {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_.erase(index);
  }

  void say(const std::string& sentence) {
    const std::lock_guard<std::mutex> lock(mutex_);
    say_locked(sentence);
  }
  void say_locked(const std::string& sentence) const {
    if (options_.say && !run_.abandoned) options_.say(sentence);
  }

  /// Until all workers are done, or an interrupt has come and its patience is over.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    Clock::time_point since;
    while (working_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      if (options_.interrupted && !run_.interrupted && options_.interrupted()) {
        run_.interrupted = stop_ = true;
        since = Clock::now();
      }
      if (run_.interrupted && working_ > 0 && seconds_since(since) > options_.patience) {
        run_.abandoned = true;
        return;
      }
      if (!options_.progress || run_.interrupted) continue;
      const RunProgress now = progress();
      lock.unlock();
      options_.progress(now);
      lock.lock();
    }
  }

  RunProgress progress() const {
    RunProgress now{run_.kept + run_.computed, asked_, {}, 0};
    double done = cost_done_, all = 0;
    for (const size_t index : order_) all += cells_[index].cost;
    for (const size_t index : running_) {
      const double fraction = fractions_[index].load(std::memory_order_relaxed);
      now.running.emplace_back(cells_[index].name, fraction);
      done += fraction * cells_[index].cost;
    }
    if (done > 0 && seconds_since(start_) > 5) now.seconds_left = seconds_since(start_) * (all - done) / done;
    return now;
  }

  const std::vector<Cell> cells_;
  const RunOptions options_;
  const KeptCells kept_;
  const Clock::time_point start_ = Clock::now();
  std::vector<size_t> order_;  // of those to be computed
  std::vector<std::atomic<double>> fractions_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0, working_ = 0;
  std::set<size_t> running_;
  int64_t asked_ = 0;
  double cost_done_ = 0;
  ExperimentRun run_;
  std::exception_ptr error_;
};

}  // namespace

ExperimentRun run_experiment(const Experiment& experiment, const Settings& settings, const RunOptions& options) {
  std::vector<Cell> cells = experiment.cells(settings);
  check_names(cells);
  return std::make_shared<Work>(std::move(cells), options)->run();
}

}  // namespace ockham::paper
