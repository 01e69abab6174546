// Arrays on the device that the engine owns: of feeds and results, and of variables under VariableStorage::kBuffers.
// Private to the engine. Everything here messages the framework, so that it runs inside on_device.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <optional>

#include "engine/feed_bytes.h"
#import "engine/ref.h"
#include "ir/graph.h"

namespace alloy::engine {

class Array {
 public:
  // Of a static type, with undefined contents. A function and no constructor: what the framework raises must not pass a
  // C++ container, which could neither handle it nor hand it on.
  static Array make(id<MTLDevice> device, const ir::Type& type);
  Array(Array&&) = default;
  Array& operator=(Array&&) = default;

  // Copies the contents in and out, packed row-major, and counts the bytes.
  void write(const void* bytes);
  void read(void* bytes) const;
  size_t bytes() const { return bytes_; }
  // What stands for the array in a run.
  MPSGraphTensorData* data() const { return data_.get(); }

 private:
  Array() = default;

  Ref<MPSNDArray*> array_;
  Ref<MPSGraphTensorData*> data_;
  size_t bytes_ = 0;
};

// A feed of an executable. A run is lent the user's memory where that begins at a page, as Metal asks of memory that it
// did not allocate. Other memory is copied, and so are few bytes, because that takes less time.
class FeedSlot {
 public:
  // Of a static type; `at` is its position in the inputs of a run.
  static FeedSlot make(id<MTLDevice> device, const ir::Type& type, NSUInteger at);

  // Puts what stands for the contents, packed row-major, into the inputs of a run. Memory without an owner is lent only
  // where the caller keeps it until the run is over; with one, what stands for it stays for the next run.
  void enter(NSMutableArray* inputs, const FeedBytes& given, bool caller_keeps_it);
  // Lets go of memory that has no owner; after every run, also one that failed.
  void leave(NSMutableArray* inputs);

 private:
  FeedSlot() = default;
  // The memory as data, which does not own it; nil where Metal refuses it.
  Ref<MPSGraphTensorData*> lend(const void* bytes) const;

  Ref<id<MTLDevice>> device_;
  ir::Type type_;
  size_t bytes_ = 0;
  Ref<MPSShape*> shape_;
  NSUInteger at_ = 0;
  std::optional<Array> own_;  // for copies: made when first needed
  FeedBytes lent_;            // what stands in the inputs, unless that is `own_`
};

// A variable in two arrays: a run that writes it is fed the one with its value and writes the other, and after the run
// they change places. So feed and result never alias, and a run that fails loses nothing.
class Buffers {
 public:
  static Buffers make(id<MTLDevice> device, const ir::Literal& initial);

  Array& value() { return *arrays_[now_]; }
  // The array for the next value; only after reserve_next, for variables that nothing writes have one array.
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
