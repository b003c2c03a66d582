#include "ockham/observe/faster_nodes.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ockham/linalg/pooling.h"
#include "ockham/linalg/sparse_convolution.h"
#include "ockham/observe/graph_nodes.h"

namespace ockham {
namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;
using torch::autograd::variable_list;
using Pooling = torch::autograd::generated::MaxPool2DWithIndicesBackward0;
using Rectification = torch::autograd::generated::ReluBackward0;
using Convolution = torch::autograd::generated::ConvolutionBackward0;

class PoolingNode : public Node {
 public:
  PoolingNode(const Node& like, edge_list&& below, at::Tensor images, at::Tensor indices, PoolShape shape,
              bool rectified)
      : Node(like.sequence_nr(), std::move(below)),
        images_(std::move(images)),
        indices_(std::move(indices)),
        shape_(shape),
        rectified_(rectified) {
    add_input_metadata(images_.detach().new_empty({1}).expand(indices_.sizes()));
  }

  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return {at::Tensor()};
    if (!origins_) origins_.emplace(images_, indices_, shape_, rectified_);
    return {origins_->send_back(gradients[0])};
  }

  std::string name() const override { return "PoolingNode"; }

 private:
  at::Tensor images_, indices_;
  PoolShape shape_;
  bool rectified_;
  std::optional<PoolingOrigins> origins_;  // made when they are needed
};

class ConvolutionNode : public Node {
 public:
  ConvolutionNode(std::shared_ptr<Node> original, const at::Tensor& images, at::Tensor weight, ConvolutionShape shape)
      : Node(original->sequence_nr(), edge_list(original->next_edges())),
        original_(std::move(original)),
        weight_(std::move(weight)),
        shape_(shape),
        height_(images.size(2)),
        width_(images.size(3)) {
    const auto outputs = [](int64_t size, int64_t padding, int64_t kernel, int64_t stride) {
      return (size + 2 * padding - kernel) / stride + 1;
    };
    add_input_metadata(weight_.new_empty({1}).expand(
        {images.size(0), weight_.size(0), outputs(height_, shape.padding_height, weight_.size(2), shape.stride_height),
         outputs(width_, shape.padding_width, weight_.size(3), shape.stride_width)}));
  }

  variable_list apply(variable_list&& gradients) override {
    const at::Tensor& gradient = gradients[0];
    const bool only_images =
        task_should_compute_output(0) && !task_should_compute_output(1) && !task_should_compute_output(2);
    if (!only_images || !gradient.defined() || !gradient.is_contiguous(at::MemoryFormat::ChannelsLast) ||
        !SparseConvolution::pays(gradient))
      return (*original_)(std::move(gradients));
    if (!sparse_) sparse_.emplace(weight_, shape_);
    return {sparse_->send_back(gradient, height_, width_), at::Tensor(), at::Tensor()};
  }

  std::string name() const override { return "ConvolutionNode"; }

 private:
  std::shared_ptr<Node> original_;
  at::Tensor weight_;
  ConvolutionShape shape_;
  int64_t height_, width_;
  std::optional<SparseConvolution> sparse_;  // made when it is needed
};

bool is_one(int64_t size) { return size == 1; }

// libtorch's lists may hold one number for both sides.
int64_t side(const std::vector<int64_t>& sizes, size_t which) { return sizes.size() == 1 ? sizes[0] : sizes[which]; }

PoolShape shape_of(const Pooling& pooling) {
  // No stride means that of the kernel.
  const std::vector<int64_t>& stride = pooling.stride.empty() ? pooling.kernel_size : pooling.stride;
  return {side(pooling.kernel_size, 0), side(pooling.kernel_size, 1), side(stride, 0), side(stride, 1),
          side(pooling.padding, 0),     side(pooling.padding, 1)};
}

/// Nothing for what stays as it is.
std::shared_ptr<Node> faster_convolution(Convolution& convolution) {
  if (!convolution.next_edge(0).is_valid() || convolution.next_edges().size() != 3 || convolution.transposed ||
      convolution.groups != 1 || !std::all_of(convolution.dilation.begin(), convolution.dilation.end(), is_one))
    return nullptr;
  const at::Tensor images = convolution.input_.unpack(), weight = convolution.weight_.unpack().detach();
  if (images.dim() != 4 || !SparseConvolution::can_hold(weight)) return nullptr;
  const ConvolutionShape shape{side(convolution.stride, 0), side(convolution.stride, 1), side(convolution.padding, 0),
                               side(convolution.padding, 1)};
  return std::shared_ptr<Node>(new ConvolutionNode(convolution.shared_from_this(), images, weight, shape),
                               torch::autograd::deleteNode);
}

std::shared_ptr<Node> faster_pooling(Pooling& pooling, const Node* rectification) {
  const at::Tensor images = pooling.self_.unpack(), indices = pooling.result1_.unpack(pooling.shared_from_this());
  const PoolShape shape = shape_of(pooling);
  if (!std::all_of(pooling.dilation.begin(), pooling.dilation.end(), is_one) ||
      !PoolingOrigins::can_hold(images, indices, shape))
    return nullptr;
  edge_list below = rectification != nullptr ? rectification->next_edges() : pooling.next_edges();
  return std::shared_ptr<Node>(
      new PoolingNode(pooling, std::move(below), images.detach(), indices, shape, rectification != nullptr),
      torch::autograd::deleteNode);
}

}  // namespace

void use_faster_nodes(Node* root, edge_list& listened) {
  const std::vector<Node*> nodes = nodes_upwards(root);
  std::unordered_map<Node*, std::vector<Edge*>> uses;  // the edges that lead to a node
  for (Node* node : nodes)
    for (Edge& edge : node->next_edges())
      if (edge.is_valid()) uses[edge.function.get()].push_back(&edge);
  std::unordered_map<Node*, std::vector<Edge*>> heard;
  for (Edge& edge : listened) heard[edge.function.get()].push_back(&edge);

  std::vector<std::shared_ptr<Node>> replaced;  // alive until all edges are set
  for (Node* node : nodes) {
    if (node == root || !has_no_hooks(*node)) continue;
    std::shared_ptr<Node> faster;
    if (auto* convolution = dynamic_cast<Convolution*>(node)) {
      faster = faster_convolution(*convolution);
    } else if (auto* pooling = dynamic_cast<Pooling*>(node); pooling != nullptr && heard.count(node) == 0) {
      Node* before = pooling->next_edge(0).function.get();
      const bool rectified = dynamic_cast<Rectification*>(before) != nullptr && has_no_hooks(*before) &&
                             heard.count(before) == 0 && uses[before].size() == 1;
      faster = faster_pooling(*pooling, rectified ? before : nullptr);
    }
    if (!faster) continue;
    replaced.push_back(node->shared_from_this());
    for (Edge* edge : uses[node]) *edge = Edge(faster, edge->input_nr);
    if (const auto ears = heard.find(node); ears != heard.end())
      for (Edge* edge : ears->second) *edge = Edge(faster, edge->input_nr);
  }
}

}  // namespace ockham
