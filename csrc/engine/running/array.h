// Arrays on the device that the engine owns: of feeds and results, and of variables under VariableStorage::kBuffers.
// Private to the engine. Everything here messages the framework, so that it runs inside on_device.
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
  // Of a static type, with undefined contents. A function and not a constructor: an exception of the framework must not
  // pass through a C++ container, which can neither handle it nor pass it on.
  static Array make(id<MTLDevice> device, const ir::Type& type);
  Array(Array&&) = default;
  Array& operator=(Array&&) = default;

  // Copies the contents in and out, packed row-major, and counts the bytes.
  void write(const void* bytes);
  void read(void* bytes) const;
  size_t bytes() const { return bytes_; }
  // The tensor data that stand for the array in a run.
  MPSGraphTensorData* data() const { return data_.get(); }

 private:
  Array() = default;

  Ref<MPSNDArray*> array_;
  Ref<MPSGraphTensorData*> data_;
  size_t bytes_ = 0;
};

// A feed of an executable. The user's memory is lent to a run if it is page-aligned, which Metal demands of memory that
// it did not allocate. Other memory is copied, and so are small arrays, because copying them is faster.
class FeedSlot {
 public:
  // Of a static type; `at` is its position in the inputs of a run.
  static FeedSlot make(id<MTLDevice> device, const ir::Type& type, NSUInteger at);

  // Puts tensor data for the contents, packed row-major, into the inputs of a run. Memory without an owner is lent only
  // if the caller keeps it until the run is over. For memory with an owner, the tensor data are kept for the next run;
  // of a run that the caller does not wait for also those of the runs before, because rings of batches take turns.
  // A pending result is fed as it lies; whoever starts the run keeps it.
  void enter(NSMutableArray* inputs, const FeedBytes& given, bool caller_keeps_it);
  // Drops memory that has no owner, and results. Call it after every run, also a failed one.
  void leave(NSMutableArray* inputs);

 private:
  FeedSlot() = default;
  // The memory as data, which does not own it; nil where Metal refuses it.
  Ref<MPSGraphTensorData*> lend(const void* bytes) const;
  // The same, of what is known or will be, together with at most so many.
  Ref<MPSGraphTensorData*> lend(const FeedBytes& given, size_t most);

  Ref<id<MTLDevice>> device_;
  ir::Type type_;
  size_t bytes_ = 0;
  Ref<MPSShape*> shape_;
  NSUInteger at_ = 0;
  std::optional<Array> own_;  // for copies: made when first needed
  FeedBytes lent_;            // what stands in the inputs, unless that is `own_`
  struct Lent {
    FeedBytes given;
    Ref<MPSGraphTensorData*> data;
  };
  std::vector<Lent> known_;  // of owners, the latest last
};

// A variable in two arrays. A run that writes the variable is fed one array, which holds the value, and writes the
// other; after the run they swap. So feed and result never alias, and a failed run loses nothing.
class Buffers {
 public:
  static Buffers make(id<MTLDevice> device, const ir::Literal& initial);

  Array& value() { return *arrays_[now_]; }
  // The array for the next value; only after reserve_next, because a variable that is never written has one array.
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
