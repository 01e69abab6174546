// What a step with ops of libraries computes before its last part, and the values that pass between its parts. Private
// to the engine.
#pragma once

#include <string>
#include <vector>

#import "engine/running/segment.h"

namespace alloy::engine {

struct LibraryCall;
struct LoweredAhead;

// Memory of a value that executables and calls make and use: lies where both see it, if the device has such memory.
class PassedValue {
 public:
  // Of a static type. On the device, as all of it.
  static PassedValue make(id<MTLDevice> device, const ir::Type& type);
  PassedValue(PassedValue&&) = default;
  PassedValue& operator=(PassedValue&&) = default;

  MPSGraphTensorData* data() const { return array_ ? array_->data() : data_.get(); }
  // For a call: its elements; the memory for them, and that a call has written it.
  const void* elements();
  void* memory();
  void note_written();

 private:
  PassedValue() = default;

  Ref<id<MTLBuffer>> buffer_ = {};
  Ref<MPSGraphTensorData*> data_ = {};
  std::optional<Array> array_ = {};  // of a device whose memory the host does not see, with
  std::vector<std::byte> copy_ = {};
};

// By their numbers.
class Passed {
 public:
  MPSGraphTensorData* data(size_t value) const { return values_[value].data(); }

 private:
  friend class Ahead;
  std::vector<PassedValue> values_ = {};
};

class Ahead {
 public:
  // Compiles the parts of a step before this last one, which has some. On the device, as all of it.
  Ahead(const Ref<id<MTLDevice>>& device, const Lowered& last);
  ~Ahead();

  // Computes them and calls the functions of the libraries, all in this call; a run of the last part comes next. Throws
  // DeviceError or OutOfMemory: the device failed, or a function did. Then no variable has changed.
  void run(id<MTLCommandQueue> queue, const FeedBytes* feeds);
  const Passed& passed() const { return passed_; }
  // Gives back the memory of values and feeds until the next run; runs of the last part keep theirs.
  void forget_arrays();
  // add_times returns when the last part began, in seconds.
  void set_profiling(bool on);
  double add_times(std::vector<KernelTime>& out) const;

 private:
  struct Stage;
  struct Taken {
    double total = 0, begin = 0, end = 0;
  };

  void call(const LibraryCall& call);

  const Ref<id<MTLDevice>> device_;
  const std::shared_ptr<const LoweredAhead> lowered_;
  const bool assigns_;  // the last part
  std::vector<Stage> stages_;
  Passed passed_;
  bool is_timed_ = false;
};

}  // namespace alloy::engine
