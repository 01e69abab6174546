// Ops that move elements by indices, and that combine them with others at their new places, always in the same order.
#include "cuda/codegen/families.h"
#include "cuda/codegen/order.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::DType;
using ir::Op;

constexpr char kIndexing[] = R"cuda(
// The place that each tuple of indices selects, or -1 if it is outside.
template <class I, int R>
__device__ inline void find_places(const I* tuples, i64* places, i64 count, const i64* lengths) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 at = 0;
    bool inside = true;
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const i64 index = (i64)load(tuples, i * R + k);
      inside = inside && index >= 0 && index < lengths[k];
      at = at * lengths[k] + index;
    }
    places[i] = inside ? at : -1;
  }
}

// x is (batches, before, extent, behind), and the result (batches, before, taken, behind) with (batches, taken) places.
template <class T>
__device__ inline void take(const T* x, const i64* places, T* y, i64 count, i64 before, i64 extent, i64 taken,
                            i64 behind) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 row = quotient(i, behind), outer = quotient(row, taken), batch = quotient(outer, before);
    const i64 at = places[batch * taken + (row - outer * taken)];
    y[i] = at < 0 ? T{} : x[(outer * extent + at) * behind + (i - row * behind)];
  }
}

// y is (batches, extent, behind), the updates are (batches, given, behind); each batch has its places at `batch_step`.
// A thread combines an element of y with its updates in their order.
template <class T, class Combine>
__device__ inline void put(const T* x, const T* updates, const i64* places, T* y, i64 count, i64 extent, i64 given,
                           i64 behind, i64 batch_step, const Combine& combine) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 row = quotient(i, behind), batch = quotient(row, extent), at = row - batch * extent;
    const i64* const own = places + batch * batch_step;
    const T* const from = updates + batch * given * behind + (i - row * behind);
    T value = x == nullptr ? T{} : x[i];
    for (i64 k = 0; k < given; ++k) {
      if (own[k] == at) value = combine(value, from[k * behind]);
    }
    y[i] = value;
  }
}

// The same with the positions of the updates sorted by their places, so that a search finds those of an element.
template <class T, class Combine>
__device__ inline void put_sorted(const T* x, const T* updates, const i64* places, T* y, i64 count, i64 extent,
                                  i64 given, i64 behind, i64 batch_step, const int* sorted, const Combine& combine) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 row = quotient(i, behind), batch = quotient(row, extent), at = row - batch * extent;
    const i64* const own = places + batch * batch_step;
    const int* const order = sorted + batch * batch_step;
    const T* const from = updates + batch * given * behind + (i - row * behind);
    T value = x == nullptr ? T{} : x[i];
    i64 low = 0;
    for (i64 high = given; low < high;) {
      const i64 middle = (low + high) / 2;
      if (own[order[middle]] < at) low = middle + 1;
      else high = middle;
    }
    for (; low < given && own[order[low]] == at; ++low) value = combine(value, from[order[low] * behind]);
    y[i] = value;
  }
}

// The same for few updates where `behind` is large: a block has one row, and its threads look at 256 places at once.
template <class T, class Combine>
__device__ inline void put_rows(const T* x, const T* updates, const i64* places, T* y, i64 rows, i64 extent, i64 given,
                                i64 behind, i64 batch_step, const Combine& combine) {
  __shared__ bool found[256];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 batch = quotient(row, extent), at = row - batch * extent;
    const i64* const own = places + batch * batch_step;
    for (i64 j = threadIdx.x; j < behind; j += blockDim.x) {
      y[row * behind + j] = x == nullptr ? T{} : x[row * behind + j];
    }
    for (i64 begin = 0; begin < given; begin += blockDim.x) {
      const i64 k = begin + threadIdx.x;
      found[threadIdx.x] = k < given && own[k] == at;
      if (!__syncthreads_or(found[threadIdx.x])) continue;
      for (int hit = 0; hit < blockDim.x; ++hit) {
        if (!found[hit]) continue;
        const T* const from = updates + (batch * given + begin + hit) * behind;
        for (i64 j = threadIdx.x; j < behind; j += blockDim.x) {
          y[row * behind + j] = combine(y[row * behind + j], from[j]);
        }
      }
      __syncthreads();
    }
  }
}
)cuda";

// Finds the places in the scratch.
void append_places(Code& code, DType index, const Dims& lengths, int64_t count, size_t indices) {
  code.scratch = static_cast<size_t>(count) * 8;
  if (count == 0) return;
  std::vector<int64_t> numbers{count};
  numbers.insert(numbers.end(), lengths.begin(), lengths.end());
  code.launches.push_back(launch_for(count, {kIndexing},
                                     filled("  find_places<@, @>((const @*)p[0], (i64*)p[1], n[0], n + 1);\n",
                                            {element_of(index), std::to_string(lengths.size()), element_of(index)}),
                                     {operand(indices), scratch(0)}, std::move(numbers)));
}

void append_take(Code& code, const Op& op, int64_t before, int64_t extent, int64_t taken, int64_t behind) {
  const int64_t count = op.results[0].shape.element_count();
  if (count == 0) return;
  const std::string bits = bits_of(op.results[0].dtype);
  code.launches.push_back(
      launch_for(count, {kIndexing},
                 filled("  take<@>((const @*)p[0], (const i64*)p[1], (@*)p[2], n[0], n[1], n[2], n[3], n[4]);\n",
                        {bits, bits, bits}),
                 {operand(0), scratch(0), result(0)}, {count, before, extent, taken, behind}));
}

struct Putting {
  int x;  // the operand with the first values, or -1 for zeros
  size_t updates;
  std::string mode;
  int64_t batches, extent, given, behind, batch_step;
};

// The statement that combines elements x and u.
std::string combination(const std::string& mode, DType dtype) {
  if (mode == "set") return "return u;";
  const std::string function = mode == "add"        ? "Add(d, a, b)"
                               : mode == "subtract" ? "Sub(d, a, b)"
                               : mode == "multiply" ? "Mul(d, a, b)"
                               : mode == "divide"   ? "Div(d, a, b)"
                               : mode == "minimum"  ? "(b < a ? b : a)"
                                                    : "(a < b ? b : a)";
  return filled("const @ d = 0, a = number(x), b = number(u); (void)d; return element<@>(@);",
                {number_of(dtype), element_of(dtype), function});
}

void append_put(Code& code, const Op& op, const Putting& putting) {
  const DType dtype = op.results[0].dtype;
  const bool moves = putting.mode == "set";
  if (!moves && kind(dtype) == ir::DTypeKind::kComplex) throw Lacking();
  const std::string type = moves ? bits_of(dtype) : element_of(dtype);
  const int64_t rows = putting.batches * putting.extent, count = rows * putting.behind;
  if (count == 0) return;
  const bool is_sorted = putting.given > kLongLine, by_rows = !is_sorted && putting.behind >= 32;
  std::vector<Pointer> pointers{operand(putting.updates), scratch(0), result(0)};
  std::string with_order, x = "nullptr";
  if (putting.x >= 0) {
    x = "p[3]";
    pointers.push_back(operand(static_cast<size_t>(putting.x)));
  }
  if (is_sorted) {
    with_order = ", (const int*)p[" + std::to_string(pointers.size()) + "]";
    const int64_t lines = putting.batch_step == 0 ? 1 : putting.batches;
    pointers.push_back(append_sort(code, {"i64", false, scratch(0), lines * putting.given, putting.given, 1}));
  }
  Launch launch = launch_for(
      count, {kIndexing},
      filled("  @((const @*)@, (const @*)p[0], (const i64*)p[1], (@*)p[2], n[0], n[1], n[2], n[3], n[4]@,\n"
             "      [](@ x, @ u) -> @ { @ });\n",
             {is_sorted ? "put_sorted"
              : by_rows ? "put_rows"
                        : "put",
              type, x, type, type, with_order, type, type, type, combination(putting.mode, dtype)}),
      std::move(pointers), {by_rows ? rows : count, putting.extent, putting.given, putting.behind, putting.batch_step});
  if (by_rows) launch.blocks = static_cast<unsigned>(std::min<int64_t>(rows, 1 << 16));
  code.launches.push_back(std::move(launch));
}

// Tuples of indices along the last axis of an array, behind its batch dimensions, select slices of another array.
struct Tuples {
  Dims lengths;
  int64_t batches, count, behind;

  Tuples(const Op& op, const Dims& tuples, const Dims& selected) {
    const int64_t batch = op.attributes.integer(Attr::kBatchDims), width = tuples.back();
    lengths = Dims(selected.begin() + batch, selected.begin() + batch + width);
    batches = count_of(tuples, 0, batch);
    count = count_of(tuples, batch, tuples.size() - 1);
    behind = count_of(selected, batch + width, selected.size());
  }
};

Code put_at_tuples(const Op& op, size_t tuples, Putting putting) {
  const Tuples all(op, op.operands[tuples].shape().dims(), op.results[0].shape.dims());
  Code code;
  append_places(code, op.operands[tuples].dtype(), all.lengths, all.batches * all.count, tuples);
  putting.batches = all.batches;
  putting.extent = count_of(all.lengths);
  putting.given = putting.batch_step = all.count;
  putting.behind = all.behind;
  append_put(code, op, putting);
  return code;
}

}  // namespace

Code code_of_gather(const Op& op) {
  const Dims &x = op.operands[0].shape().dims(), &indices = op.operands[1].shape().dims();
  const int64_t batch = op.attributes.integer(Attr::kBatchDims), axis = axis_of(op);
  Code code;
  append_places(code, op.operands[1].dtype(), {x[axis]}, count_of(indices), 1);
  append_take(code, op, count_of(x, batch, axis), x[axis], count_of(indices, batch, indices.size()),
              count_of(x, axis + 1, x.size()));
  return code;
}

Code code_of_gather_nd(const Op& op) {
  const Tuples all(op, op.operands[1].shape().dims(), op.operands[0].shape().dims());
  Code code;
  append_places(code, op.operands[1].dtype(), all.lengths, all.batches * all.count, 1);
  append_take(code, op, 1, count_of(all.lengths), all.count, all.behind);
  return code;
}

Code code_of_scatter(const Op& op) {
  const Dims &x = op.operands[0].shape().dims(), &updates = op.operands[1].shape().dims();
  const int64_t axis = axis_of(op);
  Code code;
  append_places(code, op.operands[2].dtype(), {x[axis]}, updates[axis], 2);
  append_put(code, op,
             {0, 1, op.attributes.word(Attr::kMode), count_of(x, 0, axis), x[axis], updates[axis],
              count_of(x, axis + 1, x.size()), 0});
  return code;
}

Code code_of_scatter_nd(const Op& op) { return put_at_tuples(op, 1, {-1, 0, "add", 0, 0, 0, 0, 0}); }

Code code_of_scatter_nd_update(const Op& op) {
  return put_at_tuples(op, 2, {0, 1, op.attributes.word(Attr::kMode), 0, 0, 0, 0, 0});
}

}  // namespace alloy::cuda
