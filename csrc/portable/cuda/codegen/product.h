// Sums of products in tiles: what matrix products and convolutions share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/codegen/code.h"

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

  static constexpr size_t kOwn = 5;
};

// How the elements of a product become results.
struct Finish {
  std::vector<const char*> libraries = {};
  // Functions of an element's index: of what is read for it, and of what follows from that and the element.
  std::string read = "[](i64) { return 0; }";
  std::string write = "[&](i64 i, int, float x) { ((float*)p[2])[i] = x; }";
  std::vector<Pointer> pointers = {result(0)};  // from p + 2
  std::vector<int64_t> numbers = {};            // behind the product's
};

// The product that computes an op of float32, if tiles do.
std::optional<Product> product_of(const ir::Op& op);
std::optional<Product> product_of_matmul(const ir::Op& op);
std::optional<Product> product_of_convolution(const ir::Op& op);

void append_product(Code& code, const Product& product, const Finish& finish = {});

}  // namespace alloy::cuda
