// Fetches lines of a factor from memory before they are needed, some of them at each turn of a loop.
#pragma once

#include "cpu/amx/panels.h"

namespace alloy::cpu::amx {

class Prefetcher {
 public:
  // Fetches nothing.
  Prefetcher() = default;
  // Lines [line, end) of the factor, `inner` elements from `depth` on. `turns` turns fetch all of it.
  struct Block {
    int64_t line, end, depth, inner;
  };
  Prefetcher(const Factor& f, const Block& block, int64_t turns) {
    if (block.line >= block.end) return;
    const bool along = f.inner_stride == 1;
    const int64_t lines = block.end - block.line;
    at_ = reinterpret_cast<const char*>(f.data + block.line * f.line_stride + block.depth * f.inner_stride);
    rows_ = along ? lines : block.inner;
    row_bytes_ = (along ? block.inner : lines) * 4;
    stride_ = (along ? f.line_stride : f.inner_stride) * 4;
    share_ = divide_up(rows_ * divide_up(row_bytes_, kCacheLine), turns);
  }

  // One turn: calls touch(address) once for each cache line that the turn fetches.
  template <class Touch>
  void turn(const Touch& touch) {
    for (int64_t i = 0; i < share_ && rows_ > 0; ++i) {
      touch(at_ + offset_);
      if ((offset_ += kCacheLine) < row_bytes_) continue;
      offset_ = 0;
      at_ += stride_;
      --rows_;
    }
  }
  // One turn, into the second-level cache.
  void fetch() {
    turn([](const char* at) { __builtin_prefetch(at, 0, 2); });
  }

 private:
  const char* at_ = nullptr;
  int64_t rows_ = 0, row_bytes_ = 0, stride_ = 0, offset_ = 0, share_ = 0;
};

}  // namespace alloy::cpu::amx
