#include "ockham/curvature/curvature_tensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "ockham/base/error.h"

namespace ockham {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

at::Tensor as_indices(const std::vector<size_t>& parameters) {
  return at::tensor(std::vector<int64_t>(parameters.begin(), parameters.end()), at::kLong);
}

void write(const DenseBlock& block, const std::string& prefix, Tensors& tensors) {
  tensors[prefix + "parameters"] = as_indices(block.parameters);
  tensors[prefix + "factor"] = at::full({}, block.factor, at::kDouble);
  if (block.matrix.defined()) tensors[prefix + "matrix"] = block.matrix;
  if (block.rows.defined()) tensors[prefix + "rows"] = block.rows;
  for (const RowFactors& factors : block.row_factors) {
    const std::string name = fmt::format("{}row_factors.{}.", prefix, factors.parameter);
    tensors[name + "left"] = factors.left;
    tensors[name + "right"] = factors.right;
  }
}

void write(const KroneckerBlock& block, const std::string& prefix, Tensors& tensors) {
  tensors[prefix + "parameters"] = as_indices({block.parameter});
  tensors[prefix + "left"] = block.left;
  tensors[prefix + "right"] = block.right;
  tensors[prefix + "gradient_left"] = at::full({}, block.gradient_left, at::kBool);
}

void write(const DiagonalBlock& block, const std::string& prefix, Tensors& tensors) {
  tensors[prefix + "parameters"] = as_indices(block.parameters);
  tensors[prefix + "diagonal"] = block.diagonal;
}

/// "12" to 12; -1 for anything else.
int64_t parse_index(const std::string& text) {
  int64_t value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() ? value : -1;
}

/// The tensors of one block, taken out one by one so that what is left over is noticed.
class BlockReader {
 public:
  BlockReader(int64_t index, Tensors tensors, const ParameterLayout& layout)
      : prefix_(std::to_string(index) + "."), tensors_(std::move(tensors)), layout_(layout) {}

  CurvatureBlock read() {
    const std::vector<size_t> parameters = take_parameters();
    for (size_t parameter : parameters) weights_ += layout_[parameter].size;
    CurvatureBlock block;
    if (has("diagonal")) {
      block = DiagonalBlock{parameters, take("diagonal", {{weights_}}), {}};
    } else if (has("left")) {
      block = read_kronecker(parameters);
    } else {
      block = read_dense(parameters);
    }
    if (!tensors_.empty()) refuse(tensors_.begin()->first, "is not known");
    return block;
  }

 private:
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    throw Error(ErrorKind::data, fmt::format("the curvature's tensor '{}{}' {}; it is damaged", prefix_, name, why));
  }

  bool has(const std::string& name) const { return tensors_.count(name) > 0; }

  at::Tensor take_any(const std::string& name, at::ScalarType type) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) refuse(name, "is missing");
    const at::Tensor tensor = found->second;
    if (!tensor.defined() || tensor.scalar_type() != type)
      refuse(name, fmt::format("is not of type {}", c10::toString(type)));
    tensors_.erase(found);
    return tensor.contiguous();
  }

  /// Of one of the shapes; -1 stands for any size but 0.
  at::Tensor take(const std::string& name, const std::vector<std::vector<int64_t>>& shapes) {
    const at::Tensor tensor = take_any(name, at::kDouble);
    for (const auto& shape : shapes) {
      bool fits = tensor.dim() == static_cast<int64_t>(shape.size());
      for (size_t d = 0; fits && d < shape.size(); ++d) {
        const int64_t size = tensor.size(static_cast<int64_t>(d));
        fits = shape[d] < 0 ? size > 0 : size == shape[d];
      }
      if (!fits) continue;
      if (!tensor.isfinite().all().item<bool>()) refuse(name, "has values that are not finite");
      return tensor;
    }
    refuse(name, fmt::format("has shape [{}], which does not fit its parameters", fmt::join(tensor.sizes(), ", ")));
  }

  std::vector<size_t> take_parameters() {
    const at::Tensor indices = take_any("parameters", at::kLong);
    if (indices.dim() != 1 || indices.numel() == 0) refuse("parameters", "is no list of parameters");
    std::vector<size_t> parameters;
    for (int64_t i = 0; i < indices.numel(); ++i) {
      const int64_t index = indices.data_ptr<int64_t>()[i];
      if (index < 0 || index >= static_cast<int64_t>(layout_.count()))
        refuse("parameters", fmt::format("names parameter {} of {}", index, layout_.count()));
      parameters.push_back(static_cast<size_t>(index));
    }
    return parameters;
  }

  KroneckerBlock read_kronecker(const std::vector<size_t>& parameters) {
    if (parameters.size() != 1) refuse("parameters", "must be one for a Kronecker block");
    KroneckerBlock block;
    block.parameter = parameters[0];
    block.left = take("left", {{-1, -1}, {-1, -1, -1}});
    const int64_t groups = block.left.size(0);
    block.right = take("right", {{groups, -1}, {groups, -1, -1}});
    for (const auto& [name, factor] : {std::pair{"left", block.left}, {"right", block.right}}) {
      if (factor.dim() == 3 && factor.size(1) != factor.size(2)) refuse(name, "is not square");
    }
    const int64_t rows = block.left.size(1), columns = block.right.size(1);
    if (rows > weights_ || columns > weights_ || groups > weights_ || groups * rows * columns != weights_)
      refuse("left", fmt::format("and 'right' are for {} x {} x {} weights, but there are {}", groups, rows, columns,
                                 weights_));
    const at::Tensor gradient_left = take_any("gradient_left", at::kBool);
    if (gradient_left.numel() != 1) refuse("gradient_left", "must be one value");
    block.gradient_left = gradient_left.item<bool>();
    return block;
  }

  DenseBlock read_dense(const std::vector<size_t>& parameters) {
    DenseBlock block;
    block.parameters = parameters;
    block.factor = take("factor", {{}}).item<double>();
    if (!has("rows")) {
      block.matrix = take("matrix", {{weights_, weights_}});
      return block;
    }
    block.rows = take("rows", {{-1, weights_}});
    for (size_t parameter : parameters) {
      const std::string name = fmt::format("row_factors.{}.", parameter);
      if (!has(name + "left")) continue;
      RowFactors factors;
      factors.parameter = parameter;
      factors.left = take(name + "left", {{-1, -1}});
      factors.right = take(name + "right", {{-1, -1}});
      for (const at::Tensor& factor : {factors.left, factors.right}) {
        if (block.rows.size(0) % factor.size(0) != 0) refuse(name + "left", "has rows that do not fit");
      }
      const int64_t size = layout_[parameter].size;
      if (factors.left.size(1) > size || factors.right.size(1) > size ||
          factors.left.size(1) * factors.right.size(1) != size)
        refuse(name + "left", "and 'right' do not fit their parameter");
      block.row_factors.push_back(std::move(factors));
    }
    return block;
  }

  std::string prefix_;
  Tensors tensors_;
  const ParameterLayout& layout_;
  int64_t weights_ = 0;
};

void expect_tiling(const Curvature& curvature, const ParameterLayout& layout) {
  std::vector<int> covered(layout.count(), 0);
  for (const CurvatureBlock& block : curvature.blocks) {
    if (const auto* kronecker = std::get_if<KroneckerBlock>(&block)) {
      ++covered[kronecker->parameter];
    } else if (const auto* dense = std::get_if<DenseBlock>(&block)) {
      for (size_t parameter : dense->parameters) ++covered[parameter];
    } else {
      for (size_t parameter : std::get<DiagonalBlock>(block).parameters) ++covered[parameter];
    }
  }
  for (size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] != 1) {
      throw Error(ErrorKind::data, fmt::format("the curvature has {} blocks for parameter '{}', expected one; it is "
                                               "damaged",
                                               covered[i], layout[i].name));
    }
  }
}

void share_factors(Curvature& curvature) {
  for (CurvatureBlock& block : curvature.blocks) {
    auto* dense = std::get_if<DenseBlock>(&block);
    if (dense == nullptr || !dense->matrix.defined()) continue;
    for (const CurvatureBlock& other : curvature.blocks) {
      const auto* kronecker = std::get_if<KroneckerBlock>(&other);
      if (kronecker == nullptr) continue;
      const at::Tensor& factor = kronecker->gradient_left ? kronecker->left : kronecker->right;
      if (factor.dim() == 3 && factor.size(0) == 1 && factor[0].equal(dense->matrix)) {
        dense->matrix = factor[0];
        break;
      }
    }
  }
}

}  // namespace

std::map<std::string, at::Tensor> curvature_to_tensors(const Curvature& curvature) {
  Tensors tensors;
  for (size_t k = 0; k < curvature.blocks.size(); ++k) {
    std::visit([&](const auto& block) { write(block, fmt::format("{}.", k), tensors); }, curvature.blocks[k]);
  }
  return tensors;
}

Curvature curvature_from_tensors(const std::map<std::string, at::Tensor>& tensors, const ParameterLayout& layout) {
  std::map<int64_t, Tensors> by_block;
  for (const auto& [name, tensor] : tensors) {
    const size_t dot = name.find('.');
    const int64_t block = dot == std::string::npos ? -1 : parse_index(name.substr(0, dot));
    if (block < 0) throw Error(ErrorKind::data, fmt::format("the curvature's tensor '{}' belongs to no block", name));
    by_block[block][name.substr(dot + 1)] = tensor;
  }
  Curvature curvature;
  for (auto& [index, of_block] : by_block) {
    if (index != static_cast<int64_t>(curvature.blocks.size()))
      throw Error(ErrorKind::data,
                  fmt::format("the curvature's block {} is missing; it is damaged", curvature.blocks.size()));
    curvature.blocks.push_back(BlockReader(index, std::move(of_block), layout).read());
  }
  expect_tiling(curvature, layout);
  share_factors(curvature);
  return curvature;
}

}  // namespace ockham
