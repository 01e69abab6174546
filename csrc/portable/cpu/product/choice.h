// The ways to compute a product of two matrices, in the order in which they are tried.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cpu/kernel.h"
#include "cpu/machine.h"
#include "cpu/product/packed_product.h"
#include "cpu/product/shape.h"

namespace alloy::cpu {

struct ProductWay {
  std::string_view name;
  // True if the way can compute the product as exactly as the others.
  bool (*applies)(const ProductShape& shape, const Machine& machine);
  // True if the way was measured to be faster than those after it in the list.
  bool (*pays)(const ProductShape& shape, const Machine& machine, int64_t threads);
  // Throws dnnl::error.
  std::unique_ptr<Kernel> (*make)(const ProductShape& shape);
};

// All ways; the last one applies and pays always.
std::span<const ProductWay> product_ways();
// The ways for matrices that are not small.
std::span<const ProductWay> large_product_ways();

// The first way that applies and pays.
const ProductWay& choose(std::span<const ProductWay> ways, const ProductShape& shape, const Machine& machine,
                         int64_t threads);

// A kernel of the chosen way, for this machine and the current number of threads. Throws dnnl::error.
std::unique_ptr<Kernel> make_product(const ProductShape& shape, std::span<const ProductWay> ways = product_ways());

// True if a PackedProduct whose panels are used at once is faster than writing the result and reading it again: the
// result does not fit into the cache, but the right matrix, which is read for every panel, fits into a thread's
// second-level cache.
bool packed_product_pays(const OuterProducts& product);

}  // namespace alloy::cpu
