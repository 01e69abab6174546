// What graphs and executables share of running: a request, a program, a run over arrays.
#pragma once

#include "facade/graph/graph.h"
#include "facade/graph/tensor_data.h"
#include "facade/mps/predicate.h"

namespace alloy::facade {

using runtime::Request;

// The type of what is fed: the placeholder's, if that is known and the shapes differ in lengths of 1 alone.
const ir::Type& fed_type(const ir::Value& placeholder, MPSGraphTensorData* data);
// The program on the device for feeds of these types, in the order of the request; raises when it cannot be compiled,
// and where no device may be used.
std::shared_ptr<runtime::Program> compile(FacadeGraph& graph, id<MTLDevice> device, const Request& request,
                                          const std::vector<ir::Type>& types);
// A run over these arrays; allocates `results` (retained by the array, autoreleased) where it is nil. Raises where a
// result does not fit or shares memory with another one.
runtime::Run make_run(const GraphRef& graph, const std::shared_ptr<runtime::Program>& program,
                      NSArray<MPSGraphTensorData*>* feeds, NSArray<MPSGraphTensorData*>** results,
                      id<MTLDevice> device);

// A run, and what its caller and its handlers are given: the results as an array or by tensor.
template <class Results>
struct Prepared {
  runtime::Run run;
  Results* results;
};

// Runs on the stream of a queue, on the calling thread, behind what was committed there before; how the run ended.
// Raises where the stream takes nothing any more.
host::Status run_now(id<MTLCommandQueue> queue, const runtime::Run& run, const host::EventList& events);
// Adds a run to a command buffer, with the handlers of the descriptor.
template <class Results, class Descriptor>
void encode_run(id<MTLCommandBuffer> buffer, const Prepared<Results>& prepared, Descriptor* descriptor);
// The executables of a compilation descriptor, which may be nil; raises for what is none.
runtime::CallablesRef callables_of(MPSGraphCompilationDescriptor* descriptor);
// What a call of the executable computes.
runtime::Callee callee_of(MPSGraphExecutable* executable);
// Raises with the error of a command buffer that is over, where no completion handler has been told of it.
void require_success(id<MTLCommandBuffer> buffer, bool is_told);
// A new executable, retained for the caller; with the program it was compiled to, or null where the types are not known
// yet.
MPSGraphExecutable* new_executable(const GraphRef& graph, Request request, std::shared_ptr<runtime::Program> program,
                                   id<MTLDevice> device) NS_RETURNS_RETAINED;

// What a run with the descriptor waits for and signals; empty for nil.
const host::EventList& events_of(MPSGraphExecutionDescriptor* descriptor);
const host::EventList& events_of(MPSGraphExecutableExecutionDescriptor* descriptor);

template <class Results, class Descriptor>
void encode_run(id<MTLCommandBuffer> buffer, const Prepared<Results>& prepared, Descriptor* descriptor) {
  Results* results = prepared.results;
  const auto scheduled = [descriptor scheduledHandler];
  const auto completed = [descriptor completionHandler];
  if (scheduled != nil) {
    [buffer addScheduledHandler:^(id<MTLCommandBuffer> b) {
      scheduled(results, [b error]);
    }];
  }
  if (completed != nil) {
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> b) {
      completed(results, [b error]);
    }];
  }
  const host::EventList& events = events_of(descriptor);
  encode(
      buffer, [run = prepared.run, events, condition = condition_of(buffer)] { return run(events, condition); },
      [events] { events.signal_all(); });
}

}  // namespace alloy::facade
