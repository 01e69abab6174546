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

DividedKernel::DividedKernel(std::vector<Part> parts) : parts_(std::move(parts)) {
  const bool share_weights = std::ranges::all_of(parts_, [](const Part& part) { return part.right == 0; });
  for (const Part& part : parts_) {
    if (share_weights) packed_ = part.kernel->take_prepacked();
    scratch_of_part_ = std::max(scratch_of_part_, ir::round_up(part.kernel->scratch_bytes(), kLine));
  }
}

DividedKernel::DividedKernel(std::vector<Part> parts, int64_t summed) : DividedKernel(std::move(parts)) {
  summed_ = summed;
}

size_t DividedKernel::packed_bytes() const { return packed_ && !is_packed_ ? ir::round_up(packed_->bytes, kLine) : 0; }

size_t DividedKernel::scratch_bytes() const {
  const size_t summands = ir::round_up(summed_ * sizeof(float), kLine) * (parts_.size() - 1);
  return packed_bytes() + summands + scratch_of_part_ * parts_.size();
}

void DividedKernel::run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const {
  const std::byte* inputs[] = {operands[0], operands[1]};
  if (packed_bytes() > 0) {
    prepack(operands[packed_->operand], scratch);
    inputs[packed_->operand] = scratch;
    scratch += packed_bytes();
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

std::unique_ptr<PrimitiveKernel> make_product(const Matrices& a, const Matrices& b, const Matrices& y,
                                              ir::DType dtype) {
  const auto described = [dtype](const Matrices& m) { return strided(m.dims, m.strides, dtype); };
  const dnnl::memory::desc left = described(a), right = described(b), result = described(y);
  const auto make = [&](const dnnl::memory::desc& to) {
    return dnnl::matmul::primitive_desc(onednn_engine(), left, right, to, onednn_attributes());
  };
  dnnl::matmul::primitive_desc desc = make(result);
  // If the right matrix is transposed, oneDNN is up to twice as fast on a result whose rows have no gaps.
  const int64_t rows = y.rank() - 2, columns = y.rank() - 1;
  if (y.strides[rows] != y.dims[columns] && b.strides[rows] == 1) {
    Matrices gapless = y;
    gapless.strides[rows] = y.dims[columns];
    const auto faster = make(described(gapless));
    if (std::string_view(faster.impl_info_str()).starts_with("brg")) desc = faster;
  }
  return std::make_unique<PrimitiveKernel>(
      dnnl::matmul(desc), desc.scratchpad_desc(),
      std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_SRC, 0, false, left, left},
                                             {DNNL_ARG_WEIGHTS, 1, false, right, right},
                                             {DNNL_ARG_DST, 0, true, result, desc.dst_desc()}});
}

// Into how many of the parts the rows of a result are divided; the rest divides columns. Each part reads all of the left
// matrix that its rows need, and copies all of the right one that its columns need, so the parts are as square as can be.
int64_t parts_of_rows(int64_t rows, int64_t columns, int64_t parts) {
  constexpr int64_t kCopy = 2;  // reads that take as long as copying an element
  int64_t best = 1;
  const auto read = [&](int64_t down) { return rows / down + kCopy * columns / (parts / down); };
  for (int64_t down = 1; down <= parts; ++down) {
    if (parts % down == 0 && read(down) <= read(best)) best = down;
  }
  return best;
}

}  // namespace

std::unique_ptr<Kernel> matrix_product(const Matrices& a, const Matrices& b, const Matrices& y, ir::DType dtype) {
  const OnednnCall alone;
  const int64_t row_axis = y.rank() - 2, column_axis = y.rank() - 1;
  double products = static_cast<double>(a.dims[column_axis]);
  for (const int64_t dim : y.dims) products *= static_cast<double>(dim);
  const int64_t count = parts_for(products);
  std::vector<DividedKernel::Part> parts;
  const auto add = [&](const Cut& left, const Cut& right, const Cut& result) {
    parts.push_back(
        {make_product(left.matrices, right.matrices, result.matrices, dtype), left.begin, right.begin, result.begin});
  };
  if (y.rank() > 2 && y.dims[0] >= count) {
    for (const Section& stack : sections(y.dims[0], count)) {
      add(cut(a, 0, stack, dtype), cut(b, 0, stack, dtype), cut(y, 0, stack, dtype));
    }
    return std::make_unique<DividedKernel>(std::move(parts));
  }
  const int64_t down = parts_of_rows(y.dims[row_axis], y.dims[column_axis], count);
  for (const Section& rows : sections(y.dims[row_axis], down)) {
    for (const Section& columns : sections(y.dims[column_axis], count / down)) {
      Cut result = cut(y, row_axis, rows, dtype);
      const Cut across = cut(result.matrices, column_axis, columns, dtype);
      add(cut(a, row_axis, rows, dtype), cut(b, column_axis, columns, dtype),
          {across.matrices, result.begin + across.begin});
    }
  }
  return std::make_unique<DividedKernel>(std::move(parts));
}

}  // namespace alloy::cpu
