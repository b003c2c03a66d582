#include "ockham/network/torchscript.h"

#include <ATen/ATen.h>
#include <caffe2/serialize/versions.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <utility>

#include "ockham/base/error.h"
#include "ockham/network/archive_check.h"
#include "ockham/network/torchscript_module.h"

namespace ockham {
namespace {

std::atomic<bool> refused_by_program{false};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Turns libtorch's message about a file that cannot be loaded into a sentence.
[[noreturn]] void explain_failed_load(const std::string& path, const std::string& message) {
  std::smatch found;
  if (std::regex_search(message, found, std::regex("with version (\\d+), but the maximum supported version"))) {
    refuse(path,
           fmt::format(
               "was saved by a newer libtorch: its file format has version {}, but libtorch {} reads up to version {}; "
               "save it with libtorch {}.{} or build ockham with a newer one",
               found[1].str(), TORCH_VERSION, caffe2::serialize::kMaxSupportedFileFormatVersion, TORCH_VERSION_MAJOR,
               TORCH_VERSION_MINOR));
  }
  if (std::regex_search(message, found, std::regex("Unknown builtin op: ([A-Za-z0-9_:.]+)"))) {
    std::string op = found[1].str();
    while (!op.empty() && op.back() == '.') op.pop_back();
    refuse(
        path,
        fmt::format(
            "uses the operator {}, which libtorch {} does not have; it was probably saved by a newer libtorch, save it "
            "with libtorch {}.{}",
            op, TORCH_VERSION, TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR));
  }
  refuse(path,
         fmt::format(
             "is not a TorchScript file that libtorch {} can read ({}); save it with torch.jit.script(model).save(...)",
             TORCH_VERSION, first_line(message)));
}

/// `source` is a path or a stream.
template <class Source>
torch::jit::Module load(Source&& source, const std::string& path) {
  try {
    return torch::jit::load(source);
  } catch (const c10::Error& error) {
    explain_failed_load(path, error.what_without_backtrace());
  } catch (const std::exception& error) {
    explain_failed_load(path, error.what());
  }
}

bool must_convert(const at::Tensor& tensor, at::ScalarType dtype) {
  return tensor.defined() && at::isFloatingType(tensor.scalar_type()) && tensor.scalar_type() != dtype;
}

/// In place, so that tied tensors stay tied. Module::to is no help: it would make integer buffers floating too.
void convert_in_place(const c10::IValue& value, at::ScalarType dtype) {
  if (value.isTensor()) {
    const at::Tensor tensor = value.toTensor();
    if (must_convert(tensor, dtype)) tensor.set_data(tensor.detach().to(dtype));
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) convert_in_place(tensor, dtype);
  }
}

/// Tensors that tracing has written into the program itself.
void convert_constants(torch::jit::Block* block, at::ScalarType dtype) {
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) convert_constants(inner, dtype);
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value) ||
        node->kindOf(c10::attr::value) != torch::jit::AttributeKind::t) {
      continue;
    }
    const at::Tensor constant = node->t(c10::attr::value);
    if (constant.dim() == 0 || !must_convert(constant, dtype)) continue;
    const at::Tensor converted = constant.to(dtype);
    node->t_(c10::attr::value, converted);
    node->output()->setType(c10::TensorType::create(converted));
  }
}

void check_signature(const std::string& path, const torch::jit::Module& module) {
  const auto method = module.find_method("forward");
  if (!method) refuse(path, "has no method forward; it must map inputs [N, ...] to outputs [N, C]");
  size_t required = 0;
  for (const auto& argument : method->function().getSchema().arguments()) required += argument.default_value() ? 0 : 1;
  const size_t all = method->function().getSchema().arguments().size();
  if (required > 2 || all < 2) {
    refuse(path, fmt::format("its forward takes {} arguments, but it must map one tensor of inputs to one of outputs",
                             required - 1));
  }
}

/// Checks the signature and brings every floating value to the type.
torch::jit::Module prepare(torch::jit::Module module, const std::string& path, at::ScalarType dtype) {
  check_signature(path, module);
  for (const auto& attribute : module.attributes()) convert_in_place(attribute, dtype);
  for (const auto& submodule : module.modules()) {
    for (const auto& method : submodule.get_methods()) convert_constants(method.graph()->block(), dtype);
  }
  return module;
}

Network as_network(const torch::jit::Module& module, const std::string& path) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (const auto& parameter : module.named_parameters()) named.emplace_back(parameter.name, parameter.value);
  try {
    return Network(std::move(named), [module, path](const at::Tensor& inputs) {
      const c10::IValue outputs = torch::jit::Module(module).forward({inputs});
      if (!outputs.isTensor()) {
        refuse(path, fmt::format("its forward returns a {}, but one tensor of outputs [N, C] is expected",
                                 outputs.tagKind()));
      }
      return outputs.toTensor();
    });
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace

void refuse_torchscript() { refused_by_program = true; }

bool torchscript_is_refused() {
  const char* wish = std::getenv("OCKHAM_NO_TORCHSCRIPT");
  return refused_by_program || (wish != nullptr && *wish != '\0' && std::string(wish) != "0");
}

void expect_torchscript_allowed(const std::string& name) {
  if (!torchscript_is_refused()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: TorchScript is refused here (--no-torchscript, OCKHAM_NO_TORCHSCRIPT), because loading it "
                  "runs the code of whoever made it; allow it only if you trust them",
                  name));
}

Network load_torchscript(const std::string& path, at::ScalarType dtype) {
  expect_torchscript_allowed(path);
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) refuse(path, "no such file; a TorchScript file is expected");
  if (!std::filesystem::is_regular_file(path, failure)) refuse(path, "is not a file; a TorchScript file is expected");
  check_archive(path);
  return as_network(prepare(load(path, path), path, dtype), path);
}

torch::jit::Module parse_torchscript_module(const std::string& bytes, const std::string& name, at::ScalarType dtype) {
  expect_torchscript_allowed(name);
  std::istringstream stream(bytes);
  check_archive(stream, name);
  stream.clear();
  stream.seekg(0);
  return prepare(load(stream, name), name, dtype);
}

Network parse_torchscript(const std::string& bytes, const std::string& name, at::ScalarType dtype) {
  return as_network(parse_torchscript_module(bytes, name, dtype), name);
}

}  // namespace ockham
