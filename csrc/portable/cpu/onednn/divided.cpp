#include "cpu/onednn/divided.h"

#include <algorithm>
#include <string_view>

#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {
namespace {

constexpr size_t kLine = 64;

// Elements that are summed at a time, so that they stay in the first-level cache.
constexpr int64_t kSummedTogether = 2048;

}  // namespace

DividedKernel::DividedKernel(Parts parts, std::function<Parts()> of_packed_weights)
    : of_packed_weights_(std::move(of_packed_weights)) {
  take(std::move(parts));
}

DividedKernel::DividedKernel(Parts parts, int64_t summed) : parts_(std::move(parts)), summed_(summed) {
  for (const Part& part : parts_) count_scratch_of(part);
}

void DividedKernel::count_scratch_of(const Part& part) {
  scratch_of_part_ = std::max(scratch_of_part_, ir::round_up(part.kernel->scratch_bytes(), kLine));
}

void DividedKernel::take(Parts parts) {
  parts_ = std::move(parts);
  for (Part& part : parts_) {
    const size_t bytes = part.kernel->take_prepacked();
    count_scratch_of(part);
    if (bytes == 0) continue;
    auto packed = std::ranges::find(packed_, part.right, &Packed::begin);
    if (packed == packed_.end()) {
      packed = packed_.insert(packed_.end(), {part.kernel.get(), part.right, packed_bytes_});
      packed_bytes_ += ir::round_up(bytes, kLine);
    }
    part.right = packed->packed_begin;
  }
}

std::optional<size_t> DividedKernel::prepacked_operand() const {
  if (packed_.empty() && !of_packed_weights_) return std::nullopt;
  return 1;
}

size_t DividedKernel::take_prepacked() {
  if (of_packed_weights_) {
    const OnednnCall alone;
    Parts parts = of_packed_weights_();
    if (parts.empty()) return 0;
    scratch_of_part_ = 0;
    take(std::move(parts));
  }
  is_prepacked_ = true;
  return packed_bytes_;
}

void DividedKernel::prepack(const std::byte* weights, std::byte* to) const {
  for (const Packed& packed : packed_) packed.kernel->prepack(weights + packed.begin, to + packed.packed_begin);
}

size_t DividedKernel::scratch_bytes() const {
  const size_t summands = ir::round_up(summed_ * sizeof(float), kLine) * (parts_.size() - 1);
  return packed_bytes_of_run() + summands + scratch_of_part_ * parts_.size();
}

void DividedKernel::run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const {
  const std::byte* inputs[] = {operands[0], operands[1]};
  if (packed_bytes_of_run() > 0) {
    prepack(operands[1], scratch);
    inputs[1] = scratch;
    scratch += packed_bytes_of_run();
  }
  const size_t summand = ir::round_up(summed_ * sizeof(float), kLine);
  std::byte* const summands = scratch;
  scratch += summand * (parts_.size() - 1);
  const auto result_of = [&](size_t i) {
    return summed_ == 0 || i == 0 ? results[0] + parts_[i].result : summands + summand * (i - 1);
  };
  const auto count = static_cast<int64_t>(parts_.size());
  parallel_items(count, [&](int64_t i) {
    const Part& part = parts_[i];
    const std::byte* const inputs_of_part[] = {inputs[0] + part.left, inputs[1] + part.right};
    std::byte* const result = result_of(i);
    part.kernel->run(inputs_of_part, &result, scratch + scratch_of_part_ * i);
  });
  if (summed_ == 0 || count == 1) return;
  parallel_for(ir::divide_up(summed_, kSummedTogether), kSummedTogether * count, [&](int64_t begin, int64_t end) {
    auto* const to = reinterpret_cast<float*>(results[0]);
    for (int64_t first = begin * kSummedTogether; first < std::min(end * kSummedTogether, summed_);
         first += kSummedTogether) {
      const int64_t last = std::min(first + kSummedTogether, summed_);
      for (int64_t i = 1; i < count; ++i) {
        const auto* const from = reinterpret_cast<const float*>(result_of(i));
        for (int64_t at = first; at < last; ++at) to[at] += from[at];
      }
    }
  });
}

int64_t parts_for(double products) {
  constexpr double kProductsOfOneElement = 8;  // that take as long as one cheap element
  return shares_for(static_cast<int64_t>(std::min(products / kProductsOfOneElement, 0x1p62)));
}

int64_t parts_of_rows(int64_t rows, int64_t columns, int64_t parts) {
  constexpr int64_t kCopy = 2;  // reads that take as long as copying an element
  int64_t best = 1;
  const auto read = [&](int64_t down) { return rows / down + kCopy * columns / (parts / down); };
  for (int64_t down = 1; down <= parts; ++down) {
    if (parts % down == 0 && read(down) <= read(best)) best = down;
  }
  return best;
}

namespace {

// A part of the axis, and where it begins.
struct Cut {
  Matrices matrices;
  size_t begin;
};
Cut cut(const Matrices& all, int64_t axis, Section section, ir::DType dtype) {
  if (all.is_one(axis)) return {all, 0};
  Cut part{all, ir::size_of(dtype) * static_cast<size_t>(section.begin * all.strides[axis])};
  part.matrices.dims[axis] = section.length();
  return part;
}

dnnl::memory::desc described(const Matrices& m, ir::DType dtype) { return strided(m.dims, m.strides, dtype); }

// A part that reads the right matrix in the layout `wanted`, which may be left to oneDNN and is then set.
std::unique_ptr<PrimitiveKernel> make_product(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype,
                                              dnnl::memory::desc& wanted) {
  const dnnl::memory::desc left = described(a, dtype), result = described(y, dtype);
  const auto make = [&](const dnnl::memory::desc& to) {
    return dnnl::matmul::primitive_desc(onednn_engine(), left, wanted, to, onednn_attributes());
  };
  dnnl::matmul::primitive_desc desc = make(result);
  const auto is_fast = [](const auto& d) { return std::string_view(d.impl_info_str()).starts_with("brg"); };
  if (wanted.get_format_kind() == dnnl::memory::format_kind::any && !is_fast(desc)) {  // gains nothing by its layout
    wanted = described(b, dtype);
    desc = make(result);
  }
  // If the right matrix is transposed, oneDNN is up to twice as fast on a result whose rows have no gaps.
  const int64_t rows = y.rank() - 2, columns = y.rank() - 1;
  if (y.strides[rows] != y.dims[columns] && b.strides[rows] == 1) {
    Matrices gapless = y;
    gapless.strides[rows] = y.dims[columns];
    const auto faster = make(described(gapless, dtype));
    if (is_fast(faster)) desc = faster;
  }
  wanted = desc.weights_desc();
  return std::make_unique<PrimitiveKernel>(
      dnnl::matmul(desc), desc.scratchpad_desc(),
      std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_SRC, 0, false, left, left},
                                             {DNNL_ARG_WEIGHTS, 1, false, described(b, dtype), wanted},
                                             {DNNL_ARG_DST, 0, true, result, desc.dst_desc()}});
}

// The parts of a product of two matrices; none if the right one is to be packed and a part would not pack it.
DividedKernel::Parts matrix_parts(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype,
                                  int64_t count, bool packs) {
  const int64_t row_axis = y.rank() - 2, column_axis = y.rank() - 1;
  const int64_t down = parts_of_rows(y.dims[row_axis], y.dims[column_axis], count);
  DividedKernel::Parts parts;
  for (const Section& columns : sections(y.dims[column_axis], count / down)) {
    const Cut right = cut(b, column_axis, columns, dtype), result = cut(y, column_axis, columns, dtype);
    dnnl::memory::desc wanted = described(right.matrices, dtype);
    if (packs) wanted = dnnl::memory::desc(wanted.get_dims(), wanted.get_data_type(), dnnl::memory::format_tag::any);
    for (const Section& rows : sections(y.dims[row_axis], down)) {
      const Cut left = cut(a, row_axis, rows, dtype), across = cut(result.matrices, row_axis, rows, dtype);
      parts.push_back({make_product(left.matrices, right.matrices, across.matrices, dtype, wanted), left.begin,
                       right.begin, result.begin + across.begin});
      if (packs && wanted == described(right.matrices, dtype)) return {};  // all parts pack, or none
    }
  }
  return parts;
}

// The parts of a product of stacks of matrices.
DividedKernel::Parts stack_parts(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype,
                                 int64_t count) {
  DividedKernel::Parts parts;
  for (const Section& stack : sections(y.dims[0], count)) {
    const Cut left = cut(a, 0, stack, dtype), right = cut(b, 0, stack, dtype), result = cut(y, 0, stack, dtype);
    dnnl::memory::desc wanted = described(right.matrices, dtype);
    parts.push_back({make_product(left.matrices, right.matrices, result.matrices, dtype, wanted), left.begin,
                     right.begin, result.begin});
  }
  return parts;
}

}  // namespace

std::unique_ptr<Kernel> matrix_product(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype) {
  const OnednnCall alone;
  double products = static_cast<double>(a.dims[a.rank() - 1]);
  for (const int64_t dim : y.dims) products *= static_cast<double>(dim);
  const int64_t count = parts_for(products);
  if (y.rank() > 2 && y.dims[0] >= count) {
    return std::make_unique<DividedKernel>(stack_parts(a, b, y, dtype, count));
  }
  std::function<DividedKernel::Parts()> of_packed_weights;
  if (y.rank() == 2) of_packed_weights = [=] { return matrix_parts(a, b, y, dtype, count, true); };
  return std::make_unique<DividedKernel>(matrix_parts(a, b, y, dtype, count, false), std::move(of_packed_weights));
}

}  // namespace alloy::cpu
