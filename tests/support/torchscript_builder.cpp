#include "tests/support/torchscript_builder.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <utility>

namespace ockham::testing {

using torch::jit::Module;

struct TorchScriptBuilder::State {
  Module root{"Net"};
};

namespace {

/// The (nested) submodule that owns `name`, made when it is not there yet, and the last part of the name.
std::pair<Module, std::string> owner_of(Module module, const std::string& name) {
  const auto dot = name.find('.');
  if (dot == std::string::npos) return {module, name};
  const std::string first = name.substr(0, dot);
  if (!module.hasattr(first)) module.register_module(first, Module("Part_" + first));
  return owner_of(module.attr(first).toModule(), name.substr(dot + 1));
}

}  // namespace

TorchScriptBuilder::TorchScriptBuilder() : state_(std::make_unique<State>()) {}
TorchScriptBuilder::~TorchScriptBuilder() = default;

TorchScriptBuilder& TorchScriptBuilder::parameter(const std::string& name, const at::Tensor& value,
                                                  bool requires_grad) {
  auto [owner, last] = owner_of(state_->root, name);
  owner.register_parameter(last, value.detach().clone().set_requires_grad(requires_grad), false);
  return *this;
}

TorchScriptBuilder& TorchScriptBuilder::buffer(const std::string& name, const at::Tensor& value) {
  auto [owner, last] = owner_of(state_->root, name);
  owner.register_buffer(last, value.detach().clone());
  return *this;
}

TorchScriptBuilder& TorchScriptBuilder::tie(const std::string& name, const std::string& existing) {
  auto [source, source_name] = owner_of(state_->root, existing);
  auto [owner, last] = owner_of(state_->root, name);
  owner.register_parameter(last, source.attr(source_name).toTensor(), false);
  return *this;
}

TorchScriptBuilder& TorchScriptBuilder::training(bool on) {
  state_->root.register_attribute("training", c10::BoolType::get(), on);
  return *this;
}

TorchScriptBuilder& TorchScriptBuilder::define(const std::string& source) {
  state_->root.define(source);
  return *this;
}

void TorchScriptBuilder::save(const std::string& path) const { state_->root.save(path); }

}  // namespace ockham::testing
