#import "engine/running/host_calls.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "engine/error.h"
#include "engine/interruption.h"
#import "engine/lowering/lowered.h"
#import "engine/mps_types.h"

namespace alloy::engine {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

PassedValue PassedValue::make(id<MTLDevice> device, const ir::Type& type, void* memory) {
  PassedValue made;
  const size_t bytes = type.byte_count(), page = getpagesize();
  if (memory != nullptr) {
    made.buffer_ = Ref<id<MTLBuffer>>::adopt([device newBufferWithBytesNoCopy:memory
                                                                       length:(bytes + page - 1) / page * page
                                                                      options:MTLResourceStorageModeShared
                                                                  deallocator:nil]);
  } else {
    made.buffer_ = Ref<id<MTLBuffer>>::adopt([device newBufferWithLength:bytes options:MTLResourceStorageModeShared]);
  }
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

// The values that the part in progress has computed so far.
class HostCalls::Arrivals {
 public:
  // Begins a run; returns its number.
  uint64_t begin(size_t values) {
    const std::lock_guard lock(mutex_);
    is_here_.assign(values, false);
    is_over_ = false;
    return ++run_;
  }
  void note(size_t value) {
    const std::lock_guard lock(mutex_);
    is_here_[value] = true;
    changed_.notify_all();
  }
  void note_end(uint64_t run) {
    const std::lock_guard lock(mutex_);
    if (run != run_) return;
    is_over_ = true;
    changed_.notify_all();
  }
  // Waits until these values are computed; false if the run ended without saying so.
  bool wait_for(const std::vector<size_t>& values) {
    std::unique_lock lock(mutex_);
    const auto are_here = [&] {
      return std::all_of(values.begin(), values.end(), [&](size_t value) { return is_here_[value]; });
    };
    while (!changed_.wait_for(lock, kAskInterval, [&] { return is_over_ || are_here(); })) {
      lock.unlock();
      ask_for_interruption();
      lock.lock();
    }
    return !is_over_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> is_here_;
  bool is_over_ = false;
  uint64_t run_ = 0;
};

struct HostCalls::Part {
  Segment segment = {};  // none if there is nothing to compute
  std::shared_ptr<Run> run = {};
  double begin = 0;      // of its last run, in seconds from the start of the step
  bool tells = false;    // true if the device tells when values are computed
  size_t calls_end = 0;  // the number of the first call behind a later part
};

HostCalls::HostCalls(const Ref<id<MTLDevice>>& device, const Lowered& last)
    : device_(device),
      lowered_(last.host_calls),
      assigns_(last.assigns),
      arrivals_(std::make_shared<Arrivals>()),
      taken_(lowered_->calls.size()) {
  const std::vector<HostCall>& calls = lowered_->calls;
  for (size_t i = 0; i < lowered_->parts.size(); ++i) {
    Part made;
    made.calls_end = std::count_if(calls.begin(), calls.end(), [&](const HostCall& call) { return call.behind <= i; });
    if (lowered_->parts[i]) {
      made.segment = Segment::compile(device, *lowered_->parts[i]);
      ++counters().compilations;
      made.tells = set_target_handler(made.segment.executable.get(),
                                      [arrivals = arrivals_, positions = made.segment.positions](size_t target) {
                                        for (const auto& left : positions->leaving) {
                                          if (left.first == target) arrivals->note(left.second);
                                        }
                                      });
    }
    parts_.push_back(std::move(made));
  }
}

HostCalls::~HostCalls() = default;

void HostCalls::make_values() {
  const size_t count = lowered_->values.size();
  if (passed_.values_.size() == count) return;
  passed_ = {};
  std::vector<void*> places(count, nullptr);
  for (const HostCall& call : lowered_->calls) {
    std::vector<ir::Type> given, types;
    for (const size_t value : call.operands) given.push_back(lowered_->values[value]);
    for (const size_t value : call.results) types.push_back(lowered_->values[value]);
    HostFunction::Memory memory = call.function->memory(given, types);
    if (memory.owner == nullptr) continue;
    for (size_t i = 0; i < given.size(); ++i) places[call.operands[i]] = memory.operands[i];
    for (size_t i = 0; i < types.size(); ++i) places[call.results[i]] = memory.results[i];
    passed_.owners_.push_back(std::move(memory.owner));
  }
  for (size_t i = 0; i < count; ++i) {
    PassedValue made = PassedValue::make(device_.get(), lowered_->values[i], places[i]);
    passed_.values_.push_back(std::move(made));
  }
}

void HostCalls::run(id<MTLCommandQueue> queue, const FeedBytes* feeds) {
  make_values();
  start_ = now();
  size_t next = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].segment.positions) next = run_part(i, next, queue, feeds);
    while (next < parts_[i].calls_end) make(next++, false);
  }
  end_ = now() - start_;
}

size_t HostCalls::run_part(size_t index, size_t next, id<MTLCommandQueue> queue, const FeedBytes* feeds) {
  Part& part = parts_[index];
  if (!part.run) part.run = Run::make(part.segment.positions);
  Run& run = *part.run;
  // A single call's last operand comes near the end.
  const bool is_overlapped = part.tells && part.calls_end > next + 1;
  // Nobody may use the values while the run goes on.
  const struct Ended {
    Run& run;
    ~Ended() {
      if (run.has_landed()) return;
      run.interrupt();
      run.join();
      run.land();
    }
  } ended{run};
  const uint64_t number = arrivals_->begin(passed_.values_.size());
  part.begin = now() - start_;
  run.pass(passed_);
  run.start(part.segment.executable.get(), queue, feeds, !is_overlapped, nullptr, true);
  ++counters().dispatches;
  if (is_overlapped) {
    run.when_over([arrivals = arrivals_, number] { arrivals->note_end(number); });
    while (next < part.calls_end && arrivals_->wait_for(lowered_->calls[next].operands)) make(next++, true);
  }
  run.wait();
  run.land();
  if (run.lacks_memory()) throw OutOfMemory(run.failure());
  if (!run.failure().empty()) {
    throw DeviceError("[step] " + run.failure() + (assigns_ ? " No variable has changed." : ""));
  }
  return next;
}

void HostCalls::make(size_t index, bool meanwhile) {
  const HostCall& call = lowered_->calls[index];
  const double begin = now() - start_;
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
  const std::string mistake = call.function->compute(given, operands, types, results, meanwhile);
  if (!mistake.empty()) {
    throw DeviceError("[" + call.kind + "] " + mistake + (call.location.empty() ? "" : "; built at " + call.location) +
                      "." + (assigns_ ? " No variable has changed." : ""));
  }
  for (const size_t value : call.results) passed_.values_[value].note_written();
  const double end = now() - start_;
  if (is_timed_) taken_[index] = {taken_[index].total + end - begin, begin, end};
}

void HostCalls::forget_arrays() {
  for (Part& part : parts_) part.run.reset();
  passed_ = {};
}

void HostCalls::set_profiling(bool on) {
  is_timed_ = on;
  if (on) std::fill(taken_.begin(), taken_.end(), Taken());
  for (Part& part : parts_) {
    if (part.segment.positions) engine::set_profiling(part.segment.executable.get(), on);
  }
}

double HostCalls::add_times(std::vector<KernelTime>& out) const {
  const std::vector<HostCall>& calls = lowered_->calls;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.segment.positions) engine::add_times(part.segment.executable.get(), part.begin, out);
    for (size_t k = 0; k < calls.size(); ++k) {
      if (calls[k].behind != i) continue;
      uint64_t bytes = 0;
      for (const auto* values : {&calls[k].operands, &calls[k].results}) {
        for (const size_t value : *values) bytes += lowered_->values[value].byte_count();
      }
      const ir::Shape& shape = lowered_->values[calls[k].results[0]].shape;
      out.push_back(
          {calls[k].name, calls[k].kind, shape, "", 0, bytes, taken_[k].total, taken_[k].begin, taken_[k].end});
    }
  }
  return end_;
}

}  // namespace alloy::engine
