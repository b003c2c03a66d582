// Private to observe/: one recogniser per family of operators turns an operator record into a layer call.
#pragma once

#include <string>
#include <vector>

#include "ockham/observe/layer_call.h"
#include "ockham/observe/operator_recorder.h"

namespace ockham {

struct RecognisedCall {
  LayerCall call;
  torch::autograd::Edge output_edge;
  std::vector<at::Tensor> inputs;  // whose values the call needs later ...
  std::vector<uint32_t> versions;  // ... and their version counters when they were recorded
};

/// What a recogniser sees.
struct RecogniseContext {
  const OperatorRecord& record;
  const ParameterLookup& lookup;
  int64_t examples;                      // N of the batch
  std::vector<RecognisedCall>& earlier;  // calls so far: an added bias joins the product it follows
};

/// True when it explained every parameter that the operator touched, and appended or completed a call.
using Recogniser = bool (*)(RecogniseContext& context);

struct NamedRecogniser {
  const char* name;
  Recogniser recognise;
};

/// linear, convolution, elementwise, normalisation, embedding.
const std::vector<NamedRecogniser>& recognisers();

bool recognise_linear(RecogniseContext& context);
bool recognise_convolution(RecogniseContext& context);
bool recognise_elementwise(RecogniseContext& context);
bool recognise_normalisation(RecogniseContext& context);
bool recognise_embedding(RecogniseContext& context);

/// Finds the dimension of `shape` that counts the examples: 0 or 1 when its size is N, else 0 when its size is a
/// multiple of N. -1 when there is none. Only the first `candidates` dimensions are considered, and only those where
/// `broadcast` (a parameter's shape at the same rank, or empty) is 1.
int64_t find_batch_dimension(const std::vector<int64_t>& shape, int64_t examples, size_t candidates,
                             const std::vector<int64_t>& broadcast = {});

/// Starts a call from a record: names, shapes, edges; remembers `inputs` for the check of later in-place changes.
RecognisedCall begin_call(const RecogniseContext& context, int64_t batch_dimension,
                          const std::vector<size_t>& input_arguments);

/// Argument access with the defaults of an absent one.
at::Tensor tensor_argument(const OperatorRecord& record, size_t position);  // undefined when None or absent
bool has_only(const OperatorRecord& record, const LayerCall& call);         // the call's uses are all that was touched

}  // namespace ockham
