// The ways to compute a product of two matrices, in the order in which they are asked.
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
  // True if it can compute this product as exactly as the other ways.
  bool (*applies)(const ProductShape& shape, const Machine& machine);
  // True if it costs less than the ways after it in the list, by measurements.
  bool (*pays)(const ProductShape& shape, const Machine& machine, int64_t threads);
  // Throws dnnl::error.
  std::unique_ptr<Kernel> (*make)(const ProductShape& shape);
};

// All of them; the last one applies and pays always.
std::span<const ProductWay> product_ways();
// Those for matrices that are not small.
std::span<const ProductWay> large_product_ways();

// The first that applies and pays.
const ProductWay& choose(std::span<const ProductWay> ways, const ProductShape& shape, const Machine& machine,
                         int64_t threads);

// By the chosen way, on this machine and as many threads as kernels use. Throws dnnl::error.
std::unique_ptr<Kernel> make_product(const ProductShape& shape, std::span<const ProductWay> ways = product_ways());

// True if a PackedProduct whose panels are used at once is faster than writing the result and reading it again. It is
// if the result does not stay in the cache, and the right matrix, which is read for every panel, fits into a thread's
// second-level cache.
bool packed_product_pays(const OuterProducts& product);

}  // namespace alloy::cpu
