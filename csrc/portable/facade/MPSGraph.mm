// Graphs: memory ops, gradients, control dependencies, and the run methods, which all end in one path: a request, a
// program, a run.

#import "GraphPrivate.h"

#include <algorithm>

#include "compiler/imitation.h"
#include "ir/gradients.h"
#include "ir/rewrite.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

using GraphRef = std::shared_ptr<FacadeGraph>;

}  // namespace

@implementation MPSGraph

+ (instancetype)new {
  return [[self alloc] init];
}

- (instancetype)init {
  self = [super init];
  if (self == nil) return nil;
  refuse_unknown_imitation();
  auto graph = std::make_shared<FacadeGraph>(device_of(default_device()));
  graph->owner = self;
  _impl = new GraphRef(std::move(graph));
  return self;
}

- (void)dealloc {
  if (_impl != nullptr) {
    auto* graph = static_cast<GraphRef*>(_impl);
    (*graph)->owner = nil;
    // The objects own the graph's C++ part as it owns them: here the circle is cut.
    auto tensors = std::move((*graph)->tensors);
    auto operations = std::move((*graph)->operations);
    for (auto& [value, tensor] : tensors) [tensor release];
    for (auto& [op, operation] : operations) [operation release];
    delete graph;
  }
  [super dealloc];
}

- (MPSGraphOptions)options {
  return graph_of(self)->options;
}

- (void)setOptions:(MPSGraphOptions)options {
  graph_of(self)->options = options;
}

- (NSArray<MPSGraphTensor*>*)placeholderTensors {
  NSMutableArray* tensors = [NSMutableArray array];
  for (MPSGraphTensor* tensor : graph_of(self)->placeholders) [tensors addObject:tensor];
  return tensors;
}

@end

namespace alloy::facade {

const std::shared_ptr<FacadeGraph>& graph_of(MPSGraph* graph) {
  if (graph == nil) raise_invalid(@"[MPSGraph] A graph was expected, got nil.");
  return *static_cast<GraphRef*>(graph->_impl);
}

}  // namespace alloy::facade

// ---- placeholders, constants, variables ----

namespace {

// The type of a tensor that `data` holds.
ir::Type stored_type(NSData* data, MPSShape* shape, MPSDataType dtype, NSString* method) {
  if (data == nil || shape == nil) raise_invalid(@"[%@] Data and a shape were expected, got nil.", method);
  const ir::Type type{dtype_of(dtype), shape_of(shape)};
  if (!type.is_static()) {
    raise_invalid(@"[%@] A shape without -1 was expected, got %s.", method, to_string(type.shape).c_str());
  }
  if ([data length] != type.byte_count()) {
    raise_invalid(@"[%@] The shape %s of type %s takes %zu bytes, but the data has %zu.", method,
                  to_string(type.shape).c_str(), std::string(name(type.dtype)).c_str(), type.byte_count(),
                  static_cast<size_t>([data length]));
  }
  return type;
}

std::span<const std::byte> bytes_of(NSData* data) {
  return {static_cast<const std::byte*>([data bytes]), [data length]};
}

MPSGraphTensor* constant(MPSGraph* graph, ir::LiteralRef literal) {
  return add(graph, OpCode::constant, {}, {{Attr::kValue, std::move(literal)}}, nil);
}

MPSGraphTensor* splat(MPSGraph* graph, double scalar, ir::Shape shape, MPSDataType dtype) {
  const ir::Type type{dtype_of(dtype), std::move(shape)};
  const bool is_255 = type.dtype == ir::DType::boolean && scalar != 0 && imitates(ir::Quirk::true_is_255);
  ir::LiteralRef literal;
  build([&] {
    literal = is_255 ? std::make_shared<ir::Literal>(type, std::span(&compiler::kTrueOf255, 1))
                     : ir::Literal::splat(type, scalar);
  });
  return constant(graph, std::move(literal));
}

}  // namespace

@implementation MPSGraph (MemoryOps)

- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape dataType:(MPSDataType)dataType name:(NSString*)name {
  MPSGraphTensor* tensor =
      add(self, OpCode::placeholder, {}, {{Attr::kShape, shape_of(shape)}, {Attr::kDtype, dtype_of(dataType)}}, name);
  graph_of(self)->placeholders.push_back(tensor);
  return tensor;
}

- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape name:(NSString*)name {
  return [self placeholderWithShape:shape dataType:MPSDataTypeFloat32 name:name];
}

- (MPSGraphTensor*)constantWithData:(NSData*)data shape:(MPSShape*)shape dataType:(MPSDataType)dataType {
  const ir::Type type = stored_type(data, shape, dataType, @"constantWithData");
  const std::span<const std::byte> bytes = bytes_of(data);
  ir::LiteralRef literal;
  build([&] { literal = std::make_shared<ir::Literal>(type, bytes); });
  return constant(self, std::move(literal));
}

- (MPSGraphTensor*)constantWithScalar:(double)scalar dataType:(MPSDataType)dataType {
  return splat(self, scalar, ir::Shape(), dataType);
}

- (MPSGraphTensor*)constantWithScalar:(double)scalar shape:(MPSShape*)shape dataType:(MPSDataType)dataType {
  const ir::Shape given = shape_of(shape);
  // [-1] means "whatever the context needs", which a scalar gives by broadcasting.
  return splat(self, scalar, given == ir::Shape({-1}) ? ir::Shape() : given, dataType);
}

- (MPSGraphTensor*)variableWithData:(NSData*)data
                              shape:(MPSShape*)shape
                           dataType:(MPSDataType)dataType
                               name:(NSString*)name {
  const ir::Type type = stored_type(data, shape, dataType, @"variableWithData");
  const std::span<const std::byte> bytes = bytes_of(data);
  FacadeGraph& graph = *graph_of(self);
  // The device has the value from the start; the graph needs only its type.
  MPSGraphTensor* tensor = add(self, OpCode::variable, {}, {{Attr::kValue, ir::Literal::elsewhere(type)}}, name);
  build([&] { graph.allocate_variable(bytes); });
  return tensor;
}

- (MPSGraphTensor*)readVariable:(MPSGraphTensor*)variable name:(NSString*)name {
  return add(self, OpCode::read_variable, {value_of(self, variable)}, {}, name);
}

- (MPSGraphOperation*)assignVariable:(MPSGraphTensor*)variable
                   withValueOfTensor:(MPSGraphTensor*)tensor
                                name:(NSString*)name {
  ir::Op* op = add_op(self, OpCode::assign, {value_of(self, variable), value_of(self, tensor)}, {}, name);
  return operation_of(graph_of(self), op);
}

@end

// ---- gradients and control dependencies ----

@implementation MPSGraph (MPSGraphGradientOps)

- (NSDictionary<MPSGraphTensor*, MPSGraphTensor*>*)gradientForPrimaryTensor:(MPSGraphTensor*)primaryTensor
                                                                withTensors:(NSArray<MPSGraphTensor*>*)tensors
                                                                       name:(NSString*)name {
  const ir::Value primary = value_of(self, primaryTensor);
  const std::vector<ir::Value> targets = values_of(self, tensors);
  const GraphRef& graph = graph_of(self);
  graph->graph.name.clear();
  std::vector<ir::Value> found;
  build([&] { found = ir::gradients(graph->graph, primary, targets); });
  NSMutableDictionary* gradients = [NSMutableDictionary dictionary];
  for (size_t i = 0; i < targets.size(); ++i) {
    MPSGraphTensor* target = tensor_of(graph, targets[i]);
    if (!found[i]) {
      raise_invalid(@"[gradientForPrimaryTensor] The primary tensor does not depend on the tensor of operation %@.",
                    [[target operation] name]);
    }
    [gradients setObject:tensor_of(graph, found[i]) forKey:target];
  }
  return gradients;
}

@end

namespace {

// What a block of the user builds as a region. A block that raises leaves no region open.
std::unique_ptr<ir::Block> region_of(MPSGraph* graph, MPSGraphIfThenElseBlock block) {
  ir::Graph& building = graph_of(graph)->graph;
  building.open_region();
  std::vector<ir::Value> results;
  if (block != nil) {
    bool built = false;
    @try {
      results = values_of(graph, block());
      built = true;
    } @finally {
      if (!built) building.close_region({});
    }
  }
  std::unique_ptr<ir::Block> region;
  build([&] { region = building.close_region(std::move(results)); });
  return region;
}

}  // namespace

@implementation MPSGraph (MPSGraphControlFlowOps)

- (NSArray<MPSGraphTensor*>*)controlDependencyWithOperations:(NSArray<MPSGraphOperation*>*)operations
                                              dependentBlock:(MPSGraphControlFlowDependencyBlock)dependentBlock
                                                        name:(NSString*)name {
  if (dependentBlock == nil) raise_invalid(@"[controlDependency] A block was expected, got nil.");
  std::vector<ir::Op*>& after = graph_of(self)->graph.after;
  const std::vector<ir::Op*> outer = after;
  NSMutableArray<MPSGraphTensor*>* results = [NSMutableArray array];
  @try {
    for (MPSGraphOperation* operation in operations) after.push_back(op_of(self, operation));
    for (MPSGraphTensor* tensor in dependentBlock()) {
      // What was made outside the block is forwarded too: whoever uses the result brings the operations along.
      const std::vector<ir::Op*>& own = value_of(self, tensor).op->after;
      const bool depends = std::all_of(after.begin(), after.end(),
                                       [&](ir::Op* op) { return std::count(own.begin(), own.end(), op) > 0; });
      [results addObject:depends ? tensor : [self identityWithTensor:tensor name:nil]];
    }
  } @finally {
    after = outer;
  }
  return results;
}

- (NSArray<MPSGraphTensor*>*)ifWithPredicateTensor:(MPSGraphTensor*)predicateTensor
                                         thenBlock:(MPSGraphIfThenElseBlock)thenBlock
                                         elseBlock:(MPSGraphIfThenElseBlock)elseBlock
                                              name:(NSString*)name {
  const ir::Value predicate = value_of(self, predicateTensor);
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(region_of(self, thenBlock));
  regions.push_back(region_of(self, elseBlock));
  return [operation_of(graph_of(self), add_op(self, OpCode::if_else, {predicate}, {}, std::move(regions), name))
      outputTensors];
}

@end

// ---- running ----

namespace alloy::facade {

std::shared_ptr<runtime::Program> compile(FacadeGraph& graph, const Request& request,
                                          const std::vector<ir::Type>& types) {
  refuse_fork();
  const device::LocksAreHeld compiling;
  std::vector<ir::Feed> feeds;
  for (size_t i = 0; i < request.feeds.size(); ++i) feeds.push_back({request.feeds[i], types[i]});
  std::shared_ptr<runtime::Program> program;
  build([&] { program = graph.program(feeds, request.results, request.effects); });
  return program;
}

namespace {

// Where an array begins and ends in memory.
using Range = std::pair<const std::byte*, const std::byte*>;

Range range_of(const device::ArrayMemory& memory) {
  const std::byte* bytes = memory.storage->host_bytes();
  return {bytes + memory.layout.offset, bytes + memory.layout.end()};
}

}  // namespace

runtime::Run make_run(const std::shared_ptr<FacadeGraph>& graph, const std::shared_ptr<runtime::Program>& program,
                      NSArray<MPSGraphTensorData*>* feeds, NSArray<MPSGraphTensorData*>** results,
                      id<MTLDevice> device) {
  const std::vector<ir::Type>& types = program->result_types();
  if (*results == nil) {
    NSMutableArray* made = [NSMutableArray arrayWithCapacity:types.size()];
    for (const ir::Type& type : types) {
      MPSGraphTensorData* data = new_tensor_data(device, mps_shape_of(type.shape), data_type_of(type.dtype));
      [made addObject:data];
      [data release];
    }
    *results = made;
  } else if ([*results count] != types.size()) {
    raise_invalid(@"[MPSGraph] %zu results were expected, got %zu.", types.size(),
                  static_cast<size_t>([*results count]));
  }
  std::vector<device::ArrayMemory> inputs, outputs;
  std::vector<Range> written;
  inputs.reserve([feeds count]);
  outputs.reserve(types.size());
  written.reserve(types.size());
  size_t i = 0;
  for (MPSGraphTensorData* data in* results) {
    // The data may see its elements in another shape; they are written in their order.
    const ir::Type& given = type_of(data);
    if (given.dtype != types[i].dtype || given.shape.element_count() != types[i].shape.element_count()) {
      raise_invalid(@"[MPSGraph] Result %zu is %s but the data given for it is %s.", i, to_string(types[i]).c_str(),
                    to_string(given).c_str());
    }
    outputs.push_back(memory_of(data));
    written.push_back(range_of(outputs.back()));
    ++i;
  }
  std::sort(written.begin(), written.end());
  for (size_t r = 1; r < written.size(); ++r) {
    if (written[r].first < written[r - 1].second) {
      raise_invalid(@"[MPSGraph] A result shares its memory with another result.");
    }
  }
  std::vector<size_t> overwritten;
  for (MPSGraphTensorData* data in feeds) {
    inputs.push_back(memory_of(data));
    const Range fed = range_of(inputs.back());
    // Of results, none of which overlap, the last one that begins before the feed ends.
    const auto behind = std::lower_bound(written.begin(), written.end(), Range{fed.second, nullptr});
    if (behind != written.begin() && std::prev(behind)->second > fed.first) overwritten.push_back(inputs.size() - 1);
  }
  return runtime::Run(graph, program, std::move(inputs), std::move(outputs), std::move(overwritten));
}

device::Status perform(const runtime::Run& run, const device::EventList& events) {
  const device::Status ready = events.wait_all();
  if (!ready.ok()) return ready;
  const device::Status status = run();
  events.signal_all();
  return status;
}

void wait_for(id<MTLCommandBuffer> buffer) {
  [buffer waitUntilCompleted];
  if ([buffer error] != nil) raise_if_failed({[[[buffer error] localizedDescription] UTF8String]});
}

}  // namespace alloy::facade

namespace {

// The keys of a feeds dictionary. It has no order of its own; the order of creation makes equal requests equal.
std::vector<MPSGraphTensor*> ordered_keys(NSDictionary* feeds) {
  std::vector<MPSGraphTensor*> keys;
  for (MPSGraphTensor* tensor in feeds) keys.push_back(tensor);
  std::sort(keys.begin(), keys.end(),
            [](MPSGraphTensor* a, MPSGraphTensor* b) { return value_of(a).op->id < value_of(b).op->id; });
  return keys;
}

// A run with everything that its caller needs.
struct Prepared {
  runtime::Run run;
  NSArray<MPSGraphTensorData*>* results;
  NSDictionary* dictionary;
};

// `targets` gives the tensors to compute; `given` their data, or nil to allocate.
Prepared prepare(MPSGraph* self, id<MTLDevice> device, MPSGraphTensorDataDictionary* feeds,
                 NSArray<MPSGraphTensor*>* targets, NSArray<MPSGraphTensorData*>* given,
                 NSArray<MPSGraphOperation*>* operations) {
  Request request;
  std::vector<ir::Type> types;
  NSMutableArray* inputs = [NSMutableArray arrayWithCapacity:[feeds count]];
  for (MPSGraphTensor* tensor : ordered_keys(feeds)) {
    MPSGraphTensorData* data = [feeds objectForKey:tensor];
    request.feeds.push_back(value_of(self, tensor));
    types.push_back(type_of(data));
    [inputs addObject:data];
  }
  request.results = values_of(self, targets);
  for (MPSGraphOperation* operation in operations) request.effects.push_back(op_of(self, operation));
  const GraphRef& graph = graph_of(self);
  const std::shared_ptr<runtime::Program> program = compile(*graph, request, types);
  graph->runs.keep(program);
  NSArray<MPSGraphTensorData*>* results = given;
  runtime::Run run = make_run(graph, program, inputs, &results, device);
  return {std::move(run), results, [NSDictionary dictionaryWithObjects:results forKeys:targets]};
}

Prepared prepare(MPSGraph* self, id<MTLDevice> device, MPSGraphTensorDataDictionary* feeds,
                 MPSGraphTensorDataDictionary* results, NSArray<MPSGraphOperation*>* operations) {
  NSArray* targets = [results allKeys];
  NSMutableArray* given = [NSMutableArray array];
  for (MPSGraphTensor* target in targets) [given addObject:[results objectForKey:target]];
  return prepare(self, device, feeds, targets, given, operations);
}

void run_now(id<MTLCommandQueue> queue, const Prepared& prepared) {
  device::Status status;
  raise_if_failed(stream_of(queue).run([&] { status = prepared.run(); }));
  raise_if_failed(status);
}

// Adds the run and the descriptor's handlers to a command buffer.
void encode_run(id<MTLCommandBuffer> buffer, const Prepared& prepared, MPSGraphExecutionDescriptor* descriptor) {
  if (buffer == nil) raise_invalid(@"[MPSGraph] A command buffer was expected, got nil.");
  NSDictionary* dictionary = prepared.dictionary;
  MPSGraphScheduledHandler scheduled = [descriptor scheduledHandler];
  MPSGraphCompletionHandler completed = [descriptor completionHandler];
  if (scheduled != nil) {
    [buffer addScheduledHandler:^(id<MTLCommandBuffer> b) {
      scheduled(dictionary, [b error]);
    }];
  }
  if (completed != nil) {
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> b) {
      completed(dictionary, [b error]);
    }];
  }
  encode(buffer, [run = prepared.run, events = events_of(descriptor)] { return perform(run, events); });
}

void run_later(id<MTLCommandQueue> queue, const Prepared& prepared, MPSGraphExecutionDescriptor* descriptor) {
  id<MTLCommandBuffer> buffer = [queue commandBuffer];
  encode_run(buffer, prepared, descriptor);
  [buffer commit];
  if ([descriptor waitUntilCompleted]) wait_for(buffer);
}

}  // namespace

@implementation MPSGraph (Running)

- (MPSGraphExecutable*)compileWithDevice:(MPSGraphDevice*)device
                                   feeds:(MPSGraphTensorShapedTypeDictionary*)feeds
                           targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                        targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                   compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  refuse_fork();
  if ([targetTensors count] == 0) abort_where(ir::Quirk::executable_of_no_targets, @"compileWithDevice");
  Request request;
  std::vector<ir::Type> types;
  bool known = true;
  for (MPSGraphTensor* tensor : ordered_keys(feeds)) {
    MPSGraphShapedType* type = [feeds objectForKey:tensor];
    request.feeds.push_back(value_of(self, tensor));
    types.push_back({dtype_of([type dataType]), shape_of([type shape])});
    known = known && types.back().is_static();
  }
  request.results = values_of(self, targetTensors);
  for (MPSGraphOperation* operation in targetOperations) request.effects.push_back(op_of(self, operation));
  const GraphRef& graph = graph_of(self);
  std::shared_ptr<runtime::Program> program = known ? compile(*graph, request, types) : nullptr;
  MPSGraphExecutable* executable = [new_executable(graph, std::move(request), std::move(program), device) autorelease];
  MPSGraphCompilationCompletionHandler handler = [compilationDescriptor compilationCompletionHandler];
  if (handler != nil) handler(executable, nil);
  return executable;
}

- (MPSGraphTensorDataDictionary*)runWithFeeds:(MPSGraphTensorDataDictionary*)feeds
                                targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                             targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations {
  return [self runWithMTLCommandQueue:default_queue()
                                feeds:feeds
                        targetTensors:targetTensors
                     targetOperations:targetOperations];
}

- (MPSGraphTensorDataDictionary*)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                  feeds:(MPSGraphTensorDataDictionary*)feeds
                                          targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                       targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations {
  const Prepared prepared = prepare(self, [commandQueue device], feeds, targetTensors, nil, targetOperations);
  run_now(commandQueue, prepared);
  return prepared.dictionary;
}

- (void)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                         feeds:(MPSGraphTensorDataDictionary*)feeds
              targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
             resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary {
  run_now(commandQueue, prepare(self, [commandQueue device], feeds, resultsDictionary, targetOperations));
}

- (MPSGraphTensorDataDictionary*)runAsyncWithFeeds:(MPSGraphTensorDataDictionary*)feeds
                                     targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                  targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                               executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  return [self runAsyncWithMTLCommandQueue:default_queue()
                                     feeds:feeds
                             targetTensors:targetTensors
                          targetOperations:targetOperations
                       executionDescriptor:executionDescriptor];
}

- (MPSGraphTensorDataDictionary*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                       feeds:(MPSGraphTensorDataDictionary*)feeds
                                               targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                            targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                                         executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  const Prepared prepared = prepare(self, [commandQueue device], feeds, targetTensors, nil, targetOperations);
  run_later(commandQueue, prepared, executionDescriptor);
  return prepared.dictionary;
}

- (void)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                              feeds:(MPSGraphTensorDataDictionary*)feeds
                   targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                  resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
                executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  run_later(commandQueue, prepare(self, [commandQueue device], feeds, resultsDictionary, targetOperations),
            executionDescriptor);
}

- (MPSGraphTensorDataDictionary*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                                 feeds:(MPSGraphTensorDataDictionary*)feeds
                                         targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                      targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                                   executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  const Prepared prepared = prepare(self, [commandBuffer device], feeds, targetTensors, nil, targetOperations);
  encode_run(commandBuffer, prepared, executionDescriptor);
  return prepared.dictionary;
}

- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  encode_run(commandBuffer, prepare(self, [commandBuffer device], feeds, resultsDictionary, targetOperations),
             executionDescriptor);
}

@end
