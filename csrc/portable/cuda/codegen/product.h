// Sums of products in tiles: what matrix products and convolutions share.
#pragma once

#include <string>
#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// Defines `product` and what it asks of its matrices.
extern const char* const kProduct;

struct Product {
  std::vector<const char*> libraries;  // that define the matrices, behind kProduct
  // Expressions of the left and the right matrix, and of the places of the result's elements.
  std::string left, right, places;
  std::vector<Pointer> pointers;
  std::vector<int64_t> numbers;  // from n + 5
  int64_t rows, columns, inner, matrices;
  // A function of an element's index in the result and its value, which stores it.
  std::string finish = "[&](i64 i, float x) { ((float*)p[2])[i] = x; }";
};

void append_product(Code& code, const Product& product);

}  // namespace alloy::cuda
