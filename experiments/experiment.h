// What an experiment of the paper is: cells that are computed one by one and kept, and what is made of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ockham::paper {

using Json = nlohmann::json;

/// What the command line asks for. Zeros stand for the experiment's own full settings, which `quick` shrinks.
struct Settings {
  std::string data;  // the directory with the data sets
  int64_t splits = 0;
  int64_t epochs = 0;
  int64_t train_size = 0;  // images to train on, drawn by the seed; 0: the experiment's own
  bool quick = false;
  uint64_t seed = 0;
  int64_t memory = 0;  // bytes for one cell
};

/// What a cell may use while it runs.
struct CellContext {
  std::string directory;  // its own, for checkpoints; removed when the cell is done
  /// Says how far it is, in 0 … 1; false: the run is being interrupted, write a checkpoint and throw Interrupted.
  std::function<bool(double fraction)> go_on;
};
struct Interrupted {};

/// The unit that is computed, kept and repeated alone: one training, or one comparison.
struct Cell {
  std::string name;  // of letters, digits, '-', '.', '=' and '/': "energy/full-ggn/split-3"
  Json settings;     // all that its numbers depend on: a kept result of other settings is not used
  double cost = 1;   // relative; the dearest run first
  std::function<Json(const CellContext&)> run;  // from any thread; its numbers. Throws ockham::Error
};

/// What the finished cells gave, by name; cells that are missing have not been computed (yet).
using Results = std::map<std::string, Json>;

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;  // below it; may be empty
};

struct Figure {
  std::string title;
  std::string svg;  // a whole <svg> element
  std::string caption;
};

enum class Verdict { yes, no, partly, open };  // open: too few cells are there

/// A statement of the paper, and what our numbers say to it.
struct Claim {
  std::string statement;
  Verdict verdict = Verdict::open;
  std::string grounds;  // the numbers
};

struct Presentation {
  std::vector<Claim> claims;
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<std::string> notes;  // settings, and where the paper is silent
};

struct Experiment {
  std::string name;                                         // "uci-regression"
  std::string title;                                        // one line
  std::string place;                                        // in the paper: "Table 1"
  std::string needs;                                        // files in the data directory
  std::string takes;                                        // "about 4 h on two cores; --quick 5 min"
  std::function<std::vector<Cell>(const Settings&)> cells;  // throws Error(data) when a file is missing
  std::function<Presentation(const Settings&, const Results&)> present;
};

/// All experiments in the paper's order; one file makes each.
const std::vector<Experiment>& experiments();

Experiment toy_regression();
Experiment toy_classification();
Experiment uci_regression();
Experiment uci_classification();
Experiment images();
Experiment damping();
Experiment augmentation();
Experiment runtime();
Experiment architectures();
Experiment depth();
Experiment robustness();
Experiment minibatch();

}  // namespace ockham::paper
