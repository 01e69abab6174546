// Reductions, moments, argmax and argmin: trees of fixed shape, so every run gives the same bits.
#include <algorithm>
#include <bit>

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

// A fold has a type Number of elements, and a type All of what it knows of several of them: none() of no elements,
// add() one more of a result whose first element is `first` if kNeedsFirst, merge() two, and the number() of a result.
constexpr char kReduction[] = R"cuda(
// The numbers: results, elements of each, parts of each, the bits of the reciprocal of the number of elements; then
// lengths and steps of the kept axes, and of the reduced.
struct Shape {
  i64 results, count, parts;
  double reciprocal;
  __device__ Shape(const i64* n) : results(n[0]), count(n[1]), parts(n[2]), reciprocal(__longlong_as_double(n[3])) {}
  __device__ i64 begin(i64 part) const { return part * quotient(count + parts - 1, parts); }
  __device__ i64 end(i64 part) const {
    const i64 next = begin(part + 1);
    return next < count ? next : count;
  }
};

// The elements of one result.
template <class Fold, int KEPT, int REDUCED, class Source>
struct Elements {
  const Source& source;
  const i64 *kept, *reduced;
  i64 from;
  typename Fold::Number first;

  __device__ Elements(const Source& s, const Shape& shape, const i64* n, i64 result)
      : source(s), kept(n + 4), reduced(kept + 2 * KEPT), from(place<KEPT>(result, kept, kept + KEPT)), first() {
    if (Fold::kNeedsFirst && shape.count > 0) first = source(from);
  }
  __device__ typename Fold::Number at(i64 i) const {
    return source(from + place<REDUCED>(i, reduced, reduced + REDUCED));
  }
  // Folds every `step`th element. Several are read at once, since the fold waits for each.
  __device__ typename Fold::All folded(i64 begin, i64 end, int step) const {
    const int kAtOnce = 4;
    typename Fold::All all = Fold::none();
    i64 i = begin;
    for (; i + (kAtOnce - 1) * step < end; i += kAtOnce * step) {
      typename Fold::Number x[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) x[k] = at(i + k * step);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) all = Fold::add(all, x[k], i + k * step, first);
    }
    for (; i < end; i += step) all = Fold::add(all, at(i), i, first);
    return all;
  }
};

// Keeps what the first of each ACROSS threads know of a part of their results, and is true in the block that comes last
// to these results: there `all` is what all parts know. Without `parts` there is one part.
template <class Fold, int ACROSS>
__device__ inline bool merge_parts(typename Fold::All& all, typename Fold::All* shared, typename Fold::All* parts,
                                   unsigned* counter, const Shape& shape, i64 result, bool is_inside) {
  if (parts == nullptr) return true;
  const int lane = threadIdx.x / ACROSS;
  if (is_inside && lane == 0) parts[blockIdx.y * shape.results + result] = all;
  if (!comes_last(counter, (unsigned)shape.parts)) return false;
  all = Fold::none();
  for (i64 part = lane; part < shape.parts; part += blockDim.x / ACROSS) {
    all = Fold::merge(all, parts[part * shape.results + result]);
  }
  all = merged_in_block<ACROSS>(all, shared, Fold::merge);
  return true;
}

// A block computes one result, or a part of it.
template <class Fold, int KEPT, int REDUCED, class Source, class Read, class Write>
__device__ inline void reduce_by_blocks(const i64* n, const Source& source, const Read& read, const Write& write,
                                        typename Fold::All* parts, unsigned* counters, unsigned later) {
  typename Fold::All* const shared = (typename Fold::All*)shared_memory<256 * sizeof(typename Fold::All)>();
  const Shape shape(n);
  for (i64 result = first_part(later); result < shape.results; result += gridDim.x) {
    const auto got = read(result);  // it takes as long as to read the elements
    const Elements<Fold, KEPT, REDUCED, Source> elements(source, shape, n, result);
    typename Fold::All all = elements.folded(shape.begin(blockIdx.y) + threadIdx.x, shape.end(blockIdx.y), blockDim.x);
    all = merged_in_block(all, shared, Fold::merge);
    if (!merge_parts<Fold, 1>(all, shared, parts, counters + result, shape, result, true)) continue;
    if (threadIdx.x == 0) write(result, got, Fold::number(all, shape));
  }
}

// A block computes ACROSS neighbouring results, or parts of them: neighbouring threads have neighbouring results.
template <class Fold, int KEPT, int REDUCED, int ACROSS, class Source, class Read, class Write>
__device__ inline void reduce_by_columns(const i64* n, const Source& source, const Read& read, const Write& write,
                                         typename Fold::All* parts, unsigned* counters, unsigned later) {
  typename Fold::All* const shared = (typename Fold::All*)shared_memory<256 * sizeof(typename Fold::All)>();
  const Shape shape(n);
  const int column = threadIdx.x % ACROSS, lane = threadIdx.x / ACROSS;
  for (i64 block = first_part(later); block * ACROSS < shape.results; block += gridDim.x) {
    const bool is_inside = block * ACROSS + column < shape.results;
    const i64 result = block * ACROSS + (is_inside ? column : 0);
    const auto got = read(result);
    const Elements<Fold, KEPT, REDUCED, Source> elements(source, shape, n, result);
    typename Fold::All all = elements.folded(shape.begin(blockIdx.y) + lane, is_inside ? shape.end(blockIdx.y) : 0,
                                             blockDim.x / ACROSS);
    if (ACROSS < 256) all = merged_in_block<ACROSS>(all, shared, Fold::merge);
    if (!merge_parts<Fold, ACROSS>(all, shared, parts, counters + block, shape, result, is_inside)) continue;
    if (is_inside && lane == 0) write(result, got, Fold::number(all, shape));
  }
}

// Of distances from the first element, whose squares do not hide the variance.
template <class T>
struct Moments {
  enum { kNeedsFirst = true };
  typedef NumberOf<T> N;
  typedef N Number;
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
  enum { kNeedsFirst = false };
  typedef NumberOf<T> N;
  typedef N Number;
  typedef double All;
  __device__ static All none() { return 0; }
  __device__ static All add(All all, N x, i64, N) { return all + x; }
  __device__ static All merge(All a, All b) { return a + b; }
  __device__ static float number(All all, const Shape& shape) { return (float)(all * shape.reciprocal); }
};
template <class T>
struct Variance : Moments<T> {
  typedef typename Moments<T>::All All;
  __device__ static float number(All all, const Shape& shape) {
    const double variance = (all.squares - all.sum * all.sum * shape.reciprocal) * shape.reciprocal;
    return variance < 0 ? 0 : (float)variance;
  }
};

// Integers are exact.
typedef __int128 Wide;
template <class T>
struct WholeMoments {
  enum { kNeedsFirst = false };
  typedef NumberOf<T> N;
  typedef N Number;
  struct All { Wide sum, squares; };
  __device__ static All none() { return All{0, 0}; }
  __device__ static All add(All all, N x, i64, N) { return All{all.sum + x, all.squares + (Wide)x * x}; }
  __device__ static All merge(All a, All b) { return All{a.sum + b.sum, a.squares + b.squares}; }
};
template <class T>
struct WholeMean : WholeMoments<T> {
  typedef typename WholeMoments<T>::All All;
  __device__ static NumberOf<T> number(All all, const Shape& shape) {
    const i64 count = shape.count;
    return count == 0 ? 0 : (NumberOf<T>)(all.sum / count);
  }
};
template <class T>
struct WholeVariance : WholeMoments<T> {
  typedef typename WholeMoments<T>::All All;
  __device__ static NumberOf<T> number(All all, const Shape& shape) {
    const i64 count = shape.count;
    if (count == 0) return 0;
    const Wide mean = all.sum / count, rest = all.sum - mean * count;
    const Wide squares = all.squares - 2 * mean * all.sum + mean * mean * count;
    return (NumberOf<T>)((squares * count - rest * rest) / ((Wide)count * count));
  }
};

// The first of the best elements; NaN is never the best, and -1 is its place if there are no others.
template <class T, bool GREATEST>
struct Best {
  enum { kNeedsFirst = false };
  typedef NumberOf<T> N;
  typedef N Number;
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
  __device__ static int number(All all, const Shape&) { return (int)all.at; }
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

// A fold: its type, what declares that if the library does not, and the size of its All.
struct Fold {
  std::string type, declaration = {};
  size_t bytes;
};

Code reduction(const Op& op, const Maker& source, const Maker& finish, const Fold& fold) {
  const Reduced axes(op.operands[0].shape().dims(), op.results[0].shape.dims());
  const int64_t results = op.results[0].shape.element_count(), count = axes.reduced.count();
  Code code;
  if (results == 0) return code;
  // Neighbouring threads should read neighbouring elements.
  const bool by_blocks = count >= 32 && axes.reduced.steps[0].back() == 1;
  // A block by columns has `lanes` threads for each result, which have so many terms, at least, where there are few
  // columns. More blocks have fewer columns each.
  constexpr int64_t kBlocks = 512, kTerms = 8, kTermsOfFew = 4, kFew = 1024, kFewestColumns = 8;
  const auto across = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(results, 32))));
  const int64_t enough = std::max<int64_t>(count / (results <= kFew ? kTermsOfFew : kTerms), 1);
  int64_t columns =
      std::max<int64_t>(across, 256 / std::bit_floor(static_cast<uint64_t>(std::min<int64_t>(enough, 256))));
  while (columns > kFewestColumns && 2 * results <= kBlocks * columns && count * columns > 256 * kTerms) columns /= 2;
  const int64_t lanes = by_blocks ? 256 : 256 / columns;
  const int64_t blocks = std::min<int64_t>(by_blocks ? results : (results + columns - 1) / columns, 1 << 16);
  // Enough parts for a large processor, unless a block's threads take less time than blocks that wait for each other.
  constexpr int64_t kFewestParts = 4;
  int64_t parts = std::min(kBlocks / blocks, count / (lanes * kTerms));
  if (parts < kFewestParts) parts = 1;
  std::vector<int64_t> numbers{results, count, parts, std::bit_cast<int64_t>(1.0 / static_cast<double>(count))};
  axes.kept.append_to(numbers);
  axes.reduced.append_to(numbers);
  Launch launch = launch_for(0, {kReduction}, "", {}, numbers);
  launch.blocks = static_cast<unsigned>(blocks);
  launch.rows = static_cast<unsigned>(parts);
  if (by_blocks && count < 256) launch.threads = count < 64 ? 32 : count < 128 ? 64 : 128;
  launch.resident = 4;  // with fewer registers, a thread would read one element behind the other
  const std::string from = add(launch, source), to = add(launch, finish);
  std::string where = "nullptr, nullptr";
  if (parts > 1) {
    where = filled("(@::All*)p[@], (unsigned*)p[@]",
                   {fold.type, std::to_string(launch.pointers.size()), std::to_string(launch.pointers.size() + 1)});
    launch.pointers.insert(launch.pointers.end(), {scratch(0), counters()});
    code.scratch = static_cast<size_t>(parts * results) * fold.bytes;
    code.counters = static_cast<size_t>(blocks);
  }
  launch.body =
      filled("@  @<@, @, @@>(n, @, @, @, n[@]);\n",
             {fold.declaration, by_blocks ? "reduce_by_blocks" : "reduce_by_columns", fold.type,
              std::to_string(axes.kept.rank()), std::to_string(axes.reduced.rank()),
              by_blocks ? "" : ", " + std::to_string(columns), from, to, where, std::to_string(launch.numbers.size())});
  launch.first_block = launch.numbers.size();
  launch.numbers.push_back(0);
  code.launches.push_back(std::move(launch));
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

namespace {

// `name` is a name for a type of its own.
Fold fold_of(const Op& op, const std::string& name) {
  const std::string element = element_of(op.operands[0].dtype()), number = number_of(op.operands[0].dtype());
  switch (op.info().family) {
    case ir::Family::kMoment: {
      const std::string moment = op.code == OpCode::mean ? "Mean" : "Variance";
      return {(is_floating(op) ? "" : "Whole") + moment + "<" + element + ">", {}, 32};
    }
    case ir::Family::kArgReduction:
      return {"Best<" + element + (op.code == OpCode::argmax ? ", true>" : ", false>"), {}, 16};
    default: break;
  }
  const Folding folding = folding_of(op);
  const std::string declaration = filled(
      "  struct @ {\n"
      "    enum { kNeedsFirst = false };\n"
      "    typedef @ Number;\n"
      "    typedef @ All;\n"
      "    __device__ static All none() { const All d = 0; (void)d; return @; }\n"
      "    __device__ static All merge(All a, All b) { const All d = 0; (void)d; return @; }\n"
      "    __device__ static All add(All a, @ x, i64, @) { return merge(a, (All)x); }\n"
      "    __device__ static @ number(All all, const Shape&) { return (@)all; }\n"
      "  };\n",
      {name, number, folding.all, folding.init, folding.combine, number, number, number, number});
  return {name, declaration, 8};
}

}  // namespace

Code code_of_reduction(const Op& op, const Maker& finish) {
  const std::string element = element_of(op.operands[0].dtype());
  const Maker source = [&](size_t pointers, size_t, int) {
    return Functions{{},
                     "[&](i64 i) { return load((const " + element + "*)p[" + std::to_string(pointers) + "], i); }",
                     {operand(0)},
                     {}};
  };
  return reduction(op, source, finish, fold_of(op, "Fold"));
}

Code code_of_reductions(const std::vector<const Op*>& ops, const Maker& source, const Maker& finish) {
  Fold all{"Fold", {}, 0};
  std::string needs, numbers, alls, none, merged, added, results;
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::string number = std::to_string(i), separator = i > 0 ? ", " : "";
    const Fold fold = fold_of(*ops[i], "Fold" + number);
    all.declaration += fold.declaration;
    all.bytes += fold.bytes;
    needs += (i > 0 ? " || " : "") + filled("(bool)@::kNeedsFirst", {fold.type});
    numbers += filled("@::Number x@; ", {fold.type, number});
    alls += filled("@::All x@; ", {fold.type, number});
    none += separator + filled("@::none()", {fold.type});
    merged += separator + filled("@::merge(a.x@, b.x@)", {fold.type, number, number});
    added += separator + filled("@::add(all.x@, x.x@, i, first.x@)", {fold.type, number, number, number});
    results += separator + filled("@::number(all.x@, shape)", {fold.type, number});
  }
  all.declaration += filled(
      "  struct Fold {\n"
      "    enum { kNeedsFirst = @ };\n"
      "    struct Number { @};\n"
      "    struct All { @};\n"
      "    __device__ static All none() { return All{@}; }\n"
      "    __device__ static All merge(All a, All b) { return All{@}; }\n"
      "    __device__ static All add(All all, Number x, i64 i, Number first) { return All{@}; }\n"
      "    __device__ static Number number(All all, const Shape& shape) { return Number{@}; }\n"
      "  };\n",
      {needs, numbers, alls, none, merged, added, results});
  return reduction(*ops[0], source, finish, all);
}

Code code_of_reduction(const Op& op) { return code_of_reduction(op, storing(op)); }
Code code_of_reduce_like(const Op& op) { return code_of_reduction(op); }

}  // namespace alloy::cuda
