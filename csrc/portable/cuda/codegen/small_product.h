// Products of small matrices, which take less time than beginning a launch: they are merged with others.
#pragma once

namespace alloy::cuda {

// Defines `small_product`, behind kProduct.
extern const char* const kSmallProduct;

}  // namespace alloy::cuda
