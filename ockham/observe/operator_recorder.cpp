#include "ockham/observe/operator_recorder.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace ockham {
namespace {

const void* storage_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

template <class Visit>
void visit_tensors(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) visit(tensor);
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) visit_tensors(element, visit);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) visit_tensors(element, visit);
  }
}

bool is_true(c10::ArrayRef<const c10::IValue> arguments, size_t position) {
  return arguments.size() > position && arguments[position].isBool() && arguments[position].toBool();
}

bool is_positive(c10::ArrayRef<const c10::IValue> arguments, size_t position) {
  return arguments.size() > position && arguments[position].isDouble() && arguments[position].toDouble() > 0;
}

// Why examples would not be independent or outputs not a function of the parameters; empty when the operator is fine.
std::string forbidden_reason(std::string_view name, c10::ArrayRef<const c10::IValue> arguments) {
  if (name.substr(0, 6) != "aten::") return {};
  std::string_view op = name.substr(6);
  if (!op.empty() && op.back() == '_') op.remove_suffix(1);
  if (op == "dropout" || op == "feature_dropout" || op == "alpha_dropout" || op == "feature_alpha_dropout" ||
      op == "native_dropout") {
    if (is_true(arguments, 2) && is_positive(arguments, 1)) return "dropout is active";
  } else if (op == "scaled_dot_product_attention") {
    if (is_positive(arguments, 4)) return "attention dropout is active";
  } else if (op == "batch_norm" || op == "native_batch_norm" || op == "_batch_norm_impl_index" ||
             op == "cudnn_batch_norm") {
    if (is_true(arguments, 5))
      return "batch norm is in training mode, so that an output depends on the other examples of its batch";
  } else if (op == "rrelu") {
    if (is_true(arguments, 3)) return "randomised ReLU is in training mode";
  } else if (op == "rand" || op == "randn" || op == "rand_like" || op == "randn_like" || op == "randint" ||
             op == "bernoulli" || op == "normal" || op == "uniform" || op == "multinomial" || op == "randperm" ||
             op == "exponential") {
    return "it draws random numbers (" + std::string(name) + ")";
  }
  return {};
}

struct RecordContext : at::ObserverContext {
  OperatorRecord record;
};

}  // namespace

struct OperatorRecorder::State {
  const ParameterLookup* lookup = nullptr;
  at::CallbackHandle handle = 0;
  bool active = false;
  int depth = 0;
  std::vector<OperatorRecord> records;
  std::string forbidden;
  std::exception_ptr error;

  void start(const at::RecordFunction& function, std::unique_ptr<at::ObserverContext>& context) {
    auto arguments = function.inputs();
    // A boxed call (TorchScript) shows the whole interpreter stack: the arguments are its end.
    const size_t expected = function.num_inputs();
    if (arguments.size() > expected) arguments = arguments.slice(arguments.size() - expected);
    if (forbidden.empty()) forbidden = forbidden_reason(function.name(), arguments);

    std::vector<size_t> touched;
    for (const c10::IValue& argument : arguments) {
      visit_tensors(argument, [&](const at::Tensor& tensor) {
        for (size_t index : lookup->sharing(tensor)) touched.push_back(index);
      });
    }
    if (touched.empty()) return;
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());

    auto kept = std::make_unique<RecordContext>();
    kept->record.name = function.name();
    kept->record.touched = std::move(touched);
    for (const c10::IValue& argument : arguments) {
      const bool tensor = argument.isTensor() && argument.toTensor().defined();
      kept->record.arguments.push_back(argument);
      kept->record.argument_edges.push_back(tensor && argument.toTensor().requires_grad()
                                                ? torch::autograd::impl::gradient_edge(argument.toTensor())
                                                : torch::autograd::Edge());
    }
    context = std::move(kept);
  }

  void end(const at::RecordFunction& function, RecordContext& context) {
    const auto& stack = function.outputs();
    const size_t count = std::min(stack.size(), function.num_outputs());
    std::vector<at::Tensor> outputs;
    for (size_t i = stack.size() - count; i < stack.size(); ++i) {
      visit_tensors(stack[i], [&](const at::Tensor& tensor) { outputs.push_back(tensor); });
    }
    if (outputs.empty()) return;  // sizes, flags: no use of the values
    const bool only_views = std::all_of(outputs.begin(), outputs.end(),
                                        [&](const at::Tensor& output) { return !lookup->sharing(output).empty(); });
    if (only_views) return;
    OperatorRecord& record = context.record;
    record.output_shape = outputs[0].sizes().vec();
    if (outputs[0].requires_grad()) record.output_edge = torch::autograd::impl::gradient_edge(outputs[0]);
    for (const c10::IValue& argument : record.arguments) {
      const bool tensor = argument.isTensor() && argument.toTensor().defined();
      record.argument_versions.push_back(tensor ? argument.toTensor()._version() : 0);
    }
    records.push_back(std::move(record));
  }
};

namespace {

thread_local OperatorRecorder::State* active_recorder = nullptr;

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  std::unique_ptr<at::ObserverContext> context;
  OperatorRecorder::State* state = active_recorder;
  if (state == nullptr) return context;
  // Only the outermost operator counts: what it calls inside is how it works, not how the network uses its parameters.
  if (state->depth++ > 0 || state->error) return context;
  try {
    state->start(function, context);
  } catch (...) {
    state->error = std::current_exception();
  }
  return context;
}

void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  OperatorRecorder::State* state = active_recorder;
  if (state == nullptr) return;
  --state->depth;
  if (context == nullptr || state->error) return;
  try {
    state->end(function, *static_cast<RecordContext*>(context));
  } catch (...) {
    state->error = std::current_exception();
  }
}

}  // namespace

OperatorRecorder::OperatorRecorder(const ParameterLookup& lookup) : state_(std::make_unique<State>()) {
  state_->lookup = &lookup;
  active_recorder = state_.get();
  state_->handle = at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end)
                                                  .needsInputs(true)
                                                  .needsOutputs(true)
                                                  .scopes({at::RecordScope::FUNCTION}));
  state_->active = true;
}

OperatorRecorder::~OperatorRecorder() { remove(); }

void OperatorRecorder::remove() {
  if (!state_->active) return;
  at::removeCallback(state_->handle);
  active_recorder = nullptr;
  state_->active = false;
}

std::vector<OperatorRecord> OperatorRecorder::finish() {
  remove();
  if (state_->error) std::rethrow_exception(state_->error);
  return std::move(state_->records);
}

const std::string& OperatorRecorder::forbidden() const { return state_->forbidden; }

ParameterLookup::ParameterLookup(const Network& network) : parameters_(network.parameters()) {
  for (size_t i = 0; i < parameters_.size(); ++i) by_storage_[storage_of(parameters_[i])].push_back(i);
}

const std::vector<size_t>& ParameterLookup::sharing(const at::Tensor& tensor) const {
  static const std::vector<size_t> none;
  const void* storage = storage_of(tensor);
  if (storage == nullptr) return none;
  auto found = by_storage_.find(storage);
  return found == by_storage_.end() ? none : found->second;
}

int64_t ParameterLookup::exact(const at::Tensor& tensor) const {
  for (size_t index : sharing(tensor)) {
    const at::Tensor& parameter = parameters_[index];
    if (parameter.data_ptr() == tensor.data_ptr() && parameter.sizes() == tensor.sizes() &&
        parameter.strides() == tensor.strides()) {
      return static_cast<int64_t>(index);
    }
  }
  return -1;
}

int64_t ParameterLookup::transposed(const at::Tensor& tensor) const {
  if (tensor.dim() != 2) return -1;
  for (size_t index : sharing(tensor)) {
    const at::Tensor& parameter = parameters_[index];
    if (parameter.dim() == 2 && parameter.data_ptr() == tensor.data_ptr() && parameter.size(0) == tensor.size(1) &&
        parameter.size(1) == tensor.size(0) && parameter.stride(0) == tensor.stride(1) &&
        parameter.stride(1) == tensor.stride(0)) {
      return static_cast<int64_t>(index);
    }
  }
  return -1;
}

int64_t ParameterLookup::reshaped(const at::Tensor& tensor) const {
  for (size_t index : sharing(tensor)) {
    const at::Tensor& parameter = parameters_[index];
    if (parameter.data_ptr() == tensor.data_ptr() && parameter.numel() == tensor.numel() && parameter.is_contiguous() &&
        tensor.is_contiguous()) {
      return static_cast<int64_t>(index);
    }
  }
  return -1;
}

}  // namespace ockham
