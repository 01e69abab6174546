// The calls of functions on the host in a step, and the parts of the step between them. Private to the engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/host_function.h"
#import "engine/running/segment.h"

namespace alloy::engine {

struct HostCall;
struct LoweredHostCalls;

// A value that passes between executables and calls. Host and device share its memory if the device has such memory.
class PassedValue {
 public:
  // For a static type. memory: whole pages that hold the value if the device can use them; or null. All of this class
  // must run inside on_device.
  static PassedValue make(id<MTLDevice> device, const ir::Type& type, void* memory);
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
  std::vector<std::shared_ptr<void>> owners_ = {};  // of the values' memory
};

class HostCalls {
 public:
  // Compiles the parts of a step before its last part. All of this class must run inside on_device.
  HostCalls(const Ref<id<MTLDevice>>& device, const Lowered& last);
  ~HostCalls();

  // Runs these parts and calls the functions, all before it returns; the caller then runs the last part. A function is
  // called once its operands are computed, while the rest of the part still runs if the device tells that, and always
  // in the same order. Throws DeviceError or OutOfMemory if the device or a function failed; then no variable has
  // changed.
  void run(id<MTLCommandQueue> queue, const FeedBytes* feeds);
  const Passed& passed() const { return passed_; }
  // Frees the memory of values and feeds until the next run; runs of the last part keep theirs.
  void forget_arrays();
  // add_times returns the time in seconds at which the last part began.
  void set_profiling(bool on);
  double add_times(std::vector<KernelTime>& out) const;

 private:
  struct Part;
  struct Taken {
    double total = 0, begin = 0, end = 0;
  };
  class Arrivals;

  void make_values();
  // Runs a part and makes the calls from `next` on that can be made meanwhile; returns the next call.
  size_t run_part(size_t index, size_t next, id<MTLCommandQueue> queue, const FeedBytes* feeds);
  void make(size_t call, bool meanwhile);

  const Ref<id<MTLDevice>> device_;
  const std::shared_ptr<const LoweredHostCalls> lowered_;
  const bool assigns_;  // true if the last part assigns variables
  const std::shared_ptr<Arrivals> arrivals_;
  std::vector<Part> parts_;
  Passed passed_;
  bool is_timed_ = false;
  double start_ = 0, end_ = 0;  // of the last run
  std::vector<Taken> taken_;    // by call
};

}  // namespace alloy::engine
