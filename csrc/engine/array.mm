#import "engine/array.h"

#include <vector>

#import "engine/device.h"
#import "engine/lowering.h"
#include "engine/stats.h"

namespace alloy::engine {

Array::Array(const ir::Type& type) : bytes_(type.byte_count()) {
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:mps_type(type.dtype) shape:mps_shape(type.shape)];
  array_ = Ref<MPSNDArray*>::adopt([[MPSNDArray alloc] initWithDevice:metal_device() descriptor:descriptor]);
  data_ = Ref<MPSGraphTensorData*>::adopt([[MPSGraphTensorData alloc] initWithMPSNDArray:array_.get()]);
}

void Array::write(const void* bytes) {
  [array_.get() writeBytes:const_cast<void*>(bytes) strideBytes:nil];
  counters().bytes_to_device += bytes_;
}

void Array::read(void* bytes) const {
  [array_.get() readBytes:bytes strideBytes:nil];
  counters().bytes_from_device += bytes_;
}

Buffers::Buffers(const ir::Literal& initial) : type_(initial.type()) {
  std::vector<std::byte> contents(type_.byte_count());
  initial.fill(contents.data());
  arrays_[0].emplace(type_);
  arrays_[0]->write(contents.data());
}

void Buffers::reserve_next() {
  if (!arrays_[1]) arrays_[1].emplace(type_);
}

}  // namespace alloy::engine
