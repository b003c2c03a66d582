#include "ockham/curvature/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/curvature/dense_memory.h"

namespace ockham {
namespace {

constexpr int64_t kDouble = sizeof(double);
// Any machine has this much; asking it what it has costs as much as a small pass.
constexpr int64_t kNotWorthAsking = int64_t{32} << 20;

bool fits(int64_t bytes, const CurvatureOptions& options) {
  if (options.memory_budget > 0) return bytes <= options.memory_budget;
  return bytes <= kNotWorthAsking || bytes <= default_memory_budget();
}

struct Uses {
  std::vector<UseInBatch> all;
  bool only_matrix = true, only_bias = true, only_elementwise = true;
};

std::vector<Uses> uses_by_parameter(const PlanInput& input) {
  std::vector<Uses> uses(input.network.layout().count());
  const auto& calls = input.observation.calls();
  for (size_t c = 0; c < calls.size(); ++c) {
    for (const ParameterUse& use : calls[c].uses) {
      Uses& entry = uses[use.parameter];
      entry.all.push_back({c, &use});
      entry.only_matrix &= std::holds_alternative<MatrixUse>(use.how);
      entry.only_bias &= std::holds_alternative<BiasUse>(use.how);
      entry.only_elementwise &= std::holds_alternative<ElementwiseUse>(use.how);
    }
  }
  return uses;
}

bool contains(const std::vector<size_t>& sorted, size_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// A weight that is input-major in one use and output-major in another (tied embedding) has no Kronecker form.
bool same_roles(const Uses& uses) {
  const auto& first = std::get<MatrixUse>(uses.all[0].use->how);
  return std::all_of(uses.all.begin(), uses.all.end(), [&](const UseInBatch& in_batch) {
    const auto& use = std::get<MatrixUse>(in_batch.use->how);
    return use.gradient_left == first.gradient_left && use.groups == first.groups &&
           (use.kind == MatrixUse::Operator::embedding) == (first.kind == MatrixUse::Operator::embedding);
  });
}

// A bias whose layer calls are exactly those of one weight has the weight's gradient factor as its curvature.
bool shares_factor(const Uses& weight, const Uses& bias) {
  if (weight.all.size() != bias.all.size()) return false;
  for (size_t i = 0; i < weight.all.size(); ++i) {
    const auto& use = std::get<MatrixUse>(weight.all[i].use->how);
    const bool plain = use.kind == MatrixUse::Operator::linear || use.kind == MatrixUse::Operator::convolution;
    if (weight.all[i].call != bias.all[i].call || use.groups != 1 || !plain) return false;
  }
  return true;
}

std::string join(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

struct Planner {
  const PlanInput& input;
  const CurvatureOptions& options;
  CurvaturePlan plan;

  const ParameterLayout& layout() const { return input.network.layout(); }

  void add_dense(std::vector<size_t> parameters, bool choose_form) {
    DenseAccumulator::Plan dense;
    dense.parameters = std::move(parameters);
    for (size_t index : dense.parameters) dense.size += layout()[index].size;
    dense.row_count =
        (input.passed > 0 ? input.passed : input.examples) * (plan.keep_jacobian ? input.outputs : input.columns);
    dense.derivatives = plan.keep_jacobian ? 0 : input.derivatives;
    const int64_t count = static_cast<int64_t>(dense.parameters.size());
    dense.rows = plan.keep_jacobian || (choose_form && in_rows(dense.size, count));
    plan.bytes += dense_bytes(dense.size, count, dense.rows, plan.keep_jacobian);
    plan.bytes_per_example = std::max(plan.bytes_per_example, 2 * dense.size * kDouble);
    for (size_t index : dense.parameters) {
      if (contains(input.observation.unexplained_parameters(), index)) plan.rows_by_autograd.push_back(index);
    }
    plan.accumulators.push_back(DenseAccumulator(std::move(dense)));
  }

  int64_t dense_bytes(int64_t size, int64_t parameters, bool rows, bool jacobian) const {
    return dense_block_bytes({size, parameters, input.examples, input.columns, input.outputs, input.derivatives}, rows,
                             jacobian);
  }

  void add_diagonal(std::vector<size_t> parameters) {
    if (parameters.empty()) return;
    std::vector<size_t> by_autograd;
    for (size_t index : parameters) {
      plan.bytes += 2 * kDouble * layout()[index].size * (1 + input.derivatives);
      if (contains(input.observation.unexplained_parameters(), index)) by_autograd.push_back(index);
    }
    plan.accumulators.push_back(
        DiagonalAccumulator(std::move(parameters), std::move(by_autograd), layout(), input.derivatives));
  }

  // The parameters that dense blocks take together: all of them, the user's groups, or each on its own.
  std::vector<std::vector<size_t>> dense_blocks(Structure structure) const {
    std::vector<std::vector<size_t>> blocks = options.blocks;
    if (structure == Structure::full) blocks = {all_parameters()};
    if (blocks.empty()) {
      for (size_t index : all_parameters()) blocks.push_back({index});
    }
    return blocks;
  }

  std::vector<size_t> all_parameters() const {
    std::vector<size_t> all(layout().count());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  /// Whichever is less work, unless only the other one fits.
  bool in_rows(int64_t size, int64_t parameters) const {
    using Form = CurvatureOptions::DenseForm;
    if (options.dense_form != Form::automatic) return options.dense_form == Form::rows;
    if (input.examples * input.columns >= size) return false;
    const int64_t by_rows = dense_bytes(size, parameters, true, false);
    return by_rows <= dense_bytes(size, parameters, false, false) || fits(by_rows, options);
  }

  void plan_kronecker() {
    const std::vector<Uses> uses = uses_by_parameter(input);
    std::vector<size_t> diagonal;
    std::vector<bool> taken(layout().count(), false);
    for (size_t i = 0; i < layout().count(); ++i) {
      const bool explained = !contains(input.observation.unexplained_parameters(), i);
      if (explained && !uses[i].all.empty() && uses[i].only_matrix && same_roles(uses[i]))
        add_kronecker(i, uses, taken);
    }
    for (size_t i = 0; i < layout().count(); ++i) {
      if (taken[i]) continue;
      const ParameterSlot& slot = layout()[i];
      const bool unexplained = contains(input.observation.unexplained_parameters(), i);
      if (!unexplained && uses[i].all.empty()) {
        diagonal.push_back(i);
        plan.messages.push_back(
            fmt::format("parameter '{}' is not used by the network: its curvature is zero", slot.name));
      } else if (!unexplained && uses[i].only_bias && slot.size <= 16 * options.largest_exact_block) {
        plan.bytes += 3 * kDouble * slot.size * slot.size;
        plan.accumulators.push_back(BiasAccumulator({i, slot.size, options.kronecker_rule, input.derivatives}));
      } else {
        const bool small = slot.size <= options.largest_exact_block;
        if (small)
          add_dense({i}, false);
        else
          diagonal.push_back(i);
        if (unexplained || !small || !uses[i].only_elementwise) {
          const std::string why = unexplained                ? input.observation.reason(i)
                                  : uses[i].only_elementwise ? "it has more weights than largest_exact_block"
                                                             : "its uses have different roles";
          plan.messages.push_back(fmt::format("parameter '{}' {} has no Kronecker form ({}): its block is {}",
                                              slot.name, join(slot.shape), why, small ? "exact" : "an exact diagonal"));
        }
      }
    }
    add_diagonal(std::move(diagonal));
  }

  void add_kronecker(size_t weight, const std::vector<Uses>& uses, std::vector<bool>& taken) {
    KroneckerAccumulator::Plan kronecker;
    kronecker.weight = weight;
    kronecker.rule = options.kronecker_rule;
    kronecker.derivatives = input.derivatives;
    for (size_t b = 0; b < layout().count() && !kronecker.shared_bias; ++b) {
      if (!uses[b].all.empty() && uses[b].only_bias && !taken[b] &&
          !contains(input.observation.unexplained_parameters(), b) && shares_factor(uses[weight], uses[b])) {
        kronecker.shared_bias = b;
        taken[b] = true;
      }
    }
    const auto& use = std::get<MatrixUse>(uses[weight].all[0].use->how);
    const ParameterSlot& slot = layout()[weight];
    const int64_t left = slot.shape[0] / use.groups, right = slot.size / slot.shape[0];
    const bool diagonal_left =
        use.kind == MatrixUse::Operator::embedding && options.kronecker_rule != KroneckerRule::reduce;
    plan.bytes +=
        use.groups * kDouble * 2 * ((diagonal_left ? left : left * left) + right * right) * (1 + input.derivatives);
    taken[weight] = true;
    plan.accumulators.push_back(KroneckerAccumulator(std::move(kronecker)));
  }

  void run() {
    switch (options.structure) {
      case Structure::full:
      case Structure::block:
        for (auto& block : dense_blocks(options.structure)) add_dense(std::move(block), true);
        return;
      case Structure::kronecker:
        return plan_kronecker();
      case Structure::diagonal:
        return add_diagonal(all_parameters());
    }
  }
};

const char* name_of(Structure structure) {
  switch (structure) {
    case Structure::full:
      return "full";
    case Structure::block:
      return "block";
    case Structure::kronecker:
      return "kron";
    case Structure::diagonal:
      break;
  }
  return "diag";
}

// What a structure would need, without allocating it.
int64_t bytes_for(const PlanInput& input, CurvatureOptions options, Structure structure, bool keep_jacobian) {
  options.structure = structure;
  Planner planner{input, options, {}};
  if (structure == Structure::kronecker || structure == Structure::diagonal) {
    planner.run();  // its accumulators allocate with the first batch only
    return planner.plan.bytes;
  }
  int64_t bytes = 0;
  for (const auto& block : planner.dense_blocks(structure)) {
    int64_t size = 0;
    for (size_t index : block) size += input.network.layout()[index].size;
    const int64_t count = static_cast<int64_t>(block.size());
    bytes += planner.dense_bytes(size, count, keep_jacobian || planner.in_rows(size, count), keep_jacobian);
  }
  return bytes;
}

}  // namespace

void expect_within_budget(const PlanInput& input, const CurvatureOptions& options) {
  const int64_t needed = bytes_for(input, options, options.structure, false);
  if (fits(needed, options)) return;
  const int64_t budget = options.memory_budget > 0 ? options.memory_budget : default_memory_budget();
  std::string fitting;
  for (Structure other : {Structure::block, Structure::kronecker, Structure::diagonal}) {
    const int64_t bytes = other == options.structure ? needed : bytes_for(input, options, other, false);
    if (fits(bytes, options))
      fitting += fmt::format("{}{} ({})", fitting.empty() ? "" : ", ", name_of(other), human_bytes(bytes));
  }
  const char* slq = options.structure == Structure::full && options.kind != CurvatureKind::mc_fisher
                        ? ", estimate the log determinant without the matrix (--log-det slq)"
                        : "";
  throw Error(
      ErrorKind::usage,
      fmt::format("The {} structure of {} weights and {} examples needs {} ({} bytes) but the memory budget is {}; {}.",
                  name_of(options.structure), input.network.layout().total(), input.examples, human_bytes(needed),
                  needed, human_bytes(budget),
                  fitting.empty()
                      ? "no structure fits, so raise the budget (--memory)"
                      : "use another structure that fits: " + fitting + slq + ", or raise the budget (--memory)"));
}

CurvaturePlan plan_curvature(const PlanInput& input, const CurvatureOptions& options) {
  expect_within_budget(input, options);
  const bool dense = options.structure == Structure::full || options.structure == Structure::block;
  Planner planner{input, options, {}};
  planner.plan.keep_jacobian = dense && input.derivatives > 0 && options.kind != CurvatureKind::mc_fisher &&
                               fits(bytes_for(input, options, options.structure, true), options);
  planner.run();
  return std::move(planner.plan);
}

}  // namespace ockham
