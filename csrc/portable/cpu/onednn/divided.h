// An op divided into primitives of oneDNN, for the shares of a loop.
#pragma once

#include <functional>

#include "cpu/onednn/onednn.h"

namespace alloy::cpu {

// Each part computes a part of the result, or a summand of it. Weights that the parts want in another layout are packed
// once for all parts that begin at the same place of them; their layout is the same.
class DividedKernel final : public Kernel {
 public:
  struct Part {
    std::unique_ptr<PrimitiveKernel> kernel;
    // Where the operands and the result of the part begin, in bytes.
    size_t left = 0, right = 0, result = 0;
  };
  using Parts = std::vector<Part>;

  // `of_packed_weights`, if given, makes other parts for weights that are packed before runs, or none if that gains
  // nothing.
  explicit DividedKernel(Parts parts, std::function<Parts()> of_packed_weights = {});
  // A gradient of weights: the sum of the parts' results, which have that many elements of float32.
  DividedKernel(Parts parts, int64_t summed);

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override;
  size_t scratch_bytes() const override;
  std::optional<size_t> prepacked_operand() const override;
  size_t take_prepacked() override;
  void prepack(const std::byte* weights, std::byte* to) const override;

 private:
  // Weights of the parts that begin at the same place, packed.
  struct Packed {
    const PrimitiveKernel* kernel;  // packs them
    size_t begin, packed_begin;
  };
  void take(Parts parts);
  void count_scratch_of(const Part& part);
  size_t packed_bytes_of_run() const { return is_prepacked_ ? 0 : packed_bytes_; }

  Parts parts_;  // `right` is where packed weights begin, if there are any
  std::function<Parts()> of_packed_weights_;
  std::vector<Packed> packed_;
  size_t packed_bytes_ = 0;
  bool is_prepacked_ = false;
  int64_t summed_ = 0;
  size_t scratch_of_part_ = 0;
};

// How many parts pay for that many products of two numbers.
int64_t parts_for(double products);

// Into how many of the parts the rows of a result are divided; the rest divides columns. Each part reads all of the
// left matrix that its rows need, and copies all of the right one that its columns need, so the parts are as square as
// can be.
int64_t parts_of_rows(int64_t rows, int64_t columns, int64_t parts);

// A matrix or a stack of matrices.
struct Matrices {
  ir::Dims dims, strides;

  int64_t rank() const { return dims.size(); }
  bool is_one(int64_t axis) const { return dims[axis] == 1; }
};

// y = a b. Throws dnnl::error.
std::unique_ptr<Kernel> matrix_product(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype);

}  // namespace alloy::cpu
