// Reductions, moments, argmax and argmin: trees of fixed shape, so every run gives the same bits.
#include <algorithm>

#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"
#include "cuda/codegen/writer.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::DType;
using ir::Op;
using ir::OpCode;

// A fold has a type All of what it knows of several elements: none() of no elements, add() one more, merge() two, and
// the number() of a result of `count` elements, the first of which is `first`.
constexpr char kReduction[] = R"cuda(
// The numbers: results, elements of each, parts of each; then lengths and steps of the kept axes, and of the reduced.
struct Shape {
  i64 results, count, parts;
  __device__ Shape(const i64* n) : results(n[0]), count(n[1]), parts(n[2]) {}
  __device__ i64 begin(i64 part) const { return part * quotient(count + parts - 1, parts); }
  __device__ i64 end(i64 part) const {
    const i64 next = begin(part + 1);
    return next < count ? next : count;
  }
};

template <class Fold, class Read, class Write>
__device__ inline void give(typename Fold::All all, const Read& read, const Write& write, typename Fold::All* parts,
                            const Shape& shape, i64 result, i64 part, NumberOf<typename Fold::Source> first) {
  if (shape.parts > 1) parts[part * shape.results + result] = all;
  else write(result, read(result), Fold::number(all, shape.count, first));
}

template <class Fold>
__device__ inline NumberOf<typename Fold::Source> first_of(const typename Fold::Source* from, i64 count) {
  return count > 0 ? load(from, 0) : 0;
}

// A block computes one result, or a part of it.
template <class Fold, int KEPT, int REDUCED, class Read, class Write>
__device__ inline void reduce_by_blocks(const typename Fold::Source* x, typename Fold::All* parts, const i64* n,
                                        const Read& read, const Write& write) {
  __shared__ __align__(16) char bytes[256 * sizeof(typename Fold::All)];
  typename Fold::All* const shared = (typename Fold::All*)bytes;
  const Shape shape(n);
  const i64* const kept = n + 3;
  const i64* const reduced = kept + 2 * KEPT;
  const i64 part = blockIdx.y;
  for (i64 result = blockIdx.x; result < shape.results; result += gridDim.x) {
    const typename Fold::Source* const from = x + place<KEPT>(result, kept, kept + KEPT);
    const NumberOf<typename Fold::Source> first = first_of<Fold>(from, shape.count);
    typename Fold::All all = Fold::none();
    for (i64 i = shape.begin(part) + threadIdx.x; i < shape.end(part); i += blockDim.x) {
      all = Fold::add(all, load(from, place<REDUCED>(i, reduced, reduced + REDUCED)), i, first);
    }
    all = merged_in_block(all, shared, Fold::merge);
    if (threadIdx.x == 0) give<Fold>(all, read, write, parts, shape, result, part, first);
  }
}

// A thread computes one result, or a part of it.
template <class Fold, int KEPT, int REDUCED, class Read, class Write>
__device__ inline void reduce_by_threads(const typename Fold::Source* x, typename Fold::All* parts, const i64* n,
                                         const Read& read, const Write& write) {
  const Shape shape(n);
  const i64* const kept = n + 3;
  const i64* const reduced = kept + 2 * KEPT;
  const i64 part = blockIdx.y;
  for (i64 result = first_index(); result < shape.results; result += index_step()) {
    const typename Fold::Source* const from = x + place<KEPT>(result, kept, kept + KEPT);
    const NumberOf<typename Fold::Source> first = first_of<Fold>(from, shape.count);
    typename Fold::All all = Fold::none();
    for (i64 i = shape.begin(part); i < shape.end(part); ++i) {
      all = Fold::add(all, load(from, place<REDUCED>(i, reduced, reduced + REDUCED)), i, first);
    }
    give<Fold>(all, read, write, parts, shape, result, part, first);
  }
}

template <class Fold, int KEPT, class Read, class Write>
__device__ inline void merge_parts(const typename Fold::Source* x, const typename Fold::All* parts, const i64* n,
                                   const Read& read, const Write& write) {
  const Shape shape(n);
  const i64* const kept = n + 3;
  for (i64 result = first_index(); result < shape.results; result += index_step()) {
    typename Fold::All all = parts[result];
    for (i64 part = 1; part < shape.parts; ++part) all = Fold::merge(all, parts[part * shape.results + result]);
    const typename Fold::Source* const from = x + place<KEPT>(result, kept, kept + KEPT);
    write(result, read(result), Fold::number(all, shape.count, first_of<Fold>(from, shape.count)));
  }
}

// Of distances from the first element, whose squares do not hide the variance.
template <class T>
struct Moments {
  typedef T Source;
  typedef NumberOf<T> N;
  struct All { double sum, squares; };
  __device__ static All none() { return All{0, 0}; }
  __device__ static All add(All all, N x, i64, N first) {
    const double distance = (double)x - (double)first;
    return All{all.sum + distance, all.squares + distance * distance};
  }
  __device__ static All merge(All a, All b) { return All{a.sum + b.sum, a.squares + b.squares}; }
};
template <class T>
struct Mean {
  typedef T Source;
  typedef NumberOf<T> N;
  typedef double All;
  __device__ static All none() { return 0; }
  __device__ static All add(All all, N x, i64, N) { return all + x; }
  __device__ static All merge(All a, All b) { return a + b; }
  __device__ static float number(All all, i64 count, N) { return (float)(all / (double)count); }
};
template <class T>
struct Variance : Moments<T> {
  typedef typename Moments<T>::All All;
  __device__ static float number(All all, i64 count, NumberOf<T>) {
    const double variance = (all.squares - all.sum * all.sum / (double)count) / (double)count;
    return variance < 0 ? 0 : (float)variance;
  }
};

// Integers are exact.
typedef __int128 Wide;
template <class T>
struct WholeMoments {
  typedef T Source;
  typedef NumberOf<T> N;
  struct All { Wide sum, squares; };
  __device__ static All none() { return All{0, 0}; }
  __device__ static All add(All all, N x, i64, N) { return All{all.sum + x, all.squares + (Wide)x * x}; }
  __device__ static All merge(All a, All b) { return All{a.sum + b.sum, a.squares + b.squares}; }
};
template <class T>
struct WholeMean : WholeMoments<T> {
  typedef typename WholeMoments<T>::All All;
  __device__ static NumberOf<T> number(All all, i64 count, NumberOf<T>) {
    return count == 0 ? 0 : (NumberOf<T>)(all.sum / count);
  }
};
template <class T>
struct WholeVariance : WholeMoments<T> {
  typedef typename WholeMoments<T>::All All;
  __device__ static NumberOf<T> number(All all, i64 count, NumberOf<T>) {
    if (count == 0) return 0;
    const Wide mean = all.sum / count, rest = all.sum - mean * count;
    const Wide squares = all.squares - 2 * mean * all.sum + mean * mean * count;
    return (NumberOf<T>)((squares * count - rest * rest) / ((Wide)count * count));
  }
};

// The first of the best elements; NaN is never the best, and -1 is its place if there are no others.
template <class T, bool GREATEST>
struct Best {
  typedef T Source;
  typedef NumberOf<T> N;
  struct All { N value; i64 at; };
  __device__ static All none() { return All{0, -1}; }
  __device__ static All add(All all, N x, i64 i, N) {
    const bool wins = all.at < 0 || (GREATEST ? x > all.value : x < all.value);
    return x == x && wins ? All{x, i} : all;
  }
  __device__ static All merge(All a, All b) {
    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
    if (a.value == b.value) return a.at < b.at ? a : b;
    return (GREATEST ? a.value > b.value : a.value < b.value) ? a : b;
  }
  __device__ static int number(All all, i64, N) { return (int)all.at; }
};
)cuda";

// The axes of an operand that is reduced to a result: those that are kept, and those that are not.
struct Reduced {
  Axes kept, reduced;

  Reduced(const Dims& from, const Dims& to) {
    const Dims steps = steps_of(from), aligned = steps_of(to, from);
    kept.steps.resize(1);
    reduced.steps.resize(1);
    for (int64_t i = 0; i < from.size(); ++i) {
      // An axis behind the result's first one is kept if the result has it.
      const int64_t at = i - (from.size() - to.size());
      Axes& axes = at >= 0 && to[at] == from[i] ? kept : reduced;
      axes.lengths.push_back(from[i]);
      axes.steps[0].push_back(steps[i]);
    }
    kept = joined(kept);
    reduced = joined(reduced);
  }
};

// `declaration` declares the fold if it is no template of the library; `bytes` is the size of its All.
Code reduction(const Op& op, const Finisher& finisher, const std::string& declaration, const std::string& fold,
               size_t bytes) {
  const Reduced axes(op.operands[0].shape().dims(), op.results[0].shape.dims());
  const int64_t results = op.results[0].shape.element_count(), count = axes.reduced.count();
  Code code;
  if (results == 0) return code;
  // Neighbouring threads should read neighbouring elements.
  const bool by_blocks = count >= 32 && axes.reduced.steps[0].back() == 1;
  const int64_t blocks = by_blocks ? std::min<int64_t>(results, 1 << 16) : blocks_for(results);
  // Enough parts for a large processor, but not too small ones.
  constexpr int64_t kBlocks = 512, kLeast = 64;
  const int64_t least = by_blocks ? 256 * 8 : kLeast;
  const int64_t parts = std::clamp<int64_t>(std::min(kBlocks / blocks, count / least), 1, 512);
  std::vector<int64_t> numbers{results, count, parts};
  axes.kept.append_to(numbers);
  axes.reduced.append_to(numbers);
  const std::string from = "((const " + element_of(op.operands[0].dtype()) + "*)p[0], ",
                    kept = std::to_string(axes.kept.rank());
  const auto body = [&](const std::string& function, const std::string& at_parts, const std::string& finish) {
    return declaration + "  " + function + from + "(typename " + fold + "::All*)" + at_parts + ", n, " + finish +
           ");\n";
  };
  const std::string function = std::string(by_blocks ? "reduce_by_blocks<" : "reduce_by_threads<") + fold + ", " +
                               kept + ", " + std::to_string(axes.reduced.rank()) + ">";
  Launch launch = launch_for(results, {kReduction}, "", {operand(0)}, numbers), merge = launch;
  launch.blocks = static_cast<unsigned>(blocks);
  launch.rows = static_cast<unsigned>(parts);
  if (by_blocks && count < 256) launch.threads = count < 64 ? 32 : count < 128 ? 64 : 128;
  if (parts == 1) {
    launch.body = body(function, "nullptr", add_finish(launch, finisher));
    code.launches.push_back(std::move(launch));
    return code;
  }
  code.scratch = static_cast<size_t>(parts * results) * bytes;
  launch.pointers.push_back(scratch(0));
  merge.pointers.push_back(scratch(0));
  launch.body = body(function, "p[1]", "[](i64) { return 0; }, [](i64, int, auto) {}");
  merge.body = body("merge_parts<" + fold + ", " + kept + ">", "p[1]", add_finish(merge, finisher));
  code.launches.push_back(std::move(launch));
  code.launches.push_back(std::move(merge));
  return code;
}

bool is_floating(const Op& op) { return kind(op.operands[0].dtype()) == ir::DTypeKind::kFloating; }

}  // namespace

Folding folding_of(const Op& op) {
  Folding folding{"Zero(d)", "Add(d, a, b)", number_of(op.operands[0].dtype())};  // of reduce_like
  switch (op.code) {
#define ALLOY_REDUCTION(name, stem, types, domain, starts, combines, gradient, doc) \
  case OpCode::name:                                                                \
    folding.init = #starts;                                                         \
    folding.combine = #combines;                                                    \
    break;
#include "ir/ops.def"
    default: break;
  }
  // Sums and products of many floats need more digits than one float has.
  const bool compares = folding.init == "Lowest(d)" || folding.init == "Highest(d)";
  if (is_floating(op) && !compares) folding.all = "double";
  return folding;
}

Code code_of_reduction(const Op& op, const Finisher& finisher) {
  const DType dtype = op.operands[0].dtype();
  const std::string element = element_of(dtype), number = number_of(dtype);
  switch (op.info().family) {
    case ir::Family::kMoment: {
      const std::string name =
          std::string(is_floating(op) ? "" : "Whole") + (op.code == OpCode::mean ? "Mean" : "Variance");
      return reduction(op, finisher, "", name + "<" + element + ">", 32);
    }
    case ir::Family::kArgReduction:
      return reduction(op, finisher, "", "Best<" + element + (op.code == OpCode::argmax ? ", true>" : ", false>"), 16);
    default: break;
  }
  const Folding folding = folding_of(op);
  const std::string declaration = filled(
      "  struct Fold {\n"
      "    typedef @ Source;\n"
      "    typedef @ All;\n"
      "    __device__ static All none() { const All d = 0; (void)d; return @; }\n"
      "    __device__ static All merge(All a, All b) { const All d = 0; (void)d; return @; }\n"
      "    __device__ static All add(All a, @ x, i64, @) { return merge(a, (All)x); }\n"
      "    __device__ static @ number(All all, i64, @) { return (@)all; }\n"
      "  };\n",
      {element, folding.all, folding.init, folding.combine, number, number, number, number, number});
  return reduction(op, finisher, declaration, "Fold", 8);
}

Code code_of_reduction(const Op& op) { return code_of_reduction(op, storing(op)); }
Code code_of_reduce_like(const Op& op) { return code_of_reduction(op); }

}  // namespace alloy::cuda
