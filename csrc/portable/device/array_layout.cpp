// Copies between device arrays and host memory with strides: whole rows at a time where both sides are dense.

#include "device/array_layout.h"

#include <cstring>
#include <vector>

namespace alloy::device {

size_t ArrayLayout::elements() const noexcept {
  size_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis) count *= lengths[axis];
  return count;
}

size_t ArrayLayout::packed_row_bytes() const noexcept { return (rank ? lengths[rank - 1] : 1) * element_bytes; }

size_t ArrayLayout::end() const noexcept {
  const size_t count = elements();
  if (count == 0) return offset;
  const size_t rows = count * element_bytes / packed_row_bytes();
  return offset + (rows - 1) * row_bytes + packed_row_bytes();
}

namespace {

enum class Direction { kToHost, kFromHost };

void copy_bytes(Direction direction, std::byte* device, std::byte* host, size_t bytes) {
  direction == Direction::kToHost ? std::memcpy(host, device, bytes) : std::memcpy(device, host, bytes);
}

// Copies the part of the array below `axis`; `strides` go from the fastest dimension to the slowest.
void copy_axis(Direction direction, const ArrayLayout& layout, size_t axis, std::byte*& device_row, std::byte* host,
               const ptrdiff_t* strides) {
  const ptrdiff_t element = layout.element_bytes;
  if (layout.rank == 0) return copy_bytes(direction, device_row, host, layout.element_bytes);
  const ptrdiff_t stride = strides[layout.rank - 1 - axis];
  const size_t length = layout.lengths[axis];
  if (axis + 1 < layout.rank) {
    for (size_t i = 0; i < length; ++i) {
      copy_axis(direction, layout, axis + 1, device_row, host + static_cast<ptrdiff_t>(i) * stride, strides);
    }
    return;
  }
  if (stride == element) {
    copy_bytes(direction, device_row, host, layout.packed_row_bytes());
  } else {
    for (size_t i = 0; i < length; ++i) {
      copy_bytes(direction, device_row + static_cast<ptrdiff_t>(i) * element, host + static_cast<ptrdiff_t>(i) * stride,
                 layout.element_bytes);
    }
  }
  device_row += layout.row_bytes;
}

void packed_strides(const ArrayLayout& layout, ptrdiff_t* strides) {
  ptrdiff_t stride = layout.element_bytes;
  for (size_t i = 0; i < layout.rank; ++i) {
    strides[i] = stride;
    stride *= static_cast<ptrdiff_t>(layout.lengths[layout.rank - 1 - i]);
  }
}

bool are_packed(const ArrayLayout& layout, const ptrdiff_t* strides) {
  ptrdiff_t packed[kMaxRank];
  packed_strides(layout, packed);
  for (size_t i = 0; i < layout.rank; ++i) {
    if (strides[i] != packed[i] && layout.lengths[layout.rank - 1 - i] != 1) {
      return false;
    }
  }
  return true;
}

void transfer(Direction direction, Device& device, Storage& storage, const ArrayLayout& layout, std::byte* host,
              const ptrdiff_t* strides) {
  const size_t bytes = layout.packed_bytes();
  if (bytes == 0) return;
  if (layout.is_packed() && (!strides || are_packed(layout, strides))) {
    direction == Direction::kToHost ? storage.read(layout.offset, host, bytes)
                                    : storage.write(layout.offset, host, bytes);
    return;
  }
  ptrdiff_t packed[kMaxRank];
  if (!strides) {
    packed_strides(layout, packed);
    strides = packed;
  }
  if (std::byte* visible = storage.host_bytes()) {
    std::byte* row = visible + layout.offset;
    copy_axis(direction, layout, 0, row, host, strides);
    auto& counter =
        direction == Direction::kToHost ? device.counters().bytes_from_device : device.counters().bytes_to_device;
    counter.fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  // Gaps between rows keep their bytes, so that they come along in both directions.
  const size_t extent = layout.end() - layout.offset;
  std::vector<std::byte> staging(extent);
  std::byte* row = staging.data();
  if (direction == Direction::kToHost || !layout.is_packed()) storage.read(layout.offset, staging.data(), extent);
  copy_axis(direction, layout, 0, row, host, strides);
  if (direction == Direction::kFromHost) storage.write(layout.offset, staging.data(), extent);
}

}  // namespace

void read_array(Device& device, Storage& storage, const ArrayLayout& layout, void* host, const ptrdiff_t* strides) {
  transfer(Direction::kToHost, device, storage, layout, static_cast<std::byte*>(host), strides);
}

void copy_array(const ArrayMemory& from, const ArrayMemory& to) {
  const size_t row = from.layout.packed_row_bytes(), bytes = from.layout.packed_bytes();
  if (bytes == 0) return;
  to.storage->copy_rows({to.layout.offset, to.layout.row_bytes}, *from.storage,
                        {from.layout.offset, from.layout.row_bytes}, row, bytes / row);
}

void write_array(Device& device, Storage& storage, const ArrayLayout& layout, const void* host,
                 const ptrdiff_t* strides) {
  // The host side is only read in this direction.
  transfer(Direction::kFromHost, device, storage, layout, const_cast<std::byte*>(static_cast<const std::byte*>(host)),
           strides);
}

}  // namespace alloy::device
