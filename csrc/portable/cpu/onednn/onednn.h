// oneDNN as kernels: one engine, and a kernel that runs one primitive.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "cpu/kernel.h"

namespace alloy::cpu {

const dnnl::engine& onednn_engine();

// For every primitive: the caller provides its scratch memory.
dnnl::primitive_attr onednn_attributes();

// True if the processor has units that multiply elements of the type; always true of float32.
bool onednn_multiplies(ir::DType dtype);
// For float32, float16 or bfloat16.
dnnl::memory::data_type onednn_type(ir::DType dtype);

// Describes elements of these dimensions and strides.
dnnl::memory::desc strided(const ir::Dims& dims, const ir::Dims& strides, ir::DType dtype = ir::DType::float32);

// A primitive with its memory objects. If it wants an operand or result in another layout than the plain one, the data
// go through a buffer in scratch. It uses the number of threads that kernels had when it was made, because oneDNN
// divides the work at that time.
class PrimitiveKernel final : public Kernel {
 public:
  struct Argument {
    int id;        // DNNL_ARG_...
    size_t index;  // of the operand or result
    bool is_result;
    dnnl::memory::desc plain;   // the layout of the operand or result
    dnnl::memory::desc wanted;  // the layout that the primitive was made for
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
  // Memory of the primitive at a fixed offset in scratch.
  struct Buffer {
    dnnl::memory memory;
    size_t offset;
  };
  struct Bound {
    size_t index = 0;
    bool is_result = false;
    dnnl::memory memory = {};
    dnnl::reorder reorder = {};  // to or from the buffer; empty if the primitive takes the plain layout
    std::vector<dnnl_exec_arg_t> reorder_arguments = {};
    dnnl::memory buffer = {}, scratchpad = {};  // of the reorder
  };

  dnnl::memory buffer(const dnnl::memory::desc& desc);
  const Bound* weights() const;  // null if they are not reordered
  void execute(const dnnl::primitive& primitive, const std::vector<dnnl_exec_arg_t>& arguments) const;

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl_exec_arg_t> primitive_arguments_;
  std::vector<Bound> bound_;
  Bound laid_out_;  // reorders the weights in prepack(), after take_prepacked()
  std::vector<Buffer> buffers_;
  size_t scratch_bytes_ = 0;
  int threads_;
};

// The product of two matrices, or of stacks of matrices, with any strides. Throws dnnl::error.
PrimitiveKernel matrix_product(const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& y);

}  // namespace alloy::cpu
