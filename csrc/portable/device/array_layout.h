// Arrays in device storage, packed or with gaps between rows, and their copies to and from host memory of any strides.
#pragma once

#include <cstddef>
#include <memory>

#include "device/device.h"
#include "ir/shape.h"

namespace alloy::device {

// Most dimensions an array can have.
inline constexpr size_t kMaxRank = ir::kMostAxes;

// Where the elements of an array are in its storage: row-major, the fastest dimension without gaps, each row
// of it `row_bytes` after the one before.
struct ArrayLayout {
  size_t rank = 0;
  size_t lengths[kMaxRank] = {};  // From the slowest to the fastest dimension.
  size_t element_bytes = 0;
  size_t offset = 0;     // Bytes from the start of the storage.
  size_t row_bytes = 0;  // Bytes from row to row.

  // Number of elements; 1 for rank 0.
  size_t elements() const noexcept;

  // Bytes of one row without a gap.
  size_t packed_row_bytes() const noexcept;

  // Bytes the elements take when packed.
  size_t packed_bytes() const noexcept { return elements() * element_bytes; }

  // True when there is no gap between rows.
  bool is_packed() const noexcept { return row_bytes == packed_row_bytes(); }

  // Bytes of storage needed from its start.
  size_t end() const noexcept;
};

// An array: where its elements are, in which storage of which device.
struct ArrayMemory {
  Device* device;
  std::shared_ptr<Storage> storage;
  ArrayLayout layout;
};

// Copies all elements of one array to another of the same shape, within their device.
void copy_array(const ArrayMemory& from, const ArrayMemory& to);

// Copies all elements to `host`, with `strides` in bytes from the fastest to the slowest dimension, or packed
// when null.
void read_array(Device& device, Storage& storage, const ArrayLayout& layout, void* host, const ptrdiff_t* strides);

// Copies all elements from `host`, with strides as for reading.
void write_array(Device& device, Storage& storage, const ArrayLayout& layout, const void* host,
                 const ptrdiff_t* strides);

}  // namespace alloy::device
