#include "engine/executable.h"

#include <algorithm>

#import "engine/graph_impl.h"

namespace alloy::engine {
namespace {

using Array = Ref<MPSNDArray*>;

Array new_array(const ir::Type& type) {
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:mps_type(type.dtype) shape:mps_shape(type.shape)];
  return Array::adopt([[MPSNDArray alloc] initWithDevice:metal_device() descriptor:descriptor]);
}

// One tensor data per array, in the order that `positions` gives the arrays.
Ref<NSArray*> tensor_data(const std::vector<Array>& arrays, const std::vector<size_t>& positions) {
  NSMutableArray* list = [NSMutableArray arrayWithCapacity:arrays.size()];
  for (size_t i : positions) {
    const auto data = Ref<MPSGraphTensorData*>::adopt([[MPSGraphTensorData alloc] initWithMPSNDArray:arrays[i].get()]);
    [list addObject:data.get()];
  }
  return Ref<NSArray*>::retain(list);
}

// Whether the op only moves elements, which every type allows.
bool moves(const ir::Op& op) {
  switch (op.code) {
    case ir::OpCode::placeholder:
    case ir::OpCode::constant:
    case ir::OpCode::variable:
    case ir::OpCode::read_variable:
    case ir::OpCode::assign:
    case ir::OpCode::identity:
    case ir::OpCode::stop_gradient:
    case ir::OpCode::reshape:
    case ir::OpCode::reshape_like:
    case ir::OpCode::squeeze:
    case ir::OpCode::expand_dims: return true;
    default: return false;
  }
}

// The framework aborts on what it cannot hold: a type that is not static, or a tensor without elements.
void require_computable(const ir::Graph& graph) {
  for (const auto& op : graph.body().ops) {
    for (const ir::Value& v : op->operands) {
      if (!moves(*op) && !ir::computes(v.dtype())) op->fail("Computing with " + to_string(v.type()) + " is not available", ir::Error::Kind::kType);
    }
    for (const ir::Type& type : op->results) {
      if (!moves(*op) && !ir::computes(type.dtype)) op->fail("Computing " + to_string(type) + " is not available", ir::Error::Kind::kType);
      if (!type.is_static()) op->fail("The shape " + to_string(type.shape) + " is not known");
      if (type.shape.element_count() == 0) op->fail("The shape " + to_string(type.shape) + " has no elements; at least one was expected");
    }
  }
}

// For each tensor of the executable's own order, its position in ours.
std::vector<size_t> positions(NSArray<MPSGraphTensor*>* order, const std::vector<MPSGraphTensor*>& ours) {
  std::vector<size_t> out;
  for (MPSGraphTensor* tensor in order) {
    out.push_back(static_cast<size_t>(std::find(ours.begin(), ours.end(), tensor) - ours.begin()));
  }
  return out;
}

}  // namespace

struct Compiled::Impl {
  Graph::Impl& graph;
  Ref<MPSGraphExecutable*> executable;
  std::vector<Array> feeds, results;             // in our order
  std::vector<size_t> feed_bytes, result_bytes;
  Ref<NSArray*> feed_data, result_data;          // in the executable's order
};

Compiled::Compiled(Graph& graph, const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates) {
  const ir::Specialized special = ir::specialize(feeds, fetches, updates);
  require_computable(*special.graph);
  for (const ir::Value& v : special.graph->body().results) result_types_.push_back(v.type());
  on_device([&] {
    Graph::Impl& own = graph.impl();
    MPSGraph* framework = own.graph.get();
    Lowering lowering(framework, own.variables);
    lowering.lower(*special.graph);
    impl_.reset(new Impl{own, {}, {}, {}, {}, {}, {}, {}});
    std::vector<MPSGraphTensor*> fed, fetched;
    NSMutableDictionary* types = [NSMutableDictionary dictionary];
    for (size_t i = 0; i < feeds.size(); ++i) {
      const ir::Type& type = feeds[i].type;
      MPSGraphTensor* tensor = lowering.tensor(special.feeds[i]);
      const auto shaped = Ref<MPSGraphShapedType*>::adopt([[MPSGraphShapedType alloc] initWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype)]);
      [types setObject:shaped.get() forKey:tensor];
      fed.push_back(tensor);
      impl_->feeds.push_back(new_array(type));
      impl_->feed_bytes.push_back(type.byte_count());
    }
    NSMutableArray* targets = [NSMutableArray array];
    for (size_t i = 0; i < result_types_.size(); ++i) {
      // A copy of its own for every fetch: the framework need not accept a placeholder, a variable or one tensor twice as a target.
      MPSGraphTensor* tensor = [framework identityWithTensor:lowering.tensor(special.graph->body().results[i]) name:nil];
      [targets addObject:tensor];
      fetched.push_back(tensor);
      impl_->results.push_back(new_array(result_types_[i]));
      impl_->result_bytes.push_back(result_types_[i].byte_count());
    }
    NSMutableArray* operations = [NSMutableArray array];
    for (const ir::Op* op : special.graph->body().effects) [operations addObject:lowering.operation(op)];
    MPSGraphExecutable* executable = [framework compileWithDevice:graph_device()
                                                            feeds:types
                                                    targetTensors:targets
                                                 targetOperations:operations
                                            compilationDescriptor:nil];
    impl_->executable = Ref<MPSGraphExecutable*>::retain(executable);
    impl_->feed_data = tensor_data(impl_->feeds, positions([executable feedTensors], fed));
    impl_->result_data = tensor_data(impl_->results, positions([executable targetTensors], fetched));
  });
  ++counters().compilations;
}

Compiled::~Compiled() = default;

void Compiled::run(const void* const* feeds, void* const* results) {
  std::lock_guard lock(impl_->graph.running);
  on_device([&] {
    for (size_t i = 0; i < impl_->feeds.size(); ++i) {
      [impl_->feeds[i].get() writeBytes:const_cast<void*>(feeds[i]) strideBytes:nil];
      counters().bytes_to_device += impl_->feed_bytes[i];
    }
    [impl_->executable.get() runWithMTLCommandQueue:impl_->graph.queue.get()
                                        inputsArray:impl_->feed_data.get()
                                       resultsArray:impl_->result_data.get()
                                executionDescriptor:nil];
    ++counters().dispatches;
    for (size_t i = 0; i < impl_->results.size(); ++i) {
      [impl_->results[i].get() readBytes:results[i] strideBytes:nil];
      counters().bytes_from_device += impl_->result_bytes[i];
    }
  });
}

Executable::Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches, std::vector<ir::Op*> updates)
    : graph_(std::move(graph)), feeds_(std::move(feeds)), fetches_(std::move(fetches)), updates_(std::move(updates)) {}

Compiled& Executable::specialize(const std::vector<ir::Shape>& shapes) {
  std::vector<ir::Dims> key;
  for (const ir::Shape& shape : shapes) key.push_back(shape.dims());
  std::lock_guard lock(graph_->impl().compiling);
  auto& compiled = compiled_[key];
  if (!compiled) {
    std::vector<ir::Feed> feeds;
    for (size_t i = 0; i < shapes.size(); ++i) feeds.push_back({feeds_[i], {feeds_[i].dtype(), shapes[i]}});
    compiled = std::make_unique<Compiled>(*graph_, feeds, fetches_, updates_);
  }
  return *compiled;
}

}  // namespace alloy::engine
