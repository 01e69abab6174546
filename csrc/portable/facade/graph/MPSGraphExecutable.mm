// Executables: a request on a graph, compiled for each combination of known input types.

#include <algorithm>

#include "facade/graph/build.h"
#include "facade/graph/running.h"
#include "facade/metal/metal.h"
#include "facade/retained.h"
#include "ir/rules/cost.h"
#include "package/package.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

@interface MPSGraphExecutable (AlloyDiagnostics)
// The bytes that a run takes, for callers that check respondsToSelector:; nil before the first compilation.
- (NSDictionary*)alloyMemoryPlan;
// Turns the timing of kernels on or off for the runs from now on.
- (void)alloySetProfiling:(BOOL)on;
// One dictionary for each kernel, in order: name, kind, shape, flops, bytes, total, begin, end; nil before the first
// compilation.
- (NSArray*)alloyProfile;
// Interrupts the run of its graph that is in progress; NO if there is none.
- (BOOL)alloyInterrupt;
// Sets a block that the following runs call with the position of each target whose elements will not change any more,
// on a thread of their own; nil ends this.
- (void)alloySetTargetHandler:(void (^)(NSUInteger))handler;
@end

namespace {

// The name of the narrowest floats that the op reads, or an empty one.
NSString* narrowest_floats(const ir::Op& op) {
  std::optional<ir::DType> narrowest;
  for (const ir::Value& operand : op.operands) {
    const ir::DType dtype = operand.type().dtype;
    if (ir::kind(dtype) != ir::DTypeKind::kFloating) continue;
    if (!narrowest || ir::size_of(dtype) < ir::size_of(*narrowest)) narrowest = dtype;
  }
  return narrowest ? string_of(ir::name(*narrowest)) : @"";
}

struct ExecutableImpl {
  GraphRef graph;
  Request request;
  MPSGraph* loaded;                   // retained; the graph of a loaded executable, else nil
  NSArray<MPSGraphTensor*>* feeds;    // retained
  NSArray<MPSGraphTensor*>* targets;  // retained
  std::atomic<void*> own_device;      // retained; null for a loaded executable until its first use tells a device
  runtime::RecentPrograms programs;   // by input types
  std::atomic<MPSGraphOptions> options{MPSGraphOptionsDefault};
  void (^on_target)(NSUInteger) = nil;  // a copy

  // Retains every parameter but the graph's C++ part.
  ExecutableImpl(const GraphRef& of, Request what, MPSGraph* owner, id<MTLDevice> on)
      : graph(of), request(std::move(what)), loaded([owner retain]), own_device([on retain]) {
    NSMutableArray *fed = [NSMutableArray array], *computed = [NSMutableArray array];
    for (const ir::Value& v : request.feeds) [fed addObject:tensor_of(graph, v)];
    for (const ir::Value& v : request.results) [computed addObject:tensor_of(graph, v)];
    feeds = [fed copy];
    targets = [computed copy];
  }
  ~ExecutableImpl() {
    [feeds release];
    [targets release];
    [on_target release];
    [device() release];
    [loaded release];
  }

  id<MTLDevice> device() const { return static_cast<id<MTLDevice>>(own_device.load()); }
};

ExecutableImpl& impl_of(MPSGraphExecutable* executable);

NSNumber* bytes_of(const std::vector<ir::Type>& types) {
  size_t bytes = 0;
  for (const ir::Type& type : types) bytes += type.byte_count();
  return [NSNumber numberWithUnsignedLongLong:bytes];
}

// The op that computes a value; for a fused op, the op in its region.
const ir::Op& source_of(const ir::Value& value) {
  return value.op->code == ir::OpCode::fused ? *value.op->regions[0]->results[value.index].op : *value.op;
}

void require_count(const ExecutableImpl& impl, size_t inputs) {
  if (inputs == impl.request.feeds.size()) return;
  raise_invalid(@"[MPSGraphExecutable] %zu inputs were expected, got %zu.", impl.request.feeds.size(), inputs);
}

// The program for inputs of these types.
std::shared_ptr<runtime::Program> program_for(ExecutableImpl& impl, const std::vector<ir::Type>& types) {
  require_count(impl, types.size());
  refuse_fork();
  std::shared_ptr<runtime::Program> program = impl.programs.find(types);
  if (!program) impl.programs.keep(program = compile(*impl.graph, impl.device(), impl.request, types));
  return program;
}

// An executable computes on the device that it was compiled for. A loaded one computes on the device of its first use.
// nil means that device or, if there is none, the default one.
void require_device(ExecutableImpl& impl, id<MTLDevice> device) {
  if (impl.device() == nil) {
    id<MTLDevice> first = device == nil ? default_device() : device;
    device_of(first);  // raises when it is not ours
    void* none = nullptr;
    if (impl.own_device.compare_exchange_strong(none, first)) [first retain];
  }
  id<MTLDevice> own = impl.device();
  if (device == nil || device == own) return;
  raise_invalid(@"[MPSGraphExecutable] It was compiled for %@, but is to run on %@.", [own name], [device name]);
}

std::vector<ir::Type> types_of(NSArray<MPSGraphType*>* inputs) {
  std::vector<ir::Type> types;
  require_elements(inputs, [MPSGraphShapedType class]);
  for (MPSGraphType* type in inputs) {
    auto* const shaped = static_cast<MPSGraphShapedType*>(type);
    types.push_back({dtype_of([shaped dataType]), shape_or_unranked([shaped shape])});
  }
  return types;
}

// The types of the results for inputs of these types, which may be partly unknown; compiles if all are known.
std::vector<ir::Type> specialized(ExecutableImpl& impl, MPSGraphDevice* device, NSArray<MPSGraphType*>* inputs,
                                  MPSGraphCompilationDescriptor* descriptor) {
  refuse_fork();
  require_kind_or_nil(descriptor, [MPSGraphCompilationDescriptor class]);
  require_kind_or_nil(device, [MPSGraphDevice class]);
  const std::vector<ir::Type> types = types_of(inputs);
  require_device(impl, [device metalDevice]);
  const auto is_static = [](const ir::Type& type) { return type.is_static(); };
  if (std::all_of(types.begin(), types.end(), is_static)) return program_for(impl, types)->result_types();
  require_count(impl, types.size());
  std::vector<ir::Type> results;
  build([&] {
    std::vector<ir::Feed> feeds;
    for (size_t i = 0; i < types.size(); ++i) feeds.push_back({impl.request.feeds[i], types[i]});
    const ir::Specialized special =
        runtime::specialize(feeds, impl.request.results, impl.request.effects, impl.request.callables);
    for (const ir::Value& v : special.graph->body().results) results.push_back(v.type());
  });
  return results;
}

// True if the program was compiled for these inputs, as in most runs.
bool takes(const runtime::Program& program, NSArray<MPSGraphTensorData*>* inputs) {
  const std::vector<ir::Type>& types = program.feed_types();
  if ([inputs count] != types.size()) return false;
  size_t i = 0;
  for (MPSGraphTensorData* data in inputs) {
    if (type_of(data) != types[i++]) return false;
  }
  return true;
}

// Prepares a run; `device` is the device of the run's queue.
Prepared<NSArray<MPSGraphTensorData*>> prepare(ExecutableImpl& impl, id<MTLDevice> device,
                                               NSArray<MPSGraphTensorData*>* inputs,
                                               NSArray<MPSGraphTensorData*>* results,
                                               MPSGraphExecutableExecutionDescriptor* descriptor) {
  refuse_fork();
  require_kind_or_nil(descriptor, [MPSGraphExecutableExecutionDescriptor class]);
  require_kind_or_nil(inputs, [NSArray class]);
  require_device(impl, device);
  std::shared_ptr<runtime::Program> program = impl.programs.latest();
  if (!program || !takes(*program, inputs)) {
    std::vector<ir::Type> types;
    require_count(impl, [inputs count]);
    for (MPSGraphTensorData* data in inputs) types.push_back(fed_type(impl.request.feeds[types.size()], data));
    program = program_for(impl, types);
  }
  runtime::Run run = make_run(impl.graph, program, inputs, &results, impl.device());
  if (impl.on_target != nil) {
    const auto told = Retained(impl.on_target);
    run.set_on_result([told](size_t result) { told.get()(result); });
  }
  return {std::move(run), results};
}

// The path of a file URL; raises in the name of `method` if it has none.
std::string path_of(NSURL* url, NSString* method) {
  require_kind_or_nil(url, [NSURL class]);
  NSString* path = [url isFileURL] ? [url path] : nil;
  if ([path length] == 0) raise_invalid(@"[%@] The URL of a file was expected, got %@.", method, url);
  return [path fileSystemRepresentation];
}

bool has_handlers(MPSGraphExecutableExecutionDescriptor* descriptor) {
  return descriptor != nil && ([descriptor scheduledHandler] != nil || [descriptor completionHandler] != nil);
}

// Encodes and commits one run; returns its command buffer.
id<MTLCommandBuffer> commit_with_buffer(id<MTLCommandQueue> queue, runtime::Run run,
                                        NSArray<MPSGraphTensorData*>* results,
                                        MPSGraphExecutableExecutionDescriptor* descriptor) {
  id<MTLCommandBuffer> buffer = [queue commandBuffer];
  encode_run(buffer, std::move(run), results, descriptor);
  [buffer commit];
  return buffer;
}

}  // namespace

@implementation MPSGraphExecutable

- (instancetype)init {
  raise_invalid(@"[MPSGraphExecutable] Executables come from a graph or a package, not from init.");
}

- (MPSGraphOptions)options {
  return impl_of(self).options;
}

- (void)setOptions:(MPSGraphOptions)options {
  impl_of(self).options = options;
}

- (instancetype)initWithMPSGraphPackageAtURL:(NSURL*)mpsgraphPackageURL
                       compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  require_kind_or_nil(compilationDescriptor, [MPSGraphCompilationDescriptor class]);
  if ((self = [super init]) == nil) return nil;
  // Loads into a graph of its own, to which nobody else adds ops.
  MPSGraph* graph = [[MPSGraph new] autorelease];
  Request request;
  @try {
    const std::string path = path_of(mpsgraphPackageURL, @"initWithMPSGraphPackageAtURL");
    refuse_fork();
    build([&] { request = package::read_package(path, *graph_of(graph)); });
    request.precision = precision_of(compilationDescriptor);
  } @catch (NSException* exception) {
    [self release];
    [exception raise];
  }
  for (const ir::Value& v : request.feeds) graph_of(graph)->placeholders.push_back(tensor_of(graph_of(graph), v));
  _impl = new ExecutableImpl(graph_of(graph), std::move(request), graph, nil);
  MPSGraphCompilationCompletionHandler handler = [compilationDescriptor compilationCompletionHandler];
  if (handler != nil) handler(self, nil);
  return self;
}

- (instancetype)initWithCoreMLPackageAtURL:(NSURL*)coreMLPackageURL
                     compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  [self release];
  raise_invalid(@"[initWithCoreMLPackageAtURL] Packages of Core ML cannot be read here, got %@.", coreMLPackageURL);
}

- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url descriptor:(MPSGraphExecutableSerializationDescriptor*)descriptor {
  const std::string path = path_of(url, @"serializeToMPSGraphPackageAtURL");
  require_kind_or_nil(descriptor, [MPSGraphExecutableSerializationDescriptor class]);
  if ([descriptor append] && [[NSFileManager defaultManager] fileExistsAtPath:[url path]]) {
    raise_invalid(@"[serializeToMPSGraphPackageAtURL] A package holds one executable here, and none can be appended to "
                  @"%@.",
                  [url path]);
  }
  refuse_fork();
  ExecutableImpl& impl = impl_of(self);
  build([&] { package::write_package(path, *impl.graph, impl.request); });
}

- (void)dealloc {
  delete static_cast<ExecutableImpl*>(_impl);
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
  specialized(impl_of(self), device, inputTypes, compilationDescriptor);
}

- (NSArray<MPSGraphShapedType*>*)getOutputTypesWithDevice:(MPSGraphDevice*)device
                                               inputTypes:(NSArray<MPSGraphType*>*)inputTypes
                                    compilationDescriptor:(MPSGraphCompilationDescriptor*)compilationDescriptor {
  NSMutableArray* types = [NSMutableArray array];
  for (const ir::Type& type : specialized(impl_of(self), device, inputTypes, compilationDescriptor)) {
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
  auto prepared = prepare(impl_of(self), owner_of(commandQueue), inputsArray, resultsArray, executionDescriptor);
  if (has_handlers(executionDescriptor)) {
    id<MTLCommandBuffer> buffer =
        commit_with_buffer(commandQueue, std::move(prepared.run), prepared.results, executionDescriptor);
    wait_until_finished(buffer);
    require_success(buffer, [executionDescriptor completionHandler] != nil);
    return prepared.results;
  }
  raise_if_failed(run_now(commandQueue, prepared.run, events_of(executionDescriptor)));
  return prepared.results;
}

- (NSArray<MPSGraphTensorData*>*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                 inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                                resultsArray:(NSArray<MPSGraphTensorData*>*)resultsArray
                                         executionDescriptor:
                                             (MPSGraphExecutableExecutionDescriptor*)executionDescriptor {
  auto prepared = prepare(impl_of(self), owner_of(commandQueue), inputsArray, resultsArray, executionDescriptor);
  const bool waits = [executionDescriptor waitUntilCompleted];
  if ([executionDescriptor scheduledHandler] == nil) {
    if (!waits) {
      commit_run(commandQueue, std::move(prepared.run), prepared.results, executionDescriptor);
      return prepared.results;
    }
    // A waiting caller does the work itself; a handler, if there is one, gets the failure.
    MPSGraphExecutableCompletionHandler completed = [executionDescriptor completionHandler];
    const host::Status status = run_now(commandQueue, prepared.run, events_of(executionDescriptor));
    if (completed == nil) raise_if_failed(status);
    else deliver_now(commandQueue, [&] { completed(prepared.results, error_of(status)); });
    return prepared.results;
  }
  id<MTLCommandBuffer> buffer =
      commit_with_buffer(commandQueue, std::move(prepared.run), prepared.results, executionDescriptor);
  if (waits) {
    [buffer waitUntilCompleted];
    require_success(buffer, [executionDescriptor completionHandler] != nil);
  }
  return prepared.results;
}

- (NSArray<MPSGraphTensorData*>*)encodeToCommandBuffer:(MPSCommandBuffer*)commandBuffer
                                           inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                                          resultsArray:(NSArray<MPSGraphTensorData*>*)resultsArray
                                   executionDescriptor:(MPSGraphExecutableExecutionDescriptor*)executionDescriptor {
  auto prepared = prepare(impl_of(self), owner_of(commandBuffer), inputsArray, resultsArray, executionDescriptor);
  encode_run(commandBuffer, std::move(prepared.run), prepared.results, executionDescriptor);
  return prepared.results;
}

- (BOOL)alloyInterrupt {
  return impl_of(self).graph->interrupt() ? YES : NO;
}

- (void)alloySetTargetHandler:(void (^)(NSUInteger))handler {
  ExecutableImpl& impl = impl_of(self);
  void (^const given)(NSUInteger) = [handler copy];
  [impl.on_target release];
  impl.on_target = given;
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
  const std::vector<device::StepTime> times = impl.graph->times(*program);
  if (times.empty()) return kernels;
  auto time = times.begin();
  device::for_each_action(program->plan().steps, [&](const device::Step& step) {
    const bool is_copy = step.op == nullptr;
    const ir::Value value = is_copy ? ir::Value{} : step.op->result();
    const ir::Cost cost = is_copy ? ir::Cost{0, step.bytes, step.bytes} : ir::cost(*step.op);
    NSString* dtype = is_copy ? @"" : narrowest_floats(*step.op);
    NSString* kind = is_copy ? @"copy" : string_of(step.op->info().name);
    if (step.kind == device::Step::Kind::kHostCall) kind = [kind stringByAppendingString:@" on the host"];
    auto number = [](uint64_t n) { return [NSNumber numberWithUnsignedLongLong:n]; };
    auto seconds = [](int64_t nanoseconds) {
      return [NSNumber numberWithDouble:1e-9 * static_cast<double>(nanoseconds)];
    };
    [kernels
        addObject:[NSDictionary dictionaryWithObjectsAndKeys:is_copy ? @"" : string_of(source_of(value).name), @"name",
                                                             kind, @"kind",
                                                             is_copy ? [NSArray array] : mps_shape_of(value.shape()),
                                                             @"shape", dtype, @"dtype", number(cost.flops), @"flops",
                                                             number(cost.bytes_read + cost.bytes_written), @"bytes",
                                                             seconds(time->total), @"total", seconds(time->begin),
                                                             @"begin", seconds(time->end), @"end", nil]];
    ++time;
  });
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
  return [NSDictionary dictionaryWithObjectsAndKeys:number(impl.graph->variable_bytes(*program)), @"variables",
                                                    bytes_of(program->feed_types()), @"feeds",
                                                    bytes_of(program->result_types()), @"results", number(constants),
                                                    @"constants", number(plan.scratch_offset), @"arena",
                                                    number(plan.packed_weights_offset - plan.scratch_offset),
                                                    @"scratch", number(plan.arena_bytes - plan.packed_weights_offset),
                                                    @"layouts", at_peak, @"atPeak", nil];
}

@end

namespace {

ExecutableImpl& impl_of(MPSGraphExecutable* executable) { return *static_cast<ExecutableImpl*>(executable->_impl); }

}  // namespace

namespace alloy::facade {

runtime::Callee callee_of(MPSGraphExecutable* executable) {
  require_kind(executable, [MPSGraphExecutable class]);
  const ExecutableImpl& impl = impl_of(executable);
  return {impl.graph, impl.request};
}

MPSGraphExecutable* new_executable(const GraphRef& graph, Request request, std::shared_ptr<runtime::Program> program,
                                   id<MTLDevice> device) {
  MPSGraphExecutable* executable = [MPSGraphExecutable alloc];
  auto* impl = new ExecutableImpl(graph, std::move(request), nil, device);
  if (program) impl->programs.keep(std::move(program));
  executable->_impl = impl;
  return executable;
}

}  // namespace alloy::facade
