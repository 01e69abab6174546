// Sums of products in tiles: what matrix products and convolutions share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"

namespace alloy::cuda {

// Defines `product` and what it asks of its matrices.
extern const char* const kProduct;

// Sums of products of the elements of two matrices, the op's first operands, which are p[0] and p[1].
struct Product {
  std::vector<const char*> libraries;  // that define the matrices, behind kProduct
  // Expressions of the left and the right matrix, and of the places of the result's elements, with the number of
  // neighbours in the place of "@".
  std::string left, right, places;
  int width;  // the most neighbours of a row that lie side by side in memory, 1 or 4
  int64_t columns, matrices;
  // Rows of the result that are computed by themselves, up to four of these in one launch.
  struct Share {
    std::vector<int64_t> numbers;  // from n + kOwn
    int64_t rows, inner;
  };
  std::vector<Share> shares;
  bool is_narrow = false;  // elements have two bytes
  bool is_tf32 = false;    // factors may be rounded to TF32

  static constexpr size_t kOwn = 12;
};

// True if products are computed of elements of the type, which both operands and the result have.
bool multiplies(ir::DType dtype);
// How many neighbours in memory are copied at once, at most 16 bytes, if each row of them has so many.
std::string width_of(int64_t neighbours, ir::DType dtype);
// A product of matrices that are stored row by row.
struct Sides {
  int64_t rows, inner, columns;
};
struct Factor {
  size_t operand;
  bool turned;  // it is stored with rows and columns exchanged
};
Product product_of_matrices(const ir::Op& op, const Sides& sides, Factor left, Factor right, const Axes& stack);
// The product that computes an op, if tiles do.
std::optional<Product> product_of(const ir::Op& op);
std::optional<Product> product_of_matmul(const ir::Op& op);
std::optional<Product> product_of_convolution(const ir::Op& op);

}  // namespace alloy::cuda
