// oneDNN as kernels: one engine, and a kernel that runs one primitive.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "cpu/kernel.h"
#include "host/signals.h"

namespace alloy::cpu {

const dnnl::engine& onednn_engine();

// For every primitive: the caller provides its scratch memory.
dnnl::primitive_attr onednn_attributes();

// True if the processor has AVX-512, or on arm64 SVE of 512 bits, whose number in oneDNN is the same, and oneDNN is not
// told otherwise (ONEDNN_MAX_CPU_ISA).
bool onednn_has_avx512();

// True if the processor has units that multiply elements of the type; always true of float32.
bool onednn_multiplies(ir::DType dtype);
// For float32, float16 or bfloat16.
dnnl::memory::data_type onednn_type(ir::DType dtype);

// Describes elements of these dimensions and strides.
dnnl::memory::desc strided(const ir::Dims& dims, const ir::Dims& strides, ir::DType dtype = ir::DType::float32);

// Held by a thread while it makes or runs primitives. oneDNN then uses that thread alone: kernels divide the work
// themselves (divided.h), so that their team is all that computes. And signals wait: products of oneDNN point the stack
// at memory from malloc, where a handler's frame would overwrite what lies before it.
class OnednnCall {
 public:
  OnednnCall();
  ~OnednnCall();
  OnednnCall(const OnednnCall&) = delete;
  OnednnCall& operator=(const OnednnCall&) = delete;

 private:
  const int threads_before_;
  const host::BlockSignals no_signals_;
};

// A part of an axis.
struct Section {
  int64_t begin, end;
  int64_t length() const { return end - begin; }
};

// At most `count` sections of about the same length, none empty. Sections of many elements begin at multiples of a
// vector's length.
std::vector<Section> sections(int64_t length, int64_t count);

// A primitive with its memory objects, on the calling thread. If it wants an operand or result in another layout than
// the plain one, the data go through a buffer in scratch.
class PrimitiveKernel {
 public:
  struct Argument {
    int id;        // DNNL_ARG_...
    size_t index;  // of the operand or result
    bool is_result;
    dnnl::memory::desc plain;   // the layout of the operand or result
    dnnl::memory::desc wanted;  // the layout that the primitive was made for
  };

  // Throws dnnl::error. An OnednnCall must exist.
  PrimitiveKernel(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                  const std::vector<Argument>& arguments);

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const;
  size_t scratch_bytes() const { return scratch_bytes_; }
  // From now on runs get packed weights, the second operand. Returns how many bytes they take; 0 if the primitive takes
  // weights as they are.
  size_t take_prepacked();
  // Packs weights, on the caller's team.
  void prepack(const std::byte* weights, std::byte* to) const;

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

  // Reorders the weights of some output channels, or of some groups.
  struct Packing {
    dnnl::reorder reorder;
    dnnl::memory from, to, scratchpad;
    size_t begin;           // of the channels, in bytes
    size_t scratch_offset;  // behind the packed weights
    dnnl::stream stream;
    std::vector<dnnl_exec_arg_t> arguments = {};
  };

  dnnl::memory buffer(const dnnl::memory::desc& desc);
  // False if oneDNN cannot write them alone.
  bool add_packing(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, Section channels);
  static void execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
                      const std::vector<dnnl_exec_arg_t>& arguments);

  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl_exec_arg_t> primitive_arguments_;
  std::vector<Bound> bound_;
  std::vector<Packing> packings_;
  size_t packed_bytes_ = 0;
  std::vector<Buffer> buffers_;
  size_t scratch_bytes_ = 0;
};

}  // namespace alloy::cpu
