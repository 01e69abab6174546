// Products of small matrices, which take less time than beginning a launch: they are merged with others.
#pragma once

#include "cuda/codegen/product.h"

namespace alloy::cuda {

bool is_small(const Product& product);
void append_small_product(Code& code, const Product& product, const Maker& finish);

}  // namespace alloy::cuda
