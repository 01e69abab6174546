// The run methods of graphs. All do the same: make a request, find its program, run it.

#include <algorithm>

#include "facade/graph/running.h"
#include "facade/graph/types.h"
#include "facade/imitation.h"
#include "ir/transform/walk.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

namespace {

// The keys of a feeds dictionary with values of that class, in the order of their creation: so equal requests are
// equal.
std::vector<MPSGraphTensor*> ordered_keys(NSDictionary* feeds, Class values) {
  require_kind_or_nil(feeds, [NSDictionary class]);
  require_elements([feeds allKeys], [MPSGraphTensor class]);
  require_elements([feeds allValues], values);
  std::vector<MPSGraphTensor*> keys;
  for (MPSGraphTensor* tensor in feeds) keys.push_back(tensor);
  std::sort(keys.begin(), keys.end(),
            [](MPSGraphTensor* a, MPSGraphTensor* b) { return value_of(a).op->id < value_of(b).op->id; });
  return keys;
}

// The placeholders that an executable takes, in its order; the request has no feeds yet.
std::vector<MPSGraphTensor*> taken_keys(NSDictionary* feeds, const Request& request) {
  std::vector<MPSGraphTensor*> keys = ordered_keys(feeds, [MPSGraphShapedType class]);
  if (!imitates(ir::Quirk::unused_feed)) return keys;
  const std::vector<ir::Op*> needed = ir::live_ops(request.results, request.effects);
  std::erase_if(keys, [&](MPSGraphTensor* key) {
    return std::find(needed.begin(), needed.end(), value_of(key).op) == needed.end();
  });
  return keys;
}

using GraphRun = Prepared<MPSGraphTensorDataDictionary>;

// Prepares a run. `targets` are the tensors to compute, `given` is their tensor data, or nil to allocate it.
// `descriptor`, which may be nil, holds the executables that the graph may call.
GraphRun prepare(MPSGraph* self, id<MTLDevice> device, MPSGraphTensorDataDictionary* feeds,
                 NSArray<MPSGraphTensor*>* targets, NSArray<MPSGraphTensorData*>* given,
                 NSArray<MPSGraphOperation*>* operations, MPSGraphExecutionDescriptor* descriptor) {
  require_kind_or_nil(descriptor, [MPSGraphExecutionDescriptor class]);
  Request request;
  request.callables = callables_of([descriptor compilationDescriptor]);
  request.precision = precision_of([descriptor compilationDescriptor]);
  std::vector<ir::Type> types;
  NSMutableArray* inputs = [NSMutableArray array];
  for (MPSGraphTensor* tensor : ordered_keys(feeds, [MPSGraphTensorData class])) {
    MPSGraphTensorData* data = [feeds objectForKey:tensor];
    request.feeds.push_back(value_of(self, tensor));
    types.push_back(fed_type(request.feeds.back(), data));
    [inputs addObject:data];
  }
  request.results = values_of(self, targets);
  require_elements(operations, [MPSGraphOperation class]);
  for (MPSGraphOperation* operation in operations) request.effects.push_back(op_of(self, operation));
  const GraphRef& graph = graph_of(self);
  const std::shared_ptr<runtime::Program> program = compile(*graph, device, request, types);
  graph->runs.keep(program);
  NSArray<MPSGraphTensorData*>* results = given;
  runtime::Run run = make_run(graph, program, inputs, &results, device);
  return {std::move(run), [NSDictionary dictionaryWithObjects:results forKeys:targets]};
}

GraphRun prepare(MPSGraph* self, id<MTLDevice> device, MPSGraphTensorDataDictionary* feeds,
                 MPSGraphTensorDataDictionary* results, NSArray<MPSGraphOperation*>* operations,
                 MPSGraphExecutionDescriptor* descriptor) {
  require_kind(results, [NSDictionary class]);
  NSArray* targets = [results allKeys];
  NSMutableArray* given = [NSMutableArray array];
  for (MPSGraphTensor* target in targets) [given addObject:[results objectForKey:target]];
  return prepare(self, device, feeds, targets, given, operations, descriptor);
}

void run_sync(id<MTLCommandQueue> queue, const GraphRun& prepared) {
  facade::raise_if_failed(facade::run_now(queue, prepared.run, host::EventList()));
}

MPSGraphTensorDataDictionary* encode_into(id<MTLCommandBuffer> buffer, GraphRun prepared,
                                          MPSGraphExecutionDescriptor* descriptor) {
  encode_run(buffer, std::move(prepared.run), prepared.results, descriptor);
  return prepared.results;
}

MPSGraphTensorDataDictionary* run_async(id<MTLCommandQueue> queue, GraphRun prepared,
                                        MPSGraphExecutionDescriptor* descriptor) {
  if ([descriptor scheduledHandler] == nil && ![descriptor waitUntilCompleted]) {
    commit_run(queue, std::move(prepared.run), prepared.results, descriptor);
    return prepared.results;
  }
  id<MTLCommandBuffer> buffer = [queue commandBuffer];
  MPSGraphTensorDataDictionary* results = encode_into(buffer, std::move(prepared), descriptor);
  [buffer commit];
  if ([descriptor waitUntilCompleted]) {
    [buffer waitUntilCompleted];
    require_success(buffer, [descriptor completionHandler] != nil);
  }
  return results;
}

}  // namespace

@implementation MPSGraph (Running)

- (MPSGraphExecutable*)compileWithDevice:(MPSGraphDevice*)device
                                   feeds:(MPSGraphTensorShapedTypeDictionary*)feeds
                           targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                        targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                   compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  refuse_fork();
  require_kind_or_nil(device, [MPSGraphDevice class]);
  require_elements(targetTensors, [MPSGraphTensor class]);
  if ([targetTensors count] == 0) abort_where(ir::Quirk::executable_of_no_targets, @"compileWithDevice");
  Request request;
  std::vector<ir::Type> types;
  bool known = true;
  request.results = values_of(self, targetTensors);
  request.callables = callables_of(compilationDescriptor);
  request.precision = precision_of(compilationDescriptor);
  require_elements(targetOperations, [MPSGraphOperation class]);
  for (MPSGraphOperation* operation in targetOperations) request.effects.push_back(op_of(self, operation));
  for (MPSGraphTensor* tensor : taken_keys(feeds, request)) {
    MPSGraphShapedType* type = [feeds objectForKey:tensor];
    request.feeds.push_back(value_of(self, tensor));
    types.push_back({dtype_of([type dataType]), shape_or_unranked([type shape])});
    known = known && types.back().is_static();
  }
  const GraphRef& graph = graph_of(self);
  id<MTLDevice> metal = device == nil ? default_device() : [device metalDevice];
  std::shared_ptr<runtime::Program> program = known ? compile(*graph, metal, request, types) : nullptr;
  MPSGraphExecutable* executable = [new_executable(graph, std::move(request), std::move(program), metal) autorelease];
  MPSGraphCompilationCompletionHandler handler = [compilationDescriptor compilationCompletionHandler];
  if (handler != nil) handler(executable, nil);
  return executable;
}

FORWARD(MPSGraphTensorDataDictionary*, takes(runWithFeeds), sends(runWithMTLCommandQueue, default_queue()),
        sends(feeds, runWithFeeds), passes(targetTensors), passes(targetOperations))

- (MPSGraphTensorDataDictionary*)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                  feeds:(MPSGraphTensorDataDictionary*)feeds
                                          targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                       targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations {
  const GraphRun prepared = prepare(self, owner_of(commandQueue), feeds, targetTensors, nil, targetOperations, nil);
  run_sync(commandQueue, prepared);
  return prepared.results;
}

- (void)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                         feeds:(MPSGraphTensorDataDictionary*)feeds
              targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
             resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary {
  run_sync(commandQueue, prepare(self, owner_of(commandQueue), feeds, resultsDictionary, targetOperations, nil));
}

FORWARD(MPSGraphTensorDataDictionary*, takes(runAsyncWithFeeds), sends(runAsyncWithMTLCommandQueue, default_queue()),
        sends(feeds, runAsyncWithFeeds), passes(targetTensors), passes(targetOperations), passes(executionDescriptor))

- (MPSGraphTensorDataDictionary*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                       feeds:(MPSGraphTensorDataDictionary*)feeds
                                               targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                            targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                                         executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  return run_async(
      commandQueue,
      prepare(self, owner_of(commandQueue), feeds, targetTensors, nil, targetOperations, executionDescriptor),
      executionDescriptor);
}

- (void)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                              feeds:(MPSGraphTensorDataDictionary*)feeds
                   targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                  resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
                executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  run_async(commandQueue,
            prepare(self, owner_of(commandQueue), feeds, resultsDictionary, targetOperations, executionDescriptor),
            executionDescriptor);
}

- (MPSGraphTensorDataDictionary*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                                 feeds:(MPSGraphTensorDataDictionary*)feeds
                                         targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                      targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
                                   executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  return encode_into(
      commandBuffer,
      prepare(self, owner_of(commandBuffer), feeds, targetTensors, nil, targetOperations, executionDescriptor),
      executionDescriptor);
}

- (void)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                        feeds:(MPSGraphTensorDataDictionary*)feeds
             targetOperations:(NSArray<MPSGraphOperation*>*)targetOperations
            resultsDictionary:(MPSGraphTensorDataDictionary*)resultsDictionary
          executionDescriptor:(MPSGraphExecutionDescriptor*)executionDescriptor {
  encode_into(commandBuffer,
              prepare(self, owner_of(commandBuffer), feeds, resultsDictionary, targetOperations, executionDescriptor),
              executionDescriptor);
}

@end
