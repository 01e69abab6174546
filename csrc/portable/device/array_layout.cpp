// Copies between arrays and host memory with strides: whole rows at a time where both sides are dense.

#include "device/array_layout.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace alloy::device {

size_t ArrayLayout::elements() const noexcept {
  size_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis) count *= lengths[axis];
  return count;
}

size_t ArrayLayout::packed_row_bytes() const noexcept { return (rank ? lengths[rank - 1] : 1) * element_bytes; }

void ArrayLayout::pack() noexcept { set_row_bytes(packed_row_bytes()); }

void ArrayLayout::set_row_bytes(size_t bytes) noexcept {
  ptrdiff_t stride = static_cast<ptrdiff_t>(bytes);
  for (size_t axis = rank; axis-- > 0;) {
    const bool is_fastest = axis + 1 == rank;
    strides[axis] = is_fastest ? static_cast<ptrdiff_t>(element_bytes) : stride;
    if (!is_fastest) stride *= static_cast<ptrdiff_t>(lengths[axis]);
  }
}

bool ArrayLayout::is_packed() const noexcept {
  ptrdiff_t stride = static_cast<ptrdiff_t>(element_bytes);
  for (size_t axis = rank; axis-- > 0;) {
    if (strides[axis] != stride && lengths[axis] != 1) return false;
    stride *= static_cast<ptrdiff_t>(lengths[axis]);
  }
  return true;
}

ptrdiff_t ArrayLayout::begin() const noexcept {
  ptrdiff_t at = static_cast<ptrdiff_t>(offset);
  for (size_t axis = 0; axis < rank; ++axis) {
    if (strides[axis] < 0) at += strides[axis] * (static_cast<ptrdiff_t>(lengths[axis]) - 1);
  }
  return at;
}

size_t ArrayLayout::end() const noexcept {
  size_t at = offset;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (lengths[axis] == 0) return offset;
    if (strides[axis] > 0) at += static_cast<size_t>(strides[axis]) * (lengths[axis] - 1);
  }
  return at + element_bytes;
}

namespace {

enum class Direction { kToHost, kFromHost };

void copy_bytes(Direction direction, std::byte* device, std::byte* host, size_t bytes) {
  direction == Direction::kToHost ? std::memcpy(host, device, bytes) : std::memcpy(device, host, bytes);
}

// Copies the part of the array below `axis`. `strides` are the host's, in the order of the lengths.
void copy_axis(Direction direction, const ArrayLayout& layout, size_t axis, std::byte* device, std::byte* host,
               const ptrdiff_t* strides) {
  const ptrdiff_t element = static_cast<ptrdiff_t>(layout.element_bytes);
  if (axis == layout.rank) return copy_bytes(direction, device, host, layout.element_bytes);
  const ptrdiff_t here = layout.strides[axis], there = strides[axis];
  const bool is_row = axis + 1 == layout.rank;
  if (is_row && here == element && there == element) {
    return copy_bytes(direction, device, host, layout.packed_row_bytes());
  }
  for (size_t i = 0; i < layout.lengths[axis]; ++i, device += here, host += there) {
    if (is_row) copy_bytes(direction, device, host, layout.element_bytes);
    else copy_axis(direction, layout, axis + 1, device, host, strides);
  }
}

// The same array in host memory: with `strides` from the fastest to the slowest dimension, or packed if null.
ArrayLayout host_layout(const ArrayLayout& layout, const ptrdiff_t* strides) {
  ArrayLayout host = layout;
  host.offset = 0;
  if (strides) std::reverse_copy(strides, strides + host.rank, host.strides);
  else host.pack();
  return host;
}

void transfer(Direction direction, Device& device, Storage& storage, const ArrayLayout& layout, std::byte* host,
              const ptrdiff_t* strides) {
  const size_t bytes = layout.packed_bytes();
  if (bytes == 0) return;
  if (layout.is_packed() && (!strides || host_layout(layout, strides).is_packed())) {
    direction == Direction::kToHost ? storage.read(layout.offset, host, bytes)
                                    : storage.write(layout.offset, host, bytes);
    return;
  }
  const ArrayLayout there = host_layout(layout, strides);
  if (std::byte* visible = storage.host_bytes()) {
    copy_axis(direction, layout, 0, visible + layout.offset, host, there.strides);
    auto& counter =
        direction == Direction::kToHost ? device.counters().bytes_from_device : device.counters().bytes_to_device;
    counter.fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  // The staging copy holds the gaps too, so that they keep their bytes in both directions.
  const size_t begin = static_cast<size_t>(layout.begin()), extent = layout.end() - begin;
  std::vector<std::byte> staging(extent);
  if (direction == Direction::kToHost || !layout.is_packed()) storage.read(begin, staging.data(), extent);
  copy_axis(direction, layout, 0, staging.data() + (layout.offset - begin), host, there.strides);
  if (direction == Direction::kFromHost) storage.write(begin, staging.data(), extent);
}

// Copies the part of the arrays below `axis`. The axes from `dense` on form rows without gaps in both arrays.
void copy_rows_of(const ArrayMemory& from, const ArrayMemory& to, size_t axis, size_t dense, Storage::Rows source,
                  Storage::Rows target) {
  const ArrayLayout& layout = from.layout;
  if (axis + 1 < dense) {
    for (size_t i = 0; i < layout.lengths[axis]; ++i) {
      copy_rows_of(from, to, axis + 1, dense, source, target);
      source.offset += static_cast<size_t>(layout.strides[axis]);
      target.offset += static_cast<size_t>(to.layout.strides[axis]);
    }
    return;
  }
  size_t row = layout.element_bytes, count = 1;
  for (size_t i = dense; i < layout.rank; ++i) row *= layout.lengths[i];
  if (dense > 0) {
    count = layout.lengths[dense - 1];
    source.pitch = layout.strides[dense - 1];
    target.pitch = to.layout.strides[dense - 1];
  }
  to.storage->copy_rows(target, *from.storage, source, row, count);
}

}  // namespace

bool may_share(const ArrayMemory& a, const ArrayMemory& b) {
  const uintptr_t a_start = a.storage->address(), b_start = b.storage->address();
  return a_start + static_cast<uintptr_t>(a.layout.begin()) < b_start + b.layout.end() &&
         b_start + static_cast<uintptr_t>(b.layout.begin()) < a_start + a.layout.end();
}

void copy_array(const ArrayMemory& from, const ArrayMemory& to) {
  if (from.layout.packed_bytes() == 0) return;
  size_t dense = from.layout.rank;
  ptrdiff_t stride = static_cast<ptrdiff_t>(from.layout.element_bytes);
  for (; dense > 0; --dense) {
    const size_t axis = dense - 1;
    if (from.layout.lengths[axis] == 1) continue;
    if (from.layout.strides[axis] != stride || to.layout.strides[axis] != stride) break;
    stride *= static_cast<ptrdiff_t>(from.layout.lengths[axis]);
  }
  copy_rows_of(from, to, 0, dense, {from.layout.offset, 0}, {to.layout.offset, 0});
}

void read_array(Device& device, Storage& storage, const ArrayLayout& layout, void* host, const ptrdiff_t* strides) {
  transfer(Direction::kToHost, device, storage, layout, static_cast<std::byte*>(host), strides);
}

void write_array(Device& device, Storage& storage, const ArrayLayout& layout, const void* host,
                 const ptrdiff_t* strides) {
  // In this direction the host's memory is only read.
  transfer(Direction::kFromHost, device, storage, layout, const_cast<std::byte*>(static_cast<const std::byte*>(host)),
           strides);
}

}  // namespace alloy::device
