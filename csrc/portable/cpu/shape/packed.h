// Strides of packed row-major tensors, in elements.
#pragma once

#include "ir/shape.h"

namespace alloy::cpu {

inline ir::Dims packed_strides(const ir::Shape& shape) {
  ir::Dims strides(shape.rank());
  int64_t stride = 1;
  for (int64_t i = shape.rank() - 1; i >= 0; stride *= shape[i--]) strides[i] = stride;
  return strides;
}

}  // namespace alloy::cpu
