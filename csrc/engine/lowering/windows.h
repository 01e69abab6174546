// Descriptors of convolutions and poolings: their common part. Private to the engine.
#pragma once

#include <vector>

#import "engine/lowering/ops.h"
#include "ir/rules/windows.h"

namespace alloy::engine {

// A number of a window, in the type that descriptors take.
inline NSUInteger unsign(int64_t value) { return static_cast<NSUInteger>(value); }

// The windows along each of an op's axes, with resolved padding: the framework gets explicit numbers, and only ir
// decides what "same" means. `kernel` holds the window's extents.
inline std::vector<ir::Window> windows_of(const ir::Op& op, const ir::Shape& source, const ir::Dims& kernel) {
  const ir::Dims axes = ir::window_axes(op.attributes, source.rank());
  std::vector<ir::Window> windows;
  for (int64_t i = 0; i < axes.size(); ++i) {
    windows.push_back(ir::window_of(op.attributes, i, kernel[i], source[axes[i]]));
  }
  return windows;
}

}  // namespace alloy::engine
