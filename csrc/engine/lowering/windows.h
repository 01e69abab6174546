// What the descriptors of convolutions and poolings have in common. Private to the engine.
#pragma once

#import "engine/lowering/ops.h"
#include "ir/windows.h"

namespace alloy::engine {

MPSGraphTensorNamedDataLayout mps_layout(const std::string& word);

// The window geometry with its padding resolved: the framework gets explicit numbers, so that only ir decides what
// "same" means.
struct Geometry {
  const ir::Attributes& attributes;
  ir::Window height, width;

  Geometry(const ir::Op& op, const ir::Shape& source, int64_t window_height, int64_t window_width)
      : attributes(op.attributes) {
    const auto axes = ir::LayoutAxes::of_data(attributes.word(ir::Attr::kDataLayout));
    height = ir::window_of(attributes, 0, window_height, source[axes.height]);
    width = ir::window_of(attributes, 1, window_width, source[axes.width]);
  }
};

}  // namespace alloy::engine
