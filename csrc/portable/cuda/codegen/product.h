// Sums of products in tiles: what matrix products and convolutions share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/codegen/leader.h"

namespace alloy::cuda {

// Defines `product` and what it asks of its matrices.
extern const char* const kProduct;

// Sums of products of the elements of two matrices, the op's first operands, which are p[0] and p[1].
struct Product {
  std::vector<const char*> libraries;  // that define the matrices, behind kProduct
  // Expressions of the left and the right matrix, and of the places of the result's elements.
  std::string left, right, places;
  std::vector<int64_t> numbers;  // from n + kOwn
  int64_t rows, columns, inner, matrices;
  bool is_tf32 = false;  // factors may be rounded to TF32

  static constexpr size_t kOwn = 5;
};

// The product that computes an op of float32, if tiles do.
std::optional<Product> product_of(const ir::Op& op);
std::optional<Product> product_of_matmul(const ir::Op& op);
std::optional<Product> product_of_convolution(const ir::Op& op);

// What the functions of a product get: its ProductSize, whose sums are divided into so many parts, and its own numbers.
std::vector<int64_t> numbers_of(const Product& product, int64_t parts);
void append_product(Code& code, const Product& product, const Maker& finish);

}  // namespace alloy::cuda
