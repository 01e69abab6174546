#import "engine/running/host_calls.h"

#include <chrono>

#include "engine/error.h"
#include "engine/host_function.h"
#import "engine/lowering/lowered.h"
#import "engine/mps_types.h"

namespace alloy::engine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

PassedValue PassedValue::make(id<MTLDevice> device, const ir::Type& type) {
  PassedValue made;
  const size_t bytes = type.byte_count();
  made.buffer_ = Ref<id<MTLBuffer>>::adopt([device newBufferWithLength:bytes options:MTLResourceStorageModeShared]);
  if (made.buffer_.get() != nil && [made.buffer_.get() contents] != nullptr) {
    made.data_ = Ref<MPSGraphTensorData*>::adopt([[MPSGraphTensorData alloc] initWithMTLBuffer:made.buffer_.get()
                                                                                         shape:mps_shape(type.shape)
                                                                                      dataType:mps_type(type.dtype)]);
    return made;
  }
  made.buffer_ = {};
  made.array_ = Array::make(device, type);
  made.copy_.resize(bytes);
  return made;
}

const void* PassedValue::elements() {
  if (!array_) return [buffer_.get() contents];
  array_->read(copy_.data());
  return copy_.data();
}

void* PassedValue::memory() { return array_ ? copy_.data() : [buffer_.get() contents]; }

void PassedValue::note_written() {
  if (array_) array_->write(copy_.data());
}

struct HostCalls::Stage {
  Segment segment = {};  // none if the stage only has calls
  std::shared_ptr<Run> run = {};
  double begin = 0;               // of its last run, in seconds from the start of the step
  std::vector<Taken> taken = {};  // by call
};

HostCalls::HostCalls(const Ref<id<MTLDevice>>& device, const Lowered& last)
    : device_(device), lowered_(last.host_calls), assigns_(last.assigns) {
  for (const LoweredHostCalls::Stage& stage : lowered_->stages) {
    Stage made;
    if (stage.part) {
      made.segment = Segment::compile(device, *stage.part);
      ++counters().compilations;
    }
    made.taken.resize(stage.calls.size());
    stages_.push_back(std::move(made));
  }
}

HostCalls::~HostCalls() = default;

void HostCalls::run(id<MTLCommandQueue> queue, const FeedBytes* feeds) {
  const double start = now();
  if (passed_.values_.size() < lowered_->values.size()) {
    passed_.values_.clear();
    for (const ir::Type& type : lowered_->values) {
      PassedValue made = PassedValue::make(device_.get(), type);
      passed_.values_.push_back(std::move(made));
    }
  }
  for (size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    stage.begin = now() - start;
    if (stage.segment.positions) {
      if (!stage.run) stage.run = Run::make(stage.segment.positions);
      Run& part = *stage.run;
      part.pass(passed_);
      part.start(stage.segment.executable.get(), queue, feeds, true);
      ++counters().dispatches;
      part.wait();
      part.land();
      if (part.lacks_memory()) throw OutOfMemory(part.failure());
      if (!part.failure().empty()) {
        throw DeviceError("[step] " + part.failure() + (assigns_ ? " No variable has changed." : ""));
      }
    }
    const std::vector<HostCall>& calls = lowered_->stages[i].calls;
    for (size_t k = 0; k < calls.size(); ++k) {
      const double begin = now() - start;
      call(calls[k]);
      const double end = now() - start;
      if (is_timed_) stage.taken[k] = {stage.taken[k].total + end - begin, begin, end};
    }
  }
}

void HostCalls::call(const HostCall& call) {
  std::vector<ir::Type> given, types;
  std::vector<const void*> operands;
  std::vector<void*> results;
  for (const size_t value : call.operands) {
    given.push_back(lowered_->values[value]);
    operands.push_back(passed_.values_[value].elements());
  }
  for (const size_t value : call.results) {
    types.push_back(lowered_->values[value]);
    results.push_back(passed_.values_[value].memory());
  }
  const std::string mistake = call.function->compute(given, operands, types, results);
  if (!mistake.empty()) {
    throw DeviceError("[" + call.kind + "] " + mistake + (call.location.empty() ? "" : "; built at " + call.location) +
                      "." + (assigns_ ? " No variable has changed." : ""));
  }
  for (const size_t value : call.results) passed_.values_[value].note_written();
}

void HostCalls::forget_arrays() {
  for (Stage& stage : stages_) stage.run.reset();
  passed_.values_.clear();
}

void HostCalls::set_profiling(bool on) {
  is_timed_ = on;
  for (Stage& stage : stages_) {
    if (on) std::fill(stage.taken.begin(), stage.taken.end(), Taken());
    if (stage.segment.positions) engine::set_profiling(stage.segment.executable.get(), on);
  }
}

double HostCalls::add_times(std::vector<KernelTime>& out) const {
  double end = 0;
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    if (stage.segment.positions) engine::add_times(stage.segment.executable.get(), stage.begin, out);
    const std::vector<HostCall>& calls = lowered_->stages[i].calls;
    for (size_t k = 0; k < calls.size(); ++k) {
      uint64_t bytes = 0;
      for (const auto* values : {&calls[k].operands, &calls[k].results}) {
        for (const size_t value : *values) bytes += lowered_->values[value].byte_count();
      }
      const Taken& taken = stage.taken[k];
      const ir::Shape& shape = lowered_->values[calls[k].results[0]].shape;
      out.push_back({calls[k].name, calls[k].kind, shape, 0, bytes, taken.total, taken.begin, taken.end});
      end = taken.end;
    }
  }
  return end;
}

}  // namespace alloy::engine
