// An op divided into primitives of oneDNN, for the shares of a loop.
#pragma once

#include "cpu/onednn/onednn.h"

namespace alloy::cpu {

// Each part computes a part of the result, or a summand of it. Weights that the parts want in another layout, the same
// for all, are packed once.
class DividedKernel final : public Kernel {
 public:
  struct Part {
    std::unique_ptr<PrimitiveKernel> kernel;
    // Where the operands and the result of the part begin, in bytes.
    size_t left = 0, right = 0, result = 0;
  };

  explicit DividedKernel(std::vector<Part> parts);
  // The result is the sum of the parts' results, which have that many elements of float32.
  DividedKernel(std::vector<Part> parts, int64_t summed);

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override;
  size_t scratch_bytes() const override;
  std::optional<Prepacked> prepacked() const override { return packed_; }
  void take_prepacked() override { is_packed_ = true; }
  void prepack(const std::byte* weights, std::byte* to) const override { parts_[0].kernel->prepack(weights, to); }

 private:
  size_t packed_bytes() const;

  std::vector<Part> parts_;
  std::optional<Prepacked> packed_;  // what the parts want
  bool is_packed_ = false;           // before a run
  int64_t summed_ = 0;
  size_t scratch_of_part_ = 0;
};

// How many parts pay for that many products of two numbers.
int64_t parts_for(double products);

// A matrix or a stack of matrices.
struct Matrices {
  ir::Dims dims, strides;

  int64_t rank() const { return dims.size(); }
  bool is_one(int64_t axis) const { return dims[axis] == 1; }
};

// y = a b. Throws dnnl::error.
std::unique_ptr<Kernel> matrix_product(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype);

}  // namespace alloy::cpu
