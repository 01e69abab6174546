// Arrays on the device that the engine owns: for feeds and results, and for variables under VariableStorage::kBuffers.
// Private to the engine. Everything here messages the framework, so it must run inside on_device.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <optional>
#include <vector>

#import "engine/ref.h"
#include "engine/running/feed_bytes.h"
#include "ir/graph.h"

namespace alloy::engine {

class Array {
 public:
  // Undefined contents, for a static type. A function instead of a constructor, because an exception of the framework
  // must not pass through a C++ container, which can neither handle it nor pass it on.
  static Array make(id<MTLDevice> device, const ir::Type& type);
  Array(Array&&) = default;
  Array& operator=(Array&&) = default;

  // Copies the contents in or out, packed row-major, and counts the bytes.
  void write(const void* bytes);
  void read(void* bytes) const;
  size_t bytes() const { return bytes_; }
  // The tensor data for the array in a run.
  MPSGraphTensorData* data() const { return data_.get(); }

 private:
  Array() = default;

  Ref<MPSNDArray*> array_;
  Ref<MPSGraphTensorData*> data_;
  size_t bytes_ = 0;
};

// A feed of an executable. A run reads the user's memory directly if it is page-aligned, which Metal requires of memory
// that it did not allocate. Other memory is copied, as are small arrays, because copying those is faster.
class FeedSlot {
 public:
  // For a static type; `at` is the position in the inputs of a run.
  static FeedSlot make(id<MTLDevice> device, const ir::Type& type, NSUInteger at);

  // Puts tensor data for the contents (packed row-major) into the inputs of a run. Memory without an owner is lent only
  // if the caller keeps it until the run is over. For memory with an owner, the tensor data stay for the next run; if
  // the caller does not wait for the run, so do those of the previous runs, because a training feeds several batches in
  // turn. A pending result is fed without a copy; the caller keeps it.
  void enter(NSMutableArray* inputs, const FeedBytes& given, bool caller_keeps_it);
  // Drops memory without an owner, and results. Call this after every run, even a failed one.
  void leave(NSMutableArray* inputs);

 private:
  FeedSlot() = default;
  // Tensor data over the memory, which they do not own; nil if Metal refuses the memory.
  Ref<MPSGraphTensorData*> lend(const void* bytes) const;
  // The same, from the kept tensor data or new; keeps at most `most`.
  Ref<MPSGraphTensorData*> lend(const FeedBytes& given, size_t most);

  Ref<id<MTLDevice>> device_;
  ir::Type type_;
  size_t bytes_ = 0;
  Ref<MPSShape*> shape_;
  NSUInteger at_ = 0;
  std::optional<Array> own_;  // for copies; made when needed
  FeedBytes lent_;            // the feed in the inputs, unless that is own_
  struct Lent {
    FeedBytes given;
    Ref<MPSGraphTensorData*> data;
  };
  std::vector<Lent> known_;  // for memory with owners, the latest last
};

// A variable in two arrays. A run that writes the variable reads one array, which holds the value, and writes the
// other; after the run they swap. So feed and result never alias, and a failed run loses nothing.
class Buffers {
 public:
  static Buffers make(id<MTLDevice> device, const ir::Literal& initial);

  Array& value() { return *arrays_[now_]; }
  // The array for the next value. Call reserve_next() first: a variable that is never written has one array.
  Array& next() { return *arrays_[1 - now_]; }
  void reserve_next();
  void swap() { now_ = 1 - now_; }

 private:
  Buffers() = default;

  Ref<id<MTLDevice>> device_;
  ir::Type type_;
  std::optional<Array> arrays_[2];
  size_t now_ = 0;
};

}  // namespace alloy::engine
