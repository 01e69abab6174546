#import "engine/running/array.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#import "engine/device.h"
#include "engine/executable.h"
#import "engine/mps_types.h"
#import "engine/running/run.h"
#include "engine/stats.h"

namespace alloy::engine {

Array Array::make(id<MTLDevice> device, const ir::Type& type) {
  Array made;
  made.bytes_ = type.byte_count();
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:mps_type(type.dtype)
                                                                            shape:mps_shape(type.shape)];
  made.array_ = Ref<MPSNDArray*>::adopt([[MPSNDArray alloc] initWithDevice:device descriptor:descriptor]);
  made.data_ = Ref<MPSGraphTensorData*>::adopt([[MPSGraphTensorData alloc] initWithMPSNDArray:made.array_.get()]);
  return made;
}

void Array::write(const void* bytes) {
  [array_.get() writeBytes:const_cast<void*>(bytes) strideBytes:nil];
  counters().bytes_to_device += bytes_;
}

void Array::read(void* bytes) const {
  [array_.get() readBytes:bytes strideBytes:nil];
  counters().bytes_from_device += bytes_;
}

bool can_be_lent(const void* data, size_t bytes) {
  constexpr size_t kWorthLending = 32 << 10;  // bytes; copying fewer takes as long as making the framework's objects
  return bytes >= kWorthLending && reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(getpagesize()) == 0;
}

FeedSlot FeedSlot::make(id<MTLDevice> device, const ir::Type& type, NSUInteger at) {
  FeedSlot made;
  made.device_ = Ref<id<MTLDevice>>::retain(device);
  made.type_ = type;
  made.bytes_ = type.byte_count();
  made.shape_ = Ref<MPSShape*>::adopt([mps_shape(type.shape) copy]);
  made.at_ = at;
  return made;
}

Ref<MPSGraphTensorData*> FeedSlot::lend(const void* bytes) const {
  // Lends whole pages, which are mapped in any case; nothing reads the bytes behind the feed's.
  const size_t page = getpagesize();
  const auto buffer =
      Ref<id<MTLBuffer>>::adopt([device_.get() newBufferWithBytesNoCopy:const_cast<void*>(bytes)
                                                                 length:(bytes_ + page - 1) / page * page
                                                                options:MTLResourceStorageModeShared
                                                            deallocator:nil]);
  if (buffer.get() == nil) return {};
  return Ref<MPSGraphTensorData*>::adopt([[MPSGraphTensorData alloc] initWithMTLBuffer:buffer.get()
                                                                                 shape:shape_.get()
                                                                              dataType:mps_type(type_.dtype)]);
}

Ref<MPSGraphTensorData*> FeedSlot::lend(const FeedBytes& given, size_t most) {
  if (!given.owner) return lend(given.data);
  const auto same = std::find_if(known_.begin(), known_.end(), [&](const Lent& one) {
    return one.given.data == given.data && one.given.owner == given.owner;
  });
  Lent lent = same != known_.end() ? std::move(*same) : Lent{given, lend(given.data)};
  if (same != known_.end()) known_.erase(same);
  const auto data = lent.data;
  if (data.get() != nil) known_.push_back(std::move(lent));
  if (known_.size() > most) known_.erase(known_.begin(), known_.end() - static_cast<ptrdiff_t>(most));
  return data;
}

void FeedSlot::enter(NSMutableArray* inputs, const FeedBytes& given, bool caller_keeps_it) {
  if (given.pending != nullptr) {
    MPSGraphTensorData* const result = given.pending->submission->run_->result(given.pending->index);
    [inputs replaceObjectAtIndex:at_ withObject:result];
    lent_ = {static_cast<const void*>(result)};
    return;
  }
  if (lent_.data != nullptr && lent_.data == given.data && lent_.owner == given.owner) return;
  if (can_be_lent(given.data, bytes_) && (given.owner || caller_keeps_it)) {
    constexpr size_t kRings = 3;  // batches that a trainer feeds in turn
    const auto data = lend(given, caller_keeps_it ? 1 : kRings);
    if (data.get() != nil) {
      [inputs replaceObjectAtIndex:at_ withObject:data.get()];
      lent_ = given;
      return;
    }
  }
  const bool was_lent = std::exchange(lent_, {}).data != nullptr;
  const bool is_new = !own_;
  if (is_new) own_ = Array::make(device_.get(), type_);
  if (was_lent || is_new) [inputs replaceObjectAtIndex:at_ withObject:own_->data()];
  own_->write(given.data);
}

void FeedSlot::leave(NSMutableArray* inputs) {
  if (lent_.data == nullptr || lent_.owner) return;
  lent_ = {};
  [inputs replaceObjectAtIndex:at_ withObject:own_ ? static_cast<id>(own_->data()) : [NSNull null]];
}

Buffers Buffers::make(id<MTLDevice> device, const ir::Literal& initial) {
  Buffers made;
  made.device_ = Ref<id<MTLDevice>>::retain(device);
  made.type_ = initial.type();
  std::vector<std::byte> contents(made.type_.byte_count());
  initial.fill(contents.data());
  made.arrays_[0] = Array::make(device, made.type_);
  made.arrays_[0]->write(contents.data());
  return made;
}

void Buffers::reserve_next() {
  if (!arrays_[1]) arrays_[1] = Array::make(device_.get(), type_);
}

}  // namespace alloy::engine
