// The calls of functions on the host in a step, and the parts of the step between them. Private to the engine.
#pragma once

#include <string>
#include <vector>

#import "engine/running/segment.h"

namespace alloy::engine {

struct HostCall;
struct LoweredHostCalls;

// A value that passes between executables and calls. Host and device share its memory if the device has such memory.
class PassedValue {
 public:
  // For a static type. All of this class must run inside on_device.
  static PassedValue make(id<MTLDevice> device, const ir::Type& type);
  PassedValue(PassedValue&&) = default;
  PassedValue& operator=(PassedValue&&) = default;

  MPSGraphTensorData* data() const { return array_ ? array_->data() : data_.get(); }
  // For a call: the value's elements; memory to write them to; note_written() says that a call has written them.
  const void* elements();
  void* memory();
  void note_written();

 private:
  PassedValue() = default;

  Ref<id<MTLBuffer>> buffer_ = {};
  Ref<MPSGraphTensorData*> data_ = {};
  std::optional<Array> array_ = {};  // with copy_, if the host cannot see the device's memory
  std::vector<std::byte> copy_ = {};
};

// The passed values, by number.
class Passed {
 public:
  MPSGraphTensorData* data(size_t value) const { return values_[value].data(); }

 private:
  friend class HostCalls;
  std::vector<PassedValue> values_ = {};
};

class HostCalls {
 public:
  // Compiles the parts of a step before its last part. All of this class must run inside on_device.
  HostCalls(const Ref<id<MTLDevice>>& device, const Lowered& last);
  ~HostCalls();

  // Runs these parts and calls the functions, all before it returns; the caller then runs the last part. Throws
  // DeviceError or OutOfMemory if the device or a function failed; then no variable has changed.
  void run(id<MTLCommandQueue> queue, const FeedBytes* feeds);
  const Passed& passed() const { return passed_; }
  // Frees the memory of values and feeds until the next run; runs of the last part keep theirs.
  void forget_arrays();
  // add_times returns the time in seconds at which the last part began.
  void set_profiling(bool on);
  double add_times(std::vector<KernelTime>& out) const;

 private:
  struct Stage;
  struct Taken {
    double total = 0, begin = 0, end = 0;
  };

  void call(const HostCall& call);

  const Ref<id<MTLDevice>> device_;
  const std::shared_ptr<const LoweredHostCalls> lowered_;
  const bool assigns_;  // true if the last part assigns variables
  std::vector<Stage> stages_;
  Passed passed_;
  bool is_timed_ = false;
};

}  // namespace alloy::engine
