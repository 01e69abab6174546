// Arrays with strides in device storage, and copies between them and host memory with strides.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.h"
#include "ir/shape.h"

namespace alloy::device {

// The most dimensions that an array can have.
inline constexpr size_t kMaxRank = ir::kMostAxes;

// The positions of an array's elements in its storage.
struct ArrayLayout {
  size_t rank = 0;
  size_t lengths[kMaxRank] = {};  // From the slowest to the fastest dimension.
  size_t element_bytes = 0;
  size_t offset = 0;                 // Bytes from the start of the storage to the first element.
  ptrdiff_t strides[kMaxRank] = {};  // Bytes from element to element of each dimension, in the order of the lengths.

  // Number of elements; 1 for rank 0.
  size_t elements() const noexcept;

  // Bytes of one row (the elements of the fastest dimension) without gaps.
  size_t packed_row_bytes() const noexcept;

  // Bytes that the elements take when packed.
  size_t packed_bytes() const noexcept { return elements() * element_bytes; }

  // Sets the strides of rows without gaps, row-major.
  void pack() noexcept;

  // Sets the strides of rows without gaps, row-major, each row `bytes` bytes after the one before.
  void set_row_bytes(size_t bytes) noexcept;

  // True if the elements have no gaps and are row-major.
  bool is_packed() const noexcept;

  // The first byte of the array in its storage, and the first byte after it. begin() is negative if a stride leads to
  // before the storage.
  ptrdiff_t begin() const noexcept;
  size_t end() const noexcept;
};

// An array: its layout, in a storage of a device.
struct ArrayMemory {
  Device* device;
  std::shared_ptr<Storage> storage;
  ArrayLayout layout;
};

// True if the two may share memory: if the ranges from first to last byte overlap.
bool may_share(const ArrayMemory& a, const ArrayMemory& b);

// Copies all elements of one array to another of the same shape, within their device. They share no memory.
void copy_array(const ArrayMemory& from, const ArrayMemory& to);

// Copies all elements to `host`, with `strides` in bytes from the fastest to the slowest dimension, or packed
// when null.
void read_array(Device& device, Storage& storage, const ArrayLayout& layout, void* host, const ptrdiff_t* strides);

// Copies all elements from `host`, with strides as for reading.
void write_array(Device& device, Storage& storage, const ArrayLayout& layout, const void* host,
                 const ptrdiff_t* strides);

}  // namespace alloy::device
