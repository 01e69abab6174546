// Ops that move elements by attributes or indices, and ops that combine them with others at their new positions.
#include <algorithm>
#include <optional>
#include <string>

#include "reference/reference.h"
#include "reference/vocabulary.h"

namespace alloy::reference {
namespace {

// ---- by attributes ----

template <class N>
Arrays<N> renamed(const Op& op, const Arrays<N>& in) {
  return {{op.results[0].shape.dims(), in[0].values}};
}

// Takes element `first` of x, plus `steps` times the index in the result.
template <class N>
Arrays<N> strided(const Op& op, const Numbers<N>& x, const Dims& steps, int64_t first = 0) {
  Numbers<N> out(op.results[0].shape.dims());
  size_t i = 0;
  for_each_place(out.dims, steps, first, [&](size_t from) { out.values[i++] = x.values[from]; });
  return {out};
}

// Puts the elements of x into an array, at `first` plus `steps` times their index.
template <class N>
void place(const Numbers<N>& x, const Dims& steps, int64_t first, Numbers<N>& out) {
  size_t i = 0;
  for_each_place(x.dims, steps, first, [&](size_t to) { out.values[to] = x.values[i++]; });
}

template <class N>
Arrays<N> broadcast(const Op& op, const Arrays<N>& in) {
  return strided(op, in[0], steps_of(in[0].dims, op.results[0].shape.dims()));
}

template <class N>
Arrays<N> transpose(const Op& op, const Arrays<N>& in) {
  const Dims own = steps_of(in[0].dims), &permutation = op.attributes.ints(Attr::kPermutation);
  Dims steps;
  for (int64_t axis : permutation) steps.push_back(own[*normalize_axis(axis, own.size())]);
  return strided(op, in[0], steps);
}

// The positions that a slice of `whole` takes: element i along an axis is start + i * stride. By Python's rule,
// negative bounds count from the end, and bounds outside are clamped.
struct Slice {
  Dims steps;
  int64_t first = 0;

  Slice(const Op& op, const Dims& whole) : steps(steps_of(whole)) {
    for (int64_t i = 0; i < whole.size(); ++i) {
      const int64_t stride = op.attributes.ints(Attr::kStrides)[i];
      int64_t start = op.attributes.ints(Attr::kStarts)[i];
      if (start < 0 && start != INT64_MIN) start += whole[i];
      start = stride > 0 ? std::max<int64_t>(start, 0) : std::min(start, whole[i] - 1);
      first += start * steps[i];
      steps[i] *= std::clamp(stride, -whole[i], whole[i]);  // a longer stride is never used
    }
  }
};

template <class N>
Arrays<N> slice(const Op& op, const Arrays<N>& in) {
  const Slice part(op, in[0].dims);
  return strided(op, in[0], part.steps, part.first);
}

template <class N>
Arrays<N> slice_gradient(const Op& op, const Arrays<N>& in) {
  Numbers<N> out(op.results[0].shape.dims());
  const Slice part(op, out.dims);
  place(in[0], part.steps, part.first, out);
  return {out};
}

template <class N>
Arrays<N> concat(const Op& op, const Arrays<N>& in) {
  Numbers<N> out(op.results[0].shape.dims());
  const Dims steps = steps_of(out.dims);
  const int64_t axis = axis_of(op);
  int64_t start = 0;
  for (const Numbers<N>& part : in) {
    place(part, steps, start * steps[axis], out);
    start += part.dims[axis];
  }
  return {out};
}

template <class N>
Arrays<N> pad(const Op& op, const Arrays<N>& in) {
  Numbers<N> out(op.results[0].shape.dims(), in[1].values[0]);
  const Dims steps = steps_of(out.dims);
  int64_t first = 0;
  for (int64_t i = 0; i < steps.size(); ++i) first += op.attributes.ints(Attr::kPadding)[2 * i] * steps[i];
  place(in[0], steps, first, out);
  return {out};
}

template <class N>
Arrays<N> shape_of(const Op&, const Arrays<N>& in) {
  const Dims& dims = in[0].dims;
  return {{{dims.size()}, {dims.begin(), dims.end()}}};
}

template <class N>
Arrays<N> count(const Op& op, const Arrays<N>& in) {
  Dims dims = in[0].dims, counted(dims.size(), 1);
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    counted[*normalize_axis(axis, dims.size())] = dims[*normalize_axis(axis, dims.size())];
  }
  return {Numbers<N>(Dims{}, static_cast<N>(count_of(counted)))};
}

// ---- by indices ----

// The position of `index`, or nothing if it is outside.
std::optional<size_t> place_inside(const Dims& dims, const Dims& index) {
  for (int64_t i = 0; i < dims.size(); ++i) {
    if (index[i] < 0 || index[i] >= dims[i]) return std::nullopt;
  }
  return position(dims, index);
}

// The elements of x at where(index) for every index of the result, or 0 outside.
template <class N, class Where>
Arrays<N> taken(const Op& op, const Numbers<N>& x, const Where& where) {
  Numbers<N> out(op.results[0].shape.dims());
  size_t i = 0;
  for_each_index(out.dims, [&](const Dims& index) {
    if (const auto from = place_inside(x.dims, where(index))) out.values[i] = x.values[*from];
    ++i;
  });
  return {out};
}

// For integers, dividing by 0 gives 0.
template <class N>
N combined(const std::string& mode, N x, N update) {
  if (mode == "add") return Add(N(), x, update);
  if (mode == "subtract") return Sub(N(), x, update);
  if (mode == "multiply") return Mul(N(), x, update);
  if (mode == "divide") return Div(N(), x, update);
  return mode == "minimum" ? std::min(x, update) : mode == "maximum" ? std::max(x, update) : update;
}

// x, with each update combined at where(index of the update); updates outside change nothing.
template <class N, class Where>
Arrays<N> put(Numbers<N> x, const Numbers<N>& updates, const std::string& mode, const Where& where) {
  size_t i = 0;
  for_each_index(updates.dims, [&](const Dims& index) {
    if (const auto to = place_inside(x.dims, where(index))) {
      x.values[*to] = combined(mode, x.values[*to], updates.values[i]);
    }
    ++i;
  });
  return {x};
}

template <class N>
Arrays<N> gather(const Op& op, const Arrays<N>& in) {
  const Numbers<N>& indices = in[1];
  const int64_t batch = op.attributes.integer(Attr::kBatchDims), axis = axis_of(op),
                behind = axis + indices.dims.size() - batch;
  return taken(op, in[0], [&](const Dims& index) {
    Dims of_index(index.begin(), index.begin() + batch), from(index.begin(), index.begin() + axis);
    of_index.insert(of_index.end(), index.begin() + axis, index.begin() + behind);
    from.push_back(static_cast<int64_t>(indices.values[position(indices.dims, of_index)]));
    from.insert(from.end(), index.begin() + behind, index.end());
    return from;
  });
}

template <class N>
Arrays<N> scatter(const Op& op, const Arrays<N>& in) {
  const int64_t axis = axis_of(op);
  return put(in[0], in[1], op.attributes.word(Attr::kMode), [&](Dims index) {
    index[axis] = static_cast<int64_t>(in[2].values[static_cast<size_t>(index[axis])]);
    return index;
  });
}

// The row that a tuple of indices selects, behind the batch dimensions.
template <class N>
auto to_rows(const Op& op, const Numbers<N>& tuples) {
  const int64_t batch = op.attributes.integer(Attr::kBatchDims), rank = tuples.dims.size() - 1;
  return [&tuples, batch, rank](const Dims& index) {
    Dims to(index.begin(), index.begin() + batch), at(index.begin(), index.begin() + rank);
    at.push_back(0);
    for (; at.back() < tuples.dims.back(); ++at.back()) {
      to.push_back(static_cast<int64_t>(tuples.values[position(tuples.dims, at)]));
    }
    to.insert(to.end(), index.begin() + rank, index.end());
    return to;
  };
}

template <class N>
Arrays<N> gather_nd(const Op& op, const Arrays<N>& in) {
  return taken(op, in[0], to_rows(op, in[1]));
}

template <class N>
Arrays<N> scatter_nd(const Op& op, const Arrays<N>& in) {
  return put(Numbers<N>(op.results[0].shape.dims()), in[0], "add", to_rows(op, in[1]));
}

template <class N>
Arrays<N> scatter_nd_update(const Op& op, const Arrays<N>& in) {
  return put(in[0], in[1], op.attributes.word(Attr::kMode), to_rows(op, in[2]));
}

}  // namespace

template <class N>
Function<N> moving(OpCode code) {
  if (info(code).facts.renames) return renamed<N>;
  if (info(code).facts.repeats) return broadcast<N>;
  switch (code) {
    case OpCode::transpose: return transpose<N>;
    case OpCode::slice: return slice<N>;
    case OpCode::slice_gradient: return slice_gradient<N>;
    case OpCode::concat: return concat<N>;
    case OpCode::pad: return pad<N>;
    case OpCode::shape_of: return shape_of<N>;
    case OpCode::count: return count<N>;
    case OpCode::gather: return gather<N>;
    case OpCode::scatter: return scatter<N>;
    case OpCode::gather_nd: return gather_nd<N>;
    case OpCode::scatter_nd: return scatter_nd<N>;
    case OpCode::scatter_nd_update: return scatter_nd_update<N>;
    default: return nullptr;
  }
}
template Function<double> moving(OpCode);
template Function<int32_t> moving(OpCode);
template Function<int64_t> moving(OpCode);
template Function<uint64_t> moving(OpCode);

}  // namespace alloy::reference
