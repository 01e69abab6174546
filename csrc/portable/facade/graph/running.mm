// Runs of graphs and executables: programs, runs over arrays, their ends.

#include <algorithm>

#include "facade/graph/build.h"
#include "facade/graph/running.h"

namespace alloy::facade {

namespace {

// The lengths of a known shape that are not 1.
ir::Dims lengths_of(const ir::Shape& shape) {
  ir::Dims lengths;
  for (int64_t length : shape.dims()) {
    if (length != 1) lengths.push_back(length);
  }
  return lengths;
}

}  // namespace

const ir::Type& fed_type(const ir::Value& placeholder, MPSGraphTensorData* data) {
  const ir::Type &given = type_of(data), &wanted = placeholder.type();
  const bool fits = given != wanted && wanted.is_static() && given.is_static() && wanted.dtype == given.dtype &&
                    lengths_of(wanted.shape) == lengths_of(given.shape);
  return fits ? wanted : given;
}

std::shared_ptr<runtime::Program> compile(FacadeGraph& graph, id<MTLDevice> device, const Request& request,
                                          const std::vector<ir::Type>& types) {
  refuse_fork();
  device::Device& computing = device_of(device);
  const host::LocksAreHeld compiling;
  std::vector<ir::Feed> feeds;
  for (size_t i = 0; i < request.feeds.size(); ++i) feeds.push_back({request.feeds[i], types[i]});
  std::shared_ptr<runtime::Program> program;
  build([&] {
    program = graph.program(computing, feeds, request.results, request.effects, request.callables, request.precision);
  });
  return program;
}

namespace {

// The begin and the end of an array in the device's memory.
using Range = std::pair<uintptr_t, uintptr_t>;

Range range_of(const device::ArrayMemory& memory) {
  const uintptr_t address = memory.storage->address();
  return {address + static_cast<uintptr_t>(memory.layout.begin()), address + memory.layout.end()};
}

bool overlap(const std::vector<Range>& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end(),
                            [](const Range& a, const Range& b) { return b.first < a.second; }) != sorted.end();
}

// Adds the ranges of an array's parts without gaps.
void add_runs(const device::ArrayMemory& memory, std::vector<Range>& runs) {
  const device::ArrayLayout& layout = memory.layout;
  size_t dense = layout.rank, bytes = layout.element_bytes;
  for (; dense > 0; --dense) {
    const bool is_single = layout.lengths[dense - 1] == 1;
    if (!is_single && layout.strides[dense - 1] != static_cast<ptrdiff_t>(bytes)) break;
    bytes *= layout.lengths[dense - 1];
  }
  const size_t begin = runs.size();
  const uintptr_t first = memory.storage->address() + layout.offset;
  runs.emplace_back(first, first + bytes);
  for (size_t axis = 0; axis < dense; ++axis) {
    const size_t end = runs.size();
    for (size_t i = 1; i < layout.lengths[axis]; ++i) {
      const uintptr_t step = i * static_cast<uintptr_t>(layout.strides[axis]);
      for (size_t run = begin; run < end; ++run) runs.emplace_back(runs[run].first + step, runs[run].second + step);
    }
  }
}

// The memory of data that a run on the device reads or writes.
const device::ArrayMemory& memory_on(const device::Device& device, MPSGraphTensorData* data) {
  const device::ArrayMemory& memory = memory_of(data);
  if (memory.device != &device) {
    raise_invalid(@"[MPSGraph] The run is on %s, but data given to it is on %s.", device.name().data(),
                  memory.device->name().data());
  }
  return memory;
}

}  // namespace

runtime::Run make_run(const GraphRef& graph, const std::shared_ptr<runtime::Program>& program,
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
  } else if (require_kind(*results, [NSArray class]);[*results count] != types.size()) {
    raise_invalid(@"[MPSGraph] %zu results were expected, got %zu.", types.size(), [*results count]);
  }
  runtime::Run::Arrays inputs, outputs;
  std::vector<Range> written;
  inputs.reserve([feeds count]);
  outputs.reserve(types.size());
  written.reserve(types.size());
  size_t i = 0;
  for (MPSGraphTensorData* data in* results) {
    // The data may have another shape with as many elements; they are written in order.
    const ir::Type& given = type_of(data);  // raises for an object that is no tensor data
    if (given.dtype != types[i].dtype || given.shape.element_count() != types[i].shape.element_count()) {
      raise_invalid(@"[MPSGraph] Result %zu is %s but the data given for it is %s.", i, to_string(types[i]).c_str(),
                    to_string(given).c_str());
    }
    outputs.push_back(memory_on(program->device(), data));
    written.push_back(range_of(outputs.back()));
    ++i;
  }
  std::sort(written.begin(), written.end());
  if (overlap(written)) {  // such as columns of one array, which share no byte
    written.clear();
    for (const device::ArrayMemory& output : outputs) add_runs(output, written);
    std::sort(written.begin(), written.end());
    if (overlap(written)) raise_invalid(@"[MPSGraph] A result shares its memory with another result.");
  }
  std::vector<size_t> overwritten;
  for (MPSGraphTensorData* data in feeds) {
    inputs.push_back(memory_on(program->device(), data));
    const Range fed = range_of(inputs.back());
    // Finds the last written range that begins before the end of the feed; written ranges do not overlap.
    const auto behind = std::lower_bound(written.begin(), written.end(), Range{fed.second, 0});
    if (behind != written.begin() && std::prev(behind)->second > fed.first) overwritten.push_back(inputs.size() - 1);
  }
  return runtime::Run(graph, program, std::move(inputs), std::move(outputs), std::move(overwritten));
}

host::Status run_now(id<MTLCommandQueue> queue, const runtime::Run& run, const host::EventList& events) {
  device::Outcome outcome;
  raise_if_failed(run.run_now(stream_of(queue), outcome, events));
  return outcome.status();
}

void require_success(id<MTLCommandBuffer> buffer, bool is_told) {
  if (is_told || [buffer error] == nil) return;
  raise_if_failed({[[[buffer error] localizedDescription] UTF8String]});
}

}  // namespace alloy::facade
