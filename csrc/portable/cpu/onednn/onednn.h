// oneDNN behind the kernel interface: one engine, and a kernel that runs one prepared primitive.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "cpu/kernel.h"

namespace alloy::cpu {

const dnnl::engine& onednn_engine();

// Attributes for every primitive: scratchpads come from the caller.
dnnl::primitive_attr onednn_attributes();

// True if the processor multiplies elements of the type in units of its own; float32 always.
bool onednn_multiplies(ir::DType dtype);
// float32, float16 or bfloat16.
dnnl::memory::data_type onednn_type(ir::DType dtype);

// Elements of these dimensions at these strides.
dnnl::memory::desc strided(const ir::Dims& dims, const ir::Dims& strides, ir::DType dtype = ir::DType::float32);

// A primitive with its memory objects. Where it wants an operand or result in another layout than the plain
// one, that goes through a buffer in scratch. Uses the threads that kernels had when it was prepared: oneDNN
// divides the work then.
class PrimitiveKernel final : public Kernel {
 public:
  struct Argument {
    int id;        // DNNL_ARG_...
    size_t index;  // of the operand or result
    bool is_result;
    dnnl::memory::desc plain;   // as it stands in the operand or result
    dnnl::memory::desc wanted;  // as the primitive was made for it
  };

  // Throws dnnl::error.
  PrimitiveKernel(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                  const std::vector<Argument>& arguments);

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override;
  size_t scratch_bytes() const override { return scratch_bytes_; }
  std::optional<Prepacked> prepacked() const override;
  void take_prepacked() override;
  void prepack(const std::byte* weights, std::byte* to) const override;

 private:
  // A primitive's memory at a fixed place in scratch.
  struct Buffer {
    dnnl::memory memory;
    size_t offset;
  };
  struct Bound {
    size_t index = 0;
    bool is_result = false;
    dnnl::memory memory = {};
    dnnl::reorder reorder = {};  // to or from the buffer; empty where the primitive takes the plain layout
    std::vector<dnnl_exec_arg_t> reorder_arguments = {};
    dnnl::memory buffer = {}, scratchpad = {};  // of the reorder
  };

  dnnl::memory buffer(const dnnl::memory::desc& desc);
  const Bound* weights() const;  // where they are reordered
  void execute(const dnnl::primitive& primitive, const std::vector<dnnl_exec_arg_t>& arguments) const;

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl_exec_arg_t> primitive_arguments_;
  std::vector<Bound> bound_;
  Bound laid_out_;  // the weights before they are laid out, once that is not for run() to do
  std::vector<Buffer> buffers_;
  size_t scratch_bytes_ = 0;
  int threads_;
};

// The product of two matrices, or stacks of them, of any strides. Throws dnnl::error.
PrimitiveKernel matrix_product(const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& y);

}  // namespace alloy::cpu
