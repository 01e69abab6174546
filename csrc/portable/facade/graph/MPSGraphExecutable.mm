// Executables: a request on a graph, compiled per concrete input types.

#include "facade/graph/running.h"
#include "facade/graph/types.h"
#include "ir/cost.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

@interface MPSGraphExecutable (AlloyDiagnostics)
// The bytes that a run takes, for callers that ask respondsToSelector:; nil before anything was compiled.
- (NSDictionary*)alloyMemoryPlan;
// Runs take the times of their kernels from now on, or no longer.
- (void)alloySetProfiling:(BOOL)on;
// One dictionary a kernel, in order: name, kind, shape, flops, bytes, total, begin, end; nil before anything was
// compiled.
- (NSArray*)alloyProfile;
@end

namespace {

struct ExecutableImpl {
  GraphRef graph;
  Request request;
  NSArray<MPSGraphTensor*>* feeds;    // retained
  NSArray<MPSGraphTensor*>* targets;  // retained
  id<MTLDevice> device;               // retained
  runtime::RecentPrograms programs;   // for the types of inputs that it was given
  std::atomic<MPSGraphOptions> options{MPSGraphOptionsDefault};
};

ExecutableImpl& impl_of(MPSGraphExecutable* executable);

NSNumber* bytes_of(const std::vector<ir::Type>& types) {
  size_t bytes = 0;
  for (const ir::Type& type : types) bytes += type.byte_count();
  return [NSNumber numberWithUnsignedLongLong:bytes];
}

// What computes a value: of a fused op the op in it.
const ir::Op& source_of(const ir::Value& value) {
  return value.op->code == ir::OpCode::fused ? *value.op->regions[0]->results[value.index].op : *value.op;
}

NSString* string_of(std::string_view text) { return [NSString stringWithUTF8String:std::string(text).c_str()]; }

// The program for inputs of these types.
std::shared_ptr<runtime::Program> program_for(ExecutableImpl& impl, const std::vector<ir::Type>& types) {
  if (types.size() != impl.request.feeds.size()) {
    raise_invalid(@"[MPSGraphExecutable] %zu inputs were expected, got %zu.", impl.request.feeds.size(), types.size());
  }
  refuse_fork();
  std::shared_ptr<runtime::Program> program = impl.programs.find(types);
  if (!program) impl.programs.keep(program = compile(*impl.graph, impl.device, impl.request, types));
  return program;
}

// An executable computes on the device that it was compiled for.
void require_device(const ExecutableImpl& impl, id<MTLDevice> device) {
  if (device == impl.device) return;
  raise_invalid(@"[MPSGraphExecutable] It was compiled for %@, but is to run on %@.", [impl.device name],
                [device name]);
}

std::vector<ir::Type> types_of(NSArray<MPSGraphType*>* inputs) {
  std::vector<ir::Type> types;
  for (MPSGraphShapedType* type in inputs) types.push_back({dtype_of([type dataType]), shape_of([type shape])});
  return types;
}

// Whether these inputs are what the program was compiled for, as in most runs.
bool takes(const runtime::Program& program, NSArray<MPSGraphTensorData*>* inputs) {
  const std::vector<ir::Type>& types = program.feed_types();
  if ([inputs count] != types.size()) return false;
  size_t i = 0;
  for (MPSGraphTensorData* data in inputs) {
    if (type_of(data) != types[i++]) return false;
  }
  return true;
}

// `device`: of the queue that is to run it.
Prepared<NSArray<MPSGraphTensorData*>> prepare(ExecutableImpl& impl, id<MTLDevice> device,
                                               NSArray<MPSGraphTensorData*>* inputs,
                                               NSArray<MPSGraphTensorData*>* results) {
  refuse_fork();
  require_device(impl, device);
  std::shared_ptr<runtime::Program> program = impl.programs.latest();
  if (!program || !takes(*program, inputs)) {
    std::vector<ir::Type> types;
    for (MPSGraphTensorData* data in inputs) types.push_back(type_of(data));
    program = program_for(impl, types);
  }
  runtime::Run run = make_run(impl.graph, program, inputs, &results, impl.device);
  return {std::move(run), results};
}

bool has_handlers(MPSGraphExecutableExecutionDescriptor* descriptor) {
  return descriptor != nil && ([descriptor scheduledHandler] != nil || [descriptor completionHandler] != nil);
}

}  // namespace

@implementation MPSGraphExecutable

- (MPSGraphOptions)options {
  return impl_of(self).options;
}

- (void)setOptions:(MPSGraphOptions)options {
  impl_of(self).options = options;
}

- (void)dealloc {
  auto* impl = static_cast<ExecutableImpl*>(_impl);
  [impl->feeds release];
  [impl->targets release];
  [impl->device release];
  delete impl;
  [super dealloc];
}

- (NSArray<MPSGraphTensor*>*)feedTensors {
  return impl_of(self).feeds;
}

- (NSArray<MPSGraphTensor*>*)targetTensors {
  return impl_of(self).targets;
}

- (void)specializeWithDevice:(MPSGraphDevice*)device
                  inputTypes:(NSArray<MPSGraphType*>*)inputTypes
       compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  if (device != nil) require_device(impl_of(self), [device metalDevice]);
  program_for(impl_of(self), types_of(inputTypes));
}

- (NSArray<MPSGraphShapedType*>*)getOutputTypesWithDevice:(MPSGraphDevice*)device
                                               inputTypes:(NSArray<MPSGraphType*>*)inputTypes
                                    compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  if (device != nil) require_device(impl_of(self), [device metalDevice]);
  NSMutableArray* types = [NSMutableArray array];
  const std::shared_ptr<runtime::Program> program = program_for(impl_of(self), types_of(inputTypes));
  for (const ir::Type& type : program->result_types()) {
    MPSGraphShapedType* shaped = [[MPSGraphShapedType alloc] initWithShape:mps_shape_of(type.shape)
                                                                  dataType:data_type_of(type.dtype)];
    [types addObject:shaped];
    [shaped release];
  }
  return types;
}

- (NSArray<MPSGraphTensorData*>*)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                            inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                           resultsArray:(NSArray<MPSGraphTensorData*>*)resultsArray
                                    executionDescriptor:(MPSGraphExecutableExecutionDescriptor*)executionDescriptor {
  if (has_handlers(executionDescriptor)) {
    NSArray* results = [self runAsyncWithMTLCommandQueue:commandQueue
                                             inputsArray:inputsArray
                                            resultsArray:resultsArray
                                     executionDescriptor:executionDescriptor];
    raise_if_failed(stream_of(commandQueue).wait());
    return results;
  }
  const auto prepared = prepare(impl_of(self), [commandQueue device], inputsArray, resultsArray);
  raise_if_failed(run_now(commandQueue, prepared.run, events_of(executionDescriptor)));
  return prepared.results;
}

- (NSArray<MPSGraphTensorData*>*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                 inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                                resultsArray:(NSArray<MPSGraphTensorData*>*)resultsArray
                                         executionDescriptor:
                                             (MPSGraphExecutableExecutionDescriptor*)executionDescriptor {
  const auto prepared = prepare(impl_of(self), [commandQueue device], inputsArray, resultsArray);
  const bool waits = [executionDescriptor waitUntilCompleted];
  if (waits && [executionDescriptor scheduledHandler] == nil) {
    // A waiting caller does the work itself, and the handler, if there is one, tells it of a failure.
    MPSGraphExecutableCompletionHandler completed = [executionDescriptor completionHandler];
    const device::Status status = run_now(commandQueue, prepared.run, events_of(executionDescriptor));
    if (completed == nil) raise_if_failed(status);
    else deliver_now(commandQueue, [&] { completed(prepared.results, error_of(status)); });
    return prepared.results;
  }
  id<MTLCommandBuffer> buffer = [commandQueue commandBuffer];
  encode_run(buffer, prepared, executionDescriptor);
  [buffer commit];
  if (waits) wait_for(buffer);
  return prepared.results;
}

- (NSArray<MPSGraphTensorData*>*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                           inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                          resultsArray:(NSArray<MPSGraphTensorData*>*)resultsArray
                                   executionDescriptor:(MPSGraphExecutableExecutionDescriptor*)executionDescriptor {
  const auto prepared = prepare(impl_of(self), [commandBuffer device], inputsArray, resultsArray);
  encode_run(commandBuffer, prepared, executionDescriptor);
  return prepared.results;
}

- (void)alloySetProfiling:(BOOL)on {
  ExecutableImpl& impl = impl_of(self);
  refuse_fork();
  if (const auto program = impl.programs.latest()) impl.graph->set_profiling(*program, on != NO);
}

- (NSArray*)alloyProfile {
  ExecutableImpl& impl = impl_of(self);
  refuse_fork();
  const std::shared_ptr<runtime::Program> program = impl.programs.latest();
  if (!program) return nil;
  NSMutableArray* kernels = [NSMutableArray array];
  const std::vector<device::Step>& steps = program->plan().steps;
  const std::vector<device::StepTime> times = impl.graph->times(*program);
  for (size_t i = 0; i < times.size(); ++i) {
    const device::Step& step = steps[i];
    if (step.kind != device::Step::Kind::kCall && step.kind != device::Step::Kind::kCopy) continue;
    const bool is_copy = step.op == nullptr;
    const ir::Value value = is_copy ? ir::Value{} : step.op->result();
    const ir::Cost cost = is_copy ? ir::Cost{0, step.bytes, step.bytes} : ir::cost(*step.op);
    auto number = [](uint64_t n) { return [NSNumber numberWithUnsignedLongLong:n]; };
    auto seconds = [](int64_t nanoseconds) {
      return [NSNumber numberWithDouble:1e-9 * static_cast<double>(nanoseconds)];
    };
    [kernels addObject:[NSDictionary
                           dictionaryWithObjectsAndKeys:is_copy ? @"" : string_of(source_of(value).name), @"name",
                                                        is_copy ? @"copy" : string_of(step.op->info().name), @"kind",
                                                        is_copy ? [NSArray array] : mps_shape_of(value.shape()),
                                                        @"shape", number(cost.flops), @"flops",
                                                        number(cost.bytes_read + cost.bytes_written), @"bytes",
                                                        seconds(times[i].total), @"total", seconds(times[i].begin),
                                                        @"begin", seconds(times[i].end), @"end", nil]];
  }
  return kernels;
}

- (NSDictionary*)alloyMemoryPlan {
  ExecutableImpl& impl = impl_of(self);
  refuse_fork();
  const std::shared_ptr<runtime::Program> program = impl.programs.latest();
  if (!program) return nil;
  const device::Plan& plan = program->plan();
  auto number = [](size_t bytes) { return [NSNumber numberWithUnsignedLongLong:bytes]; };
  size_t constants = 0;
  for (const auto& constant : plan.constants) constants += constant.size();
  NSMutableArray* at_peak = [NSMutableArray array];
  for (const ir::Value& value : plan.at_peak) {
    const ir::Op& source = source_of(value);
    [at_peak addObject:[NSDictionary dictionaryWithObjectsAndKeys:string_of(source.name), @"name",
                                                                  string_of(source.info().name), @"kind",
                                                                  mps_shape_of(value.shape()), @"shape",
                                                                  number(value.type().byte_count()), @"bytes", nil]];
  }
  return [NSDictionary
      dictionaryWithObjectsAndKeys:number(impl.graph->variable_bytes(*program)), @"variables",
                                   bytes_of(program->feed_types()), @"feeds", bytes_of(program->result_types()),
                                   @"results", number(constants), @"constants", number(plan.scratch_offset), @"arena",
                                   number(plan.layouts_offset - plan.scratch_offset), @"scratch",
                                   number(plan.arena_bytes - plan.layouts_offset), @"layouts", at_peak, @"atPeak", nil];
}

@end

namespace {

ExecutableImpl& impl_of(MPSGraphExecutable* executable) { return *static_cast<ExecutableImpl*>(executable->_impl); }

}  // namespace

namespace alloy::facade {

MPSGraphExecutable* new_executable(const GraphRef& graph, Request request, std::shared_ptr<runtime::Program> program,
                                   id<MTLDevice> device) {
  NSMutableArray *feeds = [NSMutableArray array], *targets = [NSMutableArray array];
  for (const ir::Value& v : request.feeds) [feeds addObject:tensor_of(graph, v)];
  for (const ir::Value& v : request.results) [targets addObject:tensor_of(graph, v)];
  MPSGraphExecutable* executable = [[MPSGraphExecutable alloc] init];
  auto* impl = new ExecutableImpl{graph, std::move(request),    [feeds copy], [targets copy], [device retain],
                                  {},    MPSGraphOptionsDefault};
  if (program) impl->programs.keep(std::move(program));
  executable->_impl = impl;
  return executable;
}

}  // namespace alloy::facade
