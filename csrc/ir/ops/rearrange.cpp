// Composites that rearrange elements: split, join, repeat, reverse, move blocks; and ops by an element's position.
#include <algorithm>
#include <numeric>

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"
#include "ir/rules/windows.h"

namespace alloy::ir {
namespace {

// ---- shapes with unknown dimensions ----

// A dimension: a number, or, if it is unknown yet, a vector of one int32 computed from shapes.
struct Extent {
  int64_t known = kUnknown;
  Expr made;

  bool is_known() const { return known != kUnknown; }
};

using Extents = std::vector<Extent>;

Extent extent_of(Expr x, int64_t axis) {
  const int64_t extent = x.shape()[axis];
  if (extent != kUnknown) return {extent, none};
  return {kUnknown, slice(apply(OpCode::shape_of, {x}), 0, axis, axis + 1)};
}

Expr vector_of(Graph& graph, const Extent& extent) {
  return extent.is_known() ? integers(graph, DType::int32, {1}, {{extent.known}}) : extent.made;
}

// On overflow the product is one that no tensor can have.
Extent times(const Extent& a, const Extent& b) {
  int64_t product = 0;
  if (a.is_known() && b.is_known()) {
    return {__builtin_mul_overflow(a.known, b.known, &product) ? INT64_MAX : product, none};
  }
  if (a.is_known()) return a.known == 1 ? b : times(b, a);
  if (b.is_known()) return b.known == 1 ? a : Extent{kUnknown, a.made * static_cast<double>(b.known)};
  return {kUnknown, a.made * b.made};
}

Extent divided(const Extent& a, int64_t b) {
  if (a.is_known()) return {a.known / b, none};
  return b == 1 ? a : Extent{kUnknown, a.made / static_cast<double>(b)};
}

Dims dims_of(const Extents& extents) {
  Dims dims;
  for (const Extent& extent : extents) dims.push_back(extent.known);
  return dims;
}

// A tensor that only gives a shape.
Expr tensor_of(Graph& graph, const Extents& extents, DType dtype) {
  std::vector<Expr> parts;
  for (const Extent& extent : extents) parts.push_back(vector_of(graph, extent));
  return apply(OpCode::shaped, {concat(parts, 0)}, {{Attr::kDtype, dtype}});
}

Expr reshaped(Expr x, const Extents& extents) {
  const Dims dims = dims_of(extents);
  const auto unknown = std::count(dims.begin(), dims.end(), kUnknown);
  const bool is_told = unknown == 0 || (unknown == 1 && std::find(dims.begin(), dims.end(), 0) == dims.end());
  return is_told ? reshape(x, dims) : reshape_like(x, tensor_of(x.graph(), extents, x.value().dtype()));
}

Expr broadcasted(Expr x, const Extents& extents) {
  const Shape shape(dims_of(extents));
  return shape.is_static() ? broadcast_to(x, shape)
                           : broadcast_like(x, tensor_of(x.graph(), extents, x.value().dtype()));
}

Extents extents_of(Expr x) {
  Extents extents;
  for (int64_t axis = 0; axis < rank_of(x); ++axis) extents.push_back(extent_of(x, axis));
  return extents;
}

// ---- attributes ----

int64_t given_axis(const Composition& c, int64_t rank) { return c.axis_in(c.attributes.integer(Attr::kAxis), rank); }

// The axes, counted from the front, in the given order.
Dims given_axes(const Composition& c, int64_t rank) {
  Dims axes = c.attributes.ints(Attr::kAxes);
  for (int64_t& axis : axes) axis = c.axis_in(axis, rank);
  Dims sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) c.fail("Axes repeat");
  return axes;
}

int64_t known_extent(const Composition& c, Expr x, int64_t axis) {
  const int64_t extent = x.shape()[axis];
  if (extent == kUnknown) {
    c.fail("The extent along axis " + std::to_string(axis) + " must be known when the op is added, got " +
           text(x.shape()));
  }
  return extent;
}

}  // namespace

// ---- split and join ----

namespace {

Exprs cut(Expr x, int64_t axis, const Dims& sizes) {
  Exprs parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    parts.push_back(slice(x, axis, start, start + size));
    start += size;
  }
  return parts;
}

}  // namespace

Exprs compose_split(const Composition& c) {
  const int64_t axis = given_axis(c, rank_of(c.x())), extent = known_extent(c, c.x(), axis);
  const Dims& sizes = c.attributes.ints(Attr::kSize);
  int64_t rest = extent;
  bool fits = !sizes.empty();
  for (int64_t size : sizes) {
    fits = fits && size >= 0 && size <= rest;
    rest -= fits ? size : 0;
  }
  if (!fits || rest != 0) {
    c.fail("Expected sizes of 0 or more that add up to " + std::to_string(extent) + ", got " + text(sizes));
  }
  return cut(c.x(), axis, sizes);
}

Exprs compose_split_evenly(const Composition& c) {
  const int64_t axis = given_axis(c, rank_of(c.x())), extent = known_extent(c, c.x(), axis),
                parts = c.attributes.integer(Attr::kParts);
  const int64_t most = std::min<int64_t>(extent, 1 << 16);
  if (parts < 1 || parts > most) {
    c.fail("Expected 1 to " + std::to_string(most) + " parts, got " + std::to_string(parts));
  }
  Dims sizes(parts, extent / parts);
  for (int64_t i = 0; i < extent % parts; ++i) ++sizes[i];
  return cut(c.x(), axis, sizes);
}

Exprs compose_stack(const Composition& c) {
  const int64_t axis = given_axis(c, rank_of(c.x()) + 1);
  Exprs parts;
  for (const Expr& x : c.all()) parts.push_back(expand_dims(x, {axis}));
  return {concat(parts, axis)};
}

Exprs compose_interleave(const Composition& c) {
  const int64_t axis = given_axis(c, rank_of(c.x()));
  const Exprs all = c.all();
  Exprs parts;
  for (const Expr& x : all) {
    if (!unify(x.shape(), all[0].shape())) {
      c.fail("Expected tensors of one shape, got " + text(all[0].shape()) + " and " + text(x.shape()));
    }
    parts.push_back(expand_dims(x, {axis + 1}));
  }
  Extents extents = extents_of(all[0]);
  extents[axis] = times(extents[axis], {static_cast<int64_t>(all.size()), none});
  return {reshaped(concat(parts, axis + 1), extents)};
}

// ---- repeat ----

namespace {

// A tiled shape as factors: for each repeated axis one factor for the copies, and one for each run of axes between
// them.
struct Tiling {
  Extents one, all, result;  // the factors of one copy, the factors of all copies, and the tiled shape
  Dims copies;               // the factors that count copies

  Tiling(const Composition& c, Expr x) {
    const Dims& repeats = c.attributes.ints(Attr::kRepeats);
    const int64_t rank = rank_of(x);
    if (repeats.size() != rank || std::any_of(repeats.begin(), repeats.end(), [](int64_t n) { return n < 0; })) {
      c.fail("Expected " + std::to_string(rank) + " repeats of 0 or more for " + text(x.shape()) + ", got " +
             text(repeats));
    }
    for (int64_t axis = 0; axis < rank; ++axis) {
      const Extent extent = extent_of(x, axis), repeat = {repeats[axis], none};
      if (repeat.known != 1) {
        copies.push_back(static_cast<int64_t>(one.size()));
        one.push_back({1, none});
        all.push_back(repeat);
      }
      if (repeat.known != 1 || one.empty()) {
        one.push_back(extent);
        all.push_back(extent);
      } else {
        one.back() = all.back() = times(all.back(), extent);
      }
      result.push_back(times(extent, repeat));
    }
  }
};

}  // namespace

Exprs compose_tile(const Composition& c) {
  const Tiling tiling(c, c.x());
  if (tiling.copies.empty()) return {c.x()};
  return {reshaped(broadcasted(reshaped(c.x(), tiling.one), tiling.all), tiling.result)};
}

Exprs compose_tile_gradient(const Composition& c) {
  const Expr g = c.x(), source = c.x(1);
  const Tiling tiling(c, source);
  const Shape tiled(dims_of(tiling.result));
  if (!unify(g.shape(), tiled)) c.fail("Expected a gradient of " + text(tiled) + ", got " + text(g.shape()));
  if (tiling.copies.empty()) return {g};
  return {reshape_like(sum(reshaped(g, tiling.all), tiling.copies), source)};
}

// ---- reverse ----

Exprs compose_reverse(const Composition& c) {
  const int64_t rank = rank_of(c.x());
  Dims starts(rank, 0), ends(rank, kSliceToEnd), strides(rank, 1);
  for (int64_t axis : given_axes(c, rank)) {
    starts[axis] = kSliceToEnd;
    ends[axis] = kSliceToBegin;
    strides[axis] = -1;
  }
  return {apply(OpCode::slice, {c.x()}, {{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}})};
}

Exprs compose_flatten2d(const Composition& c) {
  const int64_t axis = c.attributes.integer(Attr::kAxis), rank = rank_of(c.x());
  if (axis < 0 || axis > rank) {
    c.fail("Expected an axis from 0 to " + std::to_string(rank) + ", got " + std::to_string(axis));
  }
  Extents extents(2, {1, none});
  for (int64_t i = 0; i < rank; ++i) {
    Extent& extent = extents[i < axis ? 0 : 1];
    extent = times(extent, extent_of(c.x(), i));
  }
  return {reshaped(c.x(), extents)};
}

// ---- blocks ----

namespace {

// The blocks of space_to_batch and of its inverse.
struct Blocks {
  int64_t rank, batch, places = 1;
  Dims axes, sizes;
  bool is_shuffled;

  Blocks(const Composition& c)
      : rank(rank_of(c.x())),
        batch(given_axis(c, rank)),
        axes(given_axes(c, rank)),
        sizes(c.attributes.ints(Attr::kSize)),
        is_shuffled(c.attributes.flag(Attr::kPixelShuffle)) {
    if (std::find(axes.begin(), axes.end(), batch) != axes.end()) {
      c.fail("Axis " + std::to_string(batch) + " takes the blocks, so that it cannot be an axis of blocks");
    }
    const bool is_legal = !axes.empty() && sizes.size() == axes.size() &&
                          std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; });
    if (!is_legal) {
      c.fail("Expected as many axes as sizes of a block, which are 1 or more, got axes " + text(axes) + " and sizes " +
             text(sizes));
    }
    for (int64_t size : sizes) {
      if (__builtin_mul_overflow(places, size, &places)) c.fail("A block of sizes " + text(sizes) + " is too large");
    }
  }

  // Checks that a dimension can be divided into parts of the size.
  void require_multiple(const Composition& c, int64_t axis, int64_t size) const {
    const int64_t extent = c.x().shape()[axis];
    if (extent == kUnknown || extent % size == 0) return;
    c.fail("Axis " + std::to_string(axis) + " of " + text(c.x().shape()) + " is no multiple of " +
           std::to_string(size));
  }
  // The index of an axis in `axes`, or the number of axes.
  int64_t find(int64_t axis) const { return std::find(axes.begin(), axes.end(), axis) - axes.begin(); }
};

}  // namespace

Exprs compose_space_to_batch(const Composition& c) {
  const Blocks blocks(c);
  const int64_t count = blocks.axes.size();
  Extents factors, result;
  Dims outer, inner(count, 0);  // the factors of each dimension outside and inside blocks
  for (int64_t axis = 0; axis < blocks.rank; ++axis) {
    const Extent extent = extent_of(c.x(), axis);
    const int64_t i = blocks.find(axis), size = i < count ? blocks.sizes[i] : 1;
    blocks.require_multiple(c, axis, size);
    outer.push_back(static_cast<int64_t>(factors.size()));
    factors.push_back(divided(extent, size));
    result.push_back(axis == blocks.batch ? times(extent, {blocks.places, none}) : factors.back());
    if (i == count) continue;
    inner[i] = static_cast<int64_t>(factors.size());
    factors.push_back({size, none});
  }
  Dims permutation;
  for (int64_t axis = 0; axis < blocks.rank; ++axis) {
    const bool is_batch = axis == blocks.batch;
    if (is_batch && !blocks.is_shuffled) permutation.insert(permutation.end(), inner.begin(), inner.end());
    permutation.push_back(outer[axis]);
    if (is_batch && blocks.is_shuffled) permutation.insert(permutation.end(), inner.begin(), inner.end());
  }
  return {reshaped(transpose(reshaped(c.x(), factors), permutation), result)};
}

Exprs compose_batch_to_space(const Composition& c) {
  const Blocks blocks(c);
  const int64_t count = blocks.axes.size();
  blocks.require_multiple(c, blocks.batch, blocks.places);
  Extents factors, result;
  Dims outer, inner;
  const auto add_block = [&] {
    for (int64_t size : blocks.sizes) {
      inner.push_back(static_cast<int64_t>(factors.size()));
      factors.push_back({size, none});
    }
  };
  for (int64_t axis = 0; axis < blocks.rank; ++axis) {
    const Extent extent = extent_of(c.x(), axis);
    const bool is_batch = axis == blocks.batch;
    if (is_batch && !blocks.is_shuffled) add_block();
    outer.push_back(static_cast<int64_t>(factors.size()));
    factors.push_back(is_batch ? divided(extent, blocks.places) : extent);
    if (is_batch && blocks.is_shuffled) add_block();
    const int64_t i = blocks.find(axis);
    result.push_back(i < count ? times(extent, {blocks.sizes[i], none}) : factors[outer.back()]);
  }
  Dims permutation;
  for (int64_t axis = 0; axis < blocks.rank; ++axis) {
    permutation.push_back(outer[axis]);
    if (const int64_t i = blocks.find(axis); i < count) permutation.push_back(inner[i]);
  }
  return {reshaped(transpose(reshaped(c.x(), factors), permutation), result)};
}

// ---- positions ----

namespace {

// 0, 1, ... along an axis, with extent 1 along the axes behind it.
Expr places(const Composition& c, Expr x, int64_t axis) {
  const int64_t extent = known_extent(c, x, axis);
  c.require_places(extent);
  Dims along(rank_of(x) - axis, 1);
  along[0] = extent;
  return reshape(range(c.graph, DType::int32, extent), along);
}

}  // namespace

Exprs compose_coordinates(const Composition& c) {
  return {broadcast_like(places(c, c.x(), given_axis(c, rank_of(c.x()))), c.x())};
}

Exprs compose_band_part(const Composition& c) {
  const Expr x = c.x();
  const int64_t rank = rank_of(x), lower = c.attributes.integer(Attr::kLower),
                upper = c.attributes.integer(Attr::kUpper);
  if (rank < 2) c.fail("Expected matrices, of rank 2 or more, got " + text(x.shape()));
  if (lower < 0 && upper < 0) return {x};
  const Expr below = places(c, x, rank - 2) - places(c, x, rank - 1);  // how many diagonals below the main one
  const auto bound = [&](int64_t n) {
    return integers(c.graph, DType::int32, {}, {{std::clamp<int64_t>(n, INT32_MIN, INT32_MAX)}});
  };
  const Expr under = lower < 0 ? none : less_equal(below, bound(lower)),
             over = upper < 0 ? none : greater_equal(below, bound(-upper));
  const Expr kept = !under ? over : !over ? under : logical_and(under, over);
  return {select(kept, x, 0.0)};
}

}  // namespace alloy::ir
