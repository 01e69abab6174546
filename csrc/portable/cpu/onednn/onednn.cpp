#include "cpu/onednn/onednn.h"

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "cpu/machine.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {

namespace {

size_t rounded(size_t bytes) { return ir::round_up(bytes, kCacheLine); }

}  // namespace

const dnnl::engine& onednn_engine() {
  // Never destroyed: a thread may still be making kernels when the process ends.
  static const dnnl::engine& engine = *[] {
    // oneDNN's cache keeps the kernels of a deep network, but not those of a thousand batch sizes.
    constexpr int kMostPrimitives = 128;
    if (std::getenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY") == nullptr) dnnl::set_primitive_cache_capacity(kMostPrimitives);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

dnnl::primitive_attr onednn_attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

std::vector<Section> sections(int64_t length, int64_t count) {
  constexpr int64_t kVector = 16, kFewestVectors = 8;
  const int64_t unit = length >= kFewestVectors * kVector * count ? kVector : 1, units = length / unit;
  count = std::min(units, count);
  std::vector<Section> all;
  for (int64_t i = 0; i < count; ++i) all.push_back({units * i / count * unit, units * (i + 1) / count * unit});
  all.back().end = length;
  return all;
}

bool onednn_has_avx512() {
  const auto bits = [](dnnl::cpu_isa isa) { return static_cast<unsigned>(isa); };
  return (~bits(dnnl::get_effective_cpu_isa()) & bits(dnnl::cpu_isa::avx512_core)) == 0;
}

bool onednn_multiplies(ir::DType dtype) {
  using Isa = dnnl::cpu_isa;
  static const Isa isa = dnnl::get_effective_cpu_isa();
  const bool fp16 = isa == Isa::avx512_core_fp16 || isa == Isa::avx512_core_amx || isa == Isa::avx512_core_amx_fp16;
  switch (dtype) {
    case ir::DType::float32: return true;
    case ir::DType::float16: return fp16;
    case ir::DType::bfloat16: return fp16 || isa == Isa::avx512_core_bf16;
    default: return false;
  }
}

dnnl::memory::data_type onednn_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::float16: return dnnl::memory::data_type::f16;
    case ir::DType::bfloat16: return dnnl::memory::data_type::bf16;
    default: return dnnl::memory::data_type::f32;
  }
}

dnnl::memory::desc strided(const ir::Dims& dims, const ir::Dims& strides, ir::DType dtype) {
  return {dnnl::memory::dims(dims.begin(), dims.end()), onednn_type(dtype),
          dnnl::memory::dims(strides.begin(), strides.end())};
}

OnednnCall::OnednnCall() : threads_before_(omp_get_max_threads()) {
  if (threads_before_ != 1) omp_set_num_threads(1);
}

OnednnCall::~OnednnCall() {
  if (threads_before_ != 1) omp_set_num_threads(threads_before_);
}

PrimitiveKernel::PrimitiveKernel(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                                 const std::vector<Argument>& arguments)
    : primitive_(primitive), stream_(onednn_engine()) {
  for (const Argument& a : arguments) {
    Bound bound{a.index, a.is_result, dnnl::memory(a.plain, onednn_engine(), nullptr)};
    dnnl::memory taken = bound.memory;
    if (a.plain != a.wanted) {
      bound.buffer = taken = buffer(a.wanted);
      const auto& from = a.is_result ? a.wanted : a.plain;
      const auto& to = a.is_result ? a.plain : a.wanted;
      const dnnl::reorder::primitive_desc desc(onednn_engine(), from, onednn_engine(), to, onednn_attributes());
      bound.reorder = dnnl::reorder(desc);
      bound.scratchpad = buffer(desc.scratchpad_desc());
      bound.reorder_arguments = {{DNNL_ARG_FROM, (a.is_result ? taken : bound.memory).get()},
                                 {DNNL_ARG_TO, (a.is_result ? bound.memory : taken).get()},
                                 {DNNL_ARG_SCRATCHPAD, bound.scratchpad.get()}};
    }
    primitive_arguments_.push_back({a.id, taken.get()});
    bound_.push_back(std::move(bound));
  }
  primitive_arguments_.push_back({DNNL_ARG_SCRATCHPAD, buffer(scratchpad).get()});
}

dnnl::memory PrimitiveKernel::buffer(const dnnl::memory::desc& desc) {
  dnnl::memory memory(desc, onednn_engine(), nullptr);
  buffers_.push_back({memory, scratch_bytes_});
  scratch_bytes_ += rounded(desc.get_size());
  return memory;
}

size_t PrimitiveKernel::take_prepacked() {
  const auto bound = std::ranges::find_if(bound_, [](const Bound& b) { return b.index == 1 && b.reorder; });
  if (bound == bound_.end() || bound->is_result) return 0;
  const Bound weights = std::exchange(*bound, {1, false, bound->buffer});
  // Only the remaining buffers stay in scratch.
  std::vector<Buffer> before;
  before.swap(buffers_);
  scratch_bytes_ = 0;
  for (const Buffer& b : before) {
    if (b.memory == weights.buffer || b.memory == weights.scratchpad) continue;
    buffers_.push_back({b.memory, scratch_bytes_});
    scratch_bytes_ += rounded(b.memory.get_desc().get_size());
  }

  const dnnl::memory::desc plain = weights.memory.get_desc(), wanted = weights.buffer.get_desc();
  // Layouts have blocks of up to 64 channels.
  constexpr int64_t kChannels = 64;
  const int64_t channels = plain.get_dims()[0], blocks = channels % kChannels == 0 ? channels / kChannels : 1;
  packed_bytes_ = rounded(wanted.get_size());
  const auto elements = static_cast<int64_t>(plain.get_size() / dnnl::memory::data_type_size(plain.get_data_type()));
  for (const Section& part : sections(blocks, shares_for(2 * elements))) {
    if (!add_packing(plain, wanted, {part.begin * channels / blocks, part.end * channels / blocks})) {
      packings_.clear();
      add_packing(plain, wanted, {0, channels});
      break;
    }
  }
  return packed_bytes_;
}

bool PrimitiveKernel::add_packing(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, Section channels) {
  dnnl::memory::dims dims = plain.get_dims(), offsets(dims.size(), 0);
  const bool is_part = channels.length() < dims[0];
  dims[0] = channels.length();
  offsets[0] = channels.begin;
  const dnnl::memory::desc from(dims, plain.get_data_type(), plain.get_strides()),
      to = is_part ? wanted.submemory_desc(dims, offsets, true) : wanted;
  if (!to) return false;
  const dnnl::reorder::primitive_desc desc(onednn_engine(), from, onednn_engine(), to, onednn_attributes());
  const auto memory = [](const dnnl::memory::desc& d) { return dnnl::memory(d, onednn_engine(), nullptr); };
  Packing packing{dnnl::reorder(desc),
                  memory(from),
                  memory(to),
                  memory(desc.scratchpad_desc()),
                  channels.begin * plain.get_strides()[0] * dnnl::memory::data_type_size(plain.get_data_type()),
                  packed_bytes_,
                  dnnl::stream(onednn_engine())};
  packing.arguments = {{DNNL_ARG_FROM, packing.from.get()},
                       {DNNL_ARG_TO, packing.to.get()},
                       {DNNL_ARG_SCRATCHPAD, packing.scratchpad.get()}};
  packed_bytes_ += rounded(desc.scratchpad_desc().get_size());
  packings_.push_back(std::move(packing));
  return true;
}

void PrimitiveKernel::prepack(const std::byte* weights, std::byte* to) const {
  parallel_items(std::ssize(packings_), [&](int64_t i) {
    const OnednnCall alone;
    const Packing& p = packings_[i];
    p.from.set_data_handle(const_cast<std::byte*>(weights) + p.begin);
    p.to.set_data_handle(to);
    p.scratchpad.set_data_handle(to + p.scratch_offset);
    execute(p.reorder, p.stream, p.arguments);
  });
}

void PrimitiveKernel::execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
                              const std::vector<dnnl_exec_arg_t>& arguments) {
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), stream.get(), static_cast<int>(arguments.size()), arguments.data());
  if (status == dnnl_success) return;
  // The primitive was made for exactly these arguments.
  std::fprintf(stderr, "oneDNN failed to execute a prepared primitive (status %d)\n", static_cast<int>(status));
  std::abort();
}

void PrimitiveKernel::run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const {
  const OnednnCall alone;
  for (const Buffer& b : buffers_) b.memory.set_data_handle(scratch + b.offset);
  for (const Bound& b : bound_) {
    // oneDNN's handles are not const, but it does not write to a source.
    b.memory.set_data_handle(b.is_result ? results[b.index] : const_cast<std::byte*>(operands[b.index]));
    if (b.reorder && !b.is_result) execute(b.reorder, stream_, b.reorder_arguments);
  }
  execute(primitive_, stream_, primitive_arguments_);
  for (const Bound& b : bound_) {
    if (b.reorder && b.is_result) execute(b.reorder, stream_, b.reorder_arguments);
  }
}

}  // namespace alloy::cpu
