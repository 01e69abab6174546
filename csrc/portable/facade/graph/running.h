// Runs of graphs and executables: requests, programs, runs over arrays.
#pragma once

#include "facade/graph/graph.h"
#include "facade/graph/tensor_data.h"
#include "facade/mps/predicate.h"
#include "facade/retained.h"

namespace alloy::facade {

using runtime::Request;

// The type of a feed: the placeholder's type if it is known and the shapes differ only in lengths of 1, else the
// data's.
const ir::Type& fed_type(const ir::Value& placeholder, MPSGraphTensorData* data);
// Compiles the program for feeds of these types, in the request's order; raises if it cannot be compiled or no device
// may be used.
std::shared_ptr<runtime::Program> compile(FacadeGraph& graph, id<MTLDevice> device, const Request& request,
                                          const std::vector<ir::Type>& types);
// A run over these arrays. If `results` is nil, allocates the results; the array retains them and is autoreleased.
// Raises if a result does not fit or shares memory with another one.
runtime::Run make_run(const GraphRef& graph, const std::shared_ptr<runtime::Program>& program,
                      NSArray<MPSGraphTensorData*>* feeds, NSArray<MPSGraphTensorData*>** results,
                      id<MTLDevice> device);

// A run, and the results for its caller and handlers, as an array or by tensor.
template <class Results>
struct Prepared {
  runtime::Run run;
  Results* results;
};

// Runs on the stream of a queue, on the calling thread, after the work committed there before; returns the run's
// status. Raises if the stream accepts no more work.
host::Status run_now(id<MTLCommandQueue> queue, const runtime::Run& run, const host::EventList& events);
// Adds a run to a command buffer, with the handlers of the descriptor, which get the results.
template <class Results, class Descriptor>
void encode_run(id<MTLCommandBuffer> buffer, runtime::Run run, Results* results, Descriptor* descriptor);
// Commits a run that the caller does not wait for. The descriptor has no scheduled handler.
template <class Results, class Descriptor>
void commit_run(id<MTLCommandQueue> queue, runtime::Run run, Results* results, Descriptor* descriptor);
// The executables of a compilation descriptor, which may be nil; raises for objects that are no executables.
runtime::CallablesRef callables_of(MPSGraphCompilationDescriptor* descriptor);
// The precision that it allows for products, as the attribute; empty for float32 and for nil.
std::string precision_of(MPSGraphCompilationDescriptor* descriptor);
// The computation of a call of the executable.
runtime::Callee callee_of(MPSGraphExecutable* executable);
// Raises the error of a completed command buffer, unless a completion handler was given it.
void require_success(id<MTLCommandBuffer> buffer, bool is_told);
// A new executable, retained for the caller. `program` is its compiled program, or null if its types are not known yet.
MPSGraphExecutable* new_executable(const GraphRef& graph, Request request, std::shared_ptr<runtime::Program> program,
                                   id<MTLDevice> device) NS_RETURNS_RETAINED;

// The events that a run with the descriptor waits for and signals; empty for nil.
const host::EventList& events_of(MPSGraphExecutionDescriptor* descriptor);
const host::EventList& events_of(MPSGraphExecutableExecutionDescriptor* descriptor);

// The command that carries out a run unless the condition, which may be empty, is false.
inline runtime::CommandList::Command command_of(runtime::Run run, const host::EventList& events,
                                                const std::function<bool()>& condition) {
  return [run = std::allocate_shared<const runtime::Run>(host::Recycler<runtime::Run>(), std::move(run)), events,
          condition](device::Stream& stream, device::Outcome& outcome) { (*run)(stream, outcome, events, condition); };
}

template <class Results, class Descriptor>
void commit_run(id<MTLCommandQueue> queue, runtime::Run run, Results* results, Descriptor* descriptor) {
  const host::EventList& events = events_of(descriptor);
  const bool waits = events.has_waits() || !run.returns_at_once();
  const auto completed = [descriptor completionHandler];
  std::function<void(const host::Status&)> over;
  if (completed != nil) {
    over = [results = Retained(results), completed = Retained(completed)](const host::Status& status) {
      completed.get()(results.get(), error_of(status));
    };
  }
  commit_alone(queue, command_of(std::move(run), events, nullptr), waits, std::move(over));
}

template <class Results, class Descriptor>
void encode_run(id<MTLCommandBuffer> buffer, runtime::Run run, Results* results, Descriptor* descriptor) {
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
  const auto condition = condition_of(buffer);
  const bool waits = condition != nullptr || events.has_waits() || !run.returns_at_once();
  encode_on_stream(buffer, command_of(std::move(run), events, condition), waits);
}

}  // namespace alloy::facade
