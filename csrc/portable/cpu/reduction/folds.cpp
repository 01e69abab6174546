#include "cpu/reduction/folds.h"

#include <algorithm>

#include "ir/graph.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduction/folds.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"
#include "cpu/simd/vocabulary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

using ir::DType;
using ir::OpCode;

// One struct for each row: the first total, and the combination of two. Sums use a wider type; see Total.
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  struct Row_##name {                                                            \
    static constexpr OpCode kCode = OpCode::name;                                \
    static constexpr auto kTypes = ir::TypeClass::types;                         \
    template <class D>                                                           \
    static HWY_INLINE Vec<D> Init(D d) {                                         \
      return init;                                                               \
    }                                                                            \
    template <class D>                                                           \
    static HWY_INLINE Vec<D> Combine([[maybe_unused]] D d, Vec<D> a, Vec<D> b) { \
      return combine;                                                            \
    }                                                                            \
  };
#define ALLOY_ARG_REDUCTION(name, stem, types, better, doc)     \
  struct Row_##name {                                           \
    template <class D>                                          \
    static HWY_INLINE Mask<D> Better(D d, Vec<D> a, Vec<D> b) { \
      return better(d, a, b);                                   \
    }                                                           \
  };
#include "ir/ops.def"

// Only a sum of many floats needs a wider total.
template <class T, class Row>
using Total = std::conditional_t<Row::kCode == OpCode::sum && hwy::IsFloat<T>(), double, T>;

template <class Row, class T>
HWY_INLINE T CombineOne(T a, T b) {
  const hn::CappedTag<T, 1> d;
  return hn::GetLane(Row::Combine(d, hn::Set(d, a), hn::Set(d, b)));
}

// Combines lanes by halves, in the type of the total.
template <class Row, class A, class D>
HWY_INLINE A CombineLanes(D d, Vec<D> v) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  A totals[hn::MaxLanes(d)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) totals[i] = static_cast<A>(lanes[i]);
  for (size_t half = hn::Lanes(d) / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) totals[i] = CombineOne<Row>(totals[i], totals[i + half]);
  }
  return totals[0];
}

// The most elements that are folded in float lanes, which keeps them exact to a few ulp. The results of such blocks are
// combined in the type of the total.
constexpr size_t kRowBlock = 128;  // vectors
constexpr int64_t kColumnBlock = 256;
// The number of columns whose running lanes fit into the first-level cache.
constexpr size_t kColumns = 512;

template <class T, class Row>
struct RowFold {
  static Total<T, Row> Block(const T* x, size_t n) {
    const hn::ScalableTag<T> d;
    const size_t lanes = hn::Lanes(d);
    const auto init = Row::Init(d);
    auto a = init, b = init, c = init, e = init;
    auto next = [&](Vec<decltype(d)> total, size_t i) HWY_ATTR { return Row::Combine(d, total, hn::LoadU(d, x + i)); };
    size_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      a = next(a, i);
      b = next(b, i + lanes);
      c = next(c, i + 2 * lanes);
      e = next(e, i + 3 * lanes);
    }
    for (; i + lanes <= n; i += lanes) a = next(a, i);
    if (i < n) b = Row::Combine(d, b, LoadFirst(d, x + i, n - i, init));
    return CombineLanes<Row, Total<T, Row>>(d, Row::Combine(d, Row::Combine(d, a, b), Row::Combine(d, c, e)));
  }

  static void Run(const std::byte* x, int64_t count, const std::byte*, std::byte* total) {
    using A = Total<T, Row>;
    const T* p = reinterpret_cast<const T*>(x);
    A& t = *reinterpret_cast<A*>(total);
    for (size_t n = count; n > 0;) {
      const size_t block = std::min(n, kRowBlock * hn::Lanes(hn::ScalableTag<T>()));
      t = CombineOne<Row>(t, Block(p, block));
      p += block;
      n -= block;
    }
  }
};

// Folds columns into a row of running lanes that stays in the cache, four rows at a time. After a block of rows, the
// lanes go into the totals.
template <class T, class Row>
struct ColumnFold {
  static HWY_INLINE void Rows(const T* x, int64_t rows, int64_t stride, size_t columns, T* running) {
    const hn::ScalableTag<T> d;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      const T* row = x + r * stride;
      ForVectors(d, columns, [&](size_t i, size_t n) HWY_ATTR {
        auto load = [&](int64_t k) HWY_ATTR { return LoadUpTo(d, row + k * stride + i, n, Zero(d)); };
        const auto four = Row::Combine(d, Row::Combine(d, load(0), load(1)), Row::Combine(d, load(2), load(3)));
        hn::Store(Row::Combine(d, hn::Load(d, running + i), four), d, running + i);
      });
    }
    for (; r < rows; ++r) {
      const T* row = x + r * stride;
      ForVectors(d, columns, [&](size_t i, size_t n) HWY_ATTR {
        const auto one = LoadUpTo(d, row + i, n, Zero(d));
        hn::Store(Row::Combine(d, hn::Load(d, running + i), one), d, running + i);
      });
    }
  }

  static void Run(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, const std::byte*,
                  std::byte* totals) {
    using A = Total<T, Row>;
    const hn::ScalableTag<T> d;
    HWY_ALIGN T running[kColumns];
    const T* p = reinterpret_cast<const T*>(x);
    A* t = reinterpret_cast<A*>(totals);
    const T init = hn::GetLane(Row::Init(d));
    for (int64_t begin = 0; begin < columns; begin += kColumns) {
      const size_t n = std::min<size_t>(kColumns, columns - begin);
      for (int64_t r = 0; r < rows; r += kColumnBlock) {
        std::fill_n(running, kColumns, init);
        Rows(p + r * stride + begin, std::min(kColumnBlock, rows - r), stride, n, running);
        for (size_t i = 0; i < n; ++i) {
          t[begin + i] = CombineOne<Row>(t[begin + i], static_cast<A>(running[i]));
        }
      }
    }
  }
};

template <class T, class Row>
void Start(std::byte* totals, int64_t count) {
  using A = Total<T, Row>;
  std::fill_n(reinterpret_cast<A*>(totals), count, hn::GetLane(Row::Init(hn::CappedTag<A, 1>())));
}

template <class T, class Row>
void Merge(const std::byte* others, int64_t count, std::byte* totals) {
  using A = Total<T, Row>;
  const A* o = reinterpret_cast<const A*>(others);
  A* t = reinterpret_cast<A*>(totals);
  for (int64_t i = 0; i < count; ++i) t[i] = CombineOne<Row>(t[i], o[i]);
}

template <class T, class Row>
void Finish(const std::byte* totals, int64_t count, double divisor, std::byte* elements) {
  const auto* t = reinterpret_cast<const Total<T, Row>*>(totals);
  T* y = reinterpret_cast<T*>(elements);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (hwy::IsFloat<Total<T, Row>>()) y[i] = static_cast<T>(t[i] / static_cast<Total<T, Row>>(divisor));
    else y[i] = t[i];
  }
}

template <class T, class Row>
Fold FoldOf() {
  return {sizeof(Total<T, Row>),    &Start<T, Row>, &RowFold<T, Row>::Run,
          &ColumnFold<T, Row>::Run, &Merge<T, Row>, &Finish<T, Row>};
}

// For types other than float that the row allows.
template <class T, class Row>
Fold FoldIf() {
  constexpr bool is_bool = sizeof(T) == 1;
  if constexpr (Row::kTypes == ir::TypeClass::any || (Row::kTypes == ir::TypeClass::numeric && !is_bool)) {
    return FoldOf<T, Row>();
  } else {
    return {};
  }
}

template <class Row>
Fold FoldFor(DType dtype) {
  switch (dtype) {
    case DType::boolean: return FoldIf<uint8_t, Row>();
    case DType::float32: return FoldOf<float, Row>();
    case DType::int32: return FoldIf<int32_t, Row>();
    case DType::int64: return FoldIf<int64_t, Row>();
    case DType::uint64: return FoldIf<uint64_t, Row>();
    default: return {};
  }
}

Fold FindFold(OpCode code, DType dtype) {
  switch (code) {
#define ALLOY_REDUCTION(name, ...) \
  case OpCode::name: return FoldFor<Row_##name>(dtype);
#include "ir/ops.def"
    default: return {};
  }
}

// ---- distances ----

// The sum of the distances from a center and the sum of their squares. The first tells how far the mean is from the
// center.
struct Distances {
  double squares, sum;
};

struct DistanceFold {
  struct Lanes {
    Vec<FloatTag> squares, sum;

    HWY_INLINE void Take(Vec<FloatTag> distance) {
      squares = hn::MulAdd(distance, distance, squares);
      sum = hn::Add(sum, distance);
    }
    HWY_INLINE void Take(const Lanes& other) {
      squares = hn::Add(squares, other.squares);
      sum = hn::Add(sum, other.sum);
    }
  };

  // Adds up the lanes of `count` distances from number k on by halves, which keeps the rounding error small.
  template <int64_t count, class Distance>
  static HWY_INLINE Lanes Tree(const Distance& distance, int64_t k) {
    if constexpr (count == 1) {
      const auto one = distance(k);
      return {hn::Mul(one, one), one};
    } else {
      Lanes lanes = Tree<count / 2>(distance, k);
      lanes.Take(Tree<count / 2>(distance, k + count / 2));
      return lanes;
    }
  }

  static void Start(std::byte* totals, int64_t count) {
    std::fill_n(reinterpret_cast<Distances*>(totals), count, Distances{0, 0});
  }

  // Inlined: a function that is given a vector makes its callers return with the upper halves of registers in use, and
  // SSE instructions are slow from then on.
  static HWY_INLINE Distances Block(const float* x, size_t n, Vec<FloatTag> center) {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d);
    const Lanes none{Zero(d), Zero(d)};
    Lanes a = none, b = none, c = none, e = none;
    size_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      a.Take(hn::Sub(hn::LoadU(d, x + i), center));
      b.Take(hn::Sub(hn::LoadU(d, x + i + lanes), center));
      c.Take(hn::Sub(hn::LoadU(d, x + i + 2 * lanes), center));
      e.Take(hn::Sub(hn::LoadU(d, x + i + 3 * lanes), center));
    }
    for (; i < n; i += lanes) a.Take(hn::Sub(LoadUpTo(d, x + i, std::min(lanes, n - i), center), center));
    const auto total = [&](Vec<FloatTag> p, Vec<FloatTag> q, Vec<FloatTag> r, Vec<FloatTag> s)
                           HWY_ATTR { return CombineLanes<Row_sum, double>(d, hn::Add(hn::Add(p, q), hn::Add(r, s))); };
    return {total(a.squares, b.squares, c.squares, e.squares), total(a.sum, b.sum, c.sum, e.sum)};
  }

  static void Row(const std::byte* x, int64_t count, const std::byte* center, std::byte* total) {
    const auto* p = reinterpret_cast<const float*>(x);
    const auto c = hn::Set(FloatTag(), *reinterpret_cast<const float*>(center));
    for (size_t n = count; n > 0;) {
      const size_t block = std::min(n, 128 * hn::Lanes(FloatTag()));
      Add(Block(p, block, c), *reinterpret_cast<Distances*>(total));
      p += block;
      n -= block;
    }
  }

  static void Columns(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, const std::byte* centers,
                      std::byte* totals) {
    const FloatTag d;
    HWY_ALIGN float squares[kColumns];
    HWY_ALIGN float sums[kColumns];
    for (int64_t begin = 0; begin < columns; begin += int64_t{kColumns}) {
      const size_t n = std::min<size_t>(kColumns, columns - begin);
      const auto* p = reinterpret_cast<const float*>(x) + begin;
      const auto* center = reinterpret_cast<const float*>(centers) + begin;
      for (int64_t r = 0; r < rows; r += kColumnBlock) {
        std::fill_n(squares, kColumns, 0.0F);
        std::fill_n(sums, kColumns, 0.0F);
        const auto take = [&](int64_t row, auto count) HWY_ATTR {
          ForVectors(d, n, [&](size_t i, size_t lanes) HWY_ATTR {
            const auto middle = LoadUpTo(d, center + i, lanes, Zero(d));
            const auto distance = [&](int64_t k) HWY_ATTR {
              return hn::Sub(LoadUpTo(d, p + k * stride + i, lanes, Zero(d)), middle);
            };
            Lanes running{hn::Load(d, squares + i), hn::Load(d, sums + i)};
            running.Take(Tree<count()>(distance, row));
            hn::Store(running.squares, d, squares + i);
            hn::Store(running.sum, d, sums + i);
          });
        };
        int64_t row = r;
        const int64_t last = std::min(r + kColumnBlock, rows);
        for (; row + 8 <= last; row += 8) take(row, std::integral_constant<int64_t, 8>());
        for (; row < last; ++row) take(row, std::integral_constant<int64_t, 1>());
        for (size_t i = 0; i < n; ++i) {
          Add({squares[i], sums[i]}, reinterpret_cast<Distances*>(totals)[begin + i]);
        }
      }
    }
  }

  static void Merge(const std::byte* others, int64_t count, std::byte* totals) {
    for (int64_t i = 0; i < count; ++i) {
      Add(reinterpret_cast<const Distances*>(others)[i], reinterpret_cast<Distances*>(totals)[i]);
    }
  }

  // The mean square of the distances from the mean equals the mean square of the distances from the center, less the
  // square of the distance between mean and center.
  static void Finish(const std::byte* totals, int64_t count, double divisor, std::byte* elements) {
    for (int64_t i = 0; i < count; ++i) {
      const Distances& t = reinterpret_cast<const Distances*>(totals)[i];
      const double variance = (t.squares - t.sum * t.sum / divisor) / divisor;
      reinterpret_cast<float*>(elements)[i] = static_cast<float>(variance < 0 ? 0 : variance);
    }
  }

 private:
  static void Add(const Distances& other, Distances& total) {
    total.squares += other.squares;
    total.sum += other.sum;
  }
};

Fold FindVariance(DType dtype) {
  if (dtype != DType::float32) return {};
  return {sizeof(Distances),      &DistanceFold::Start, &DistanceFold::Row,
          &DistanceFold::Columns, &DistanceFold::Merge, &DistanceFold::Finish};
}

// ---- rows ----

template <class Row, bool is_mean>
void FoldRows(const std::byte* x, int64_t rows, int64_t count, std::byte* y) {
  for (int64_t r = 0; r < rows; ++r) {
    Total<float, Row> total;
    auto* bytes = reinterpret_cast<std::byte*>(&total);
    Start<float, Row>(bytes, 1);
    RowFold<float, Row>::Run(x + r * count * sizeof(float), count, nullptr, bytes);
    Finish<float, Row>(bytes, 1, is_mean ? static_cast<double>(count) : 1, y + r * sizeof(float));
  }
}

void VarianceOfRows(const std::byte* x, int64_t rows, int64_t count, std::byte* y) {
  for (int64_t r = 0; r < rows; ++r) {
    const std::byte* row = x + r * count * sizeof(float);
    std::byte* result = y + r * sizeof(float);
    FoldRows<Row_sum, true>(row, 1, count, result);
    Distances total{0, 0};
    auto* bytes = reinterpret_cast<std::byte*>(&total);
    DistanceFold::Row(row, count, result, bytes);
    DistanceFold::Finish(bytes, 1, static_cast<double>(count), result);
  }
}

RowsFunction FindRowFold(OpCode code) {
  switch (code) {
#define ALLOY_REDUCTION(name, ...) \
  case OpCode::name: return &FoldRows<Row_##name, false>;
#include "ir/ops.def"
    case OpCode::reduce_like: return &FoldRows<Row_sum, false>;
    case OpCode::mean: return &FoldRows<Row_sum, true>;
    case OpCode::variance: return &VarianceOfRows;
    default: return nullptr;
  }
}

// ---- indices of winners ----

template <class T, class Row>
struct ArgLoop {
  template <class D>
  static Vec<D> Worst(D d) {
    // The extreme that every number beats.
    return hn::IfThenElse(Row::Better(d, Lowest(d), Highest(d)), Highest(d), Lowest(d));
  }

  static T Best(const T* x, size_t n) {
    const hn::ScalableTag<T> d;
    const auto worst = Worst(d);
    auto best = worst;
    ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR {
      const auto v = LoadUpTo(d, x + i, count, worst);
      best = hn::IfThenElse(Row::Better(d, v, best), v, best);
    });
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(best, d, lanes);
    const hn::CappedTag<T, 1> one;
    auto winner = hn::Set(one, lanes[0]);
    for (size_t i = 1; i < hn::Lanes(d); ++i) {
      const auto v = hn::Set(one, lanes[i]);
      winner = hn::IfThenElse(Row::Better(one, v, winner), v, winner);
    }
    return hn::GetLane(winner);
  }

  static void RowWinner(const std::byte* x, int64_t count, int32_t* index) {
    const hn::ScalableTag<T> d;
    const T* p = reinterpret_cast<const T*>(x);
    const size_t n = count;
    const T best = Best(p, n);
    size_t i = 0;
    while (i + hn::Lanes(d) <= n && hn::AllFalse(d, hn::Eq(hn::LoadU(d, p + i), hn::Set(d, best)))) i += hn::Lanes(d);
    while (i < n && !(p[i] == best)) ++i;
    *index = i < n ? static_cast<int32_t>(i) : -1;
  }

  static void ColumnWinners(const std::byte* x, int64_t rows, int64_t stride, int64_t columns, int32_t* indices) {
    const hn::CappedTag<T, 1> one;
    T best[kMostArgColumns];
    std::fill_n(best, columns, hn::GetLane(Worst(one)));
    std::fill_n(indices, columns, -1);
    const bool greatest = hn::GetLane(Worst(one)) < T{1};
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = reinterpret_cast<const T*>(x) + r * stride;
      for (int64_t i = 0; i < columns; ++i) {
        const bool better = greatest ? row[i] > best[i] : row[i] < best[i];
        // The first number wins even if it is the worst possible one.
        const bool wins = better || (indices[i] < 0 && row[i] == best[i]);
        best[i] = wins ? row[i] : best[i];
        indices[i] = wins ? static_cast<int32_t>(r) : indices[i];
      }
    }
  }
};

template <class Row>
ArgFold ArgFoldFor(DType dtype) {
  switch (dtype) {
    case DType::float32: return {&ArgLoop<float, Row>::RowWinner, &ArgLoop<float, Row>::ColumnWinners};
    case DType::int32: return {&ArgLoop<int32_t, Row>::RowWinner, &ArgLoop<int32_t, Row>::ColumnWinners};
    case DType::int64: return {&ArgLoop<int64_t, Row>::RowWinner, &ArgLoop<int64_t, Row>::ColumnWinners};
    case DType::uint64: return {&ArgLoop<uint64_t, Row>::RowWinner, &ArgLoop<uint64_t, Row>::ColumnWinners};
    default: return {};
  }
}

ArgFold FindArgFold(OpCode code, DType dtype) {
  switch (code) {
#define ALLOY_ARG_REDUCTION(name, ...) \
  case OpCode::name: return ArgFoldFor<Row_##name>(dtype);
#include "ir/ops.def"
    default: return {};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindFold);
HWY_EXPORT(FindVariance);
HWY_EXPORT(FindRowFold);
HWY_EXPORT(FindArgFold);

Fold find_fold(ir::OpCode code, ir::DType dtype) { return HWY_DYNAMIC_DISPATCH(FindFold)(code, dtype); }
Fold find_variance(ir::DType dtype) { return HWY_DYNAMIC_DISPATCH(FindVariance)(dtype); }
RowsFunction find_row_fold(const ir::Op& op) {
  const RowsFunction fold = HWY_DYNAMIC_DISPATCH(FindRowFold)(op.code);
  return fold != nullptr && op.operands[0].dtype() == ir::DType::float32 ? fold : nullptr;
}
ArgFold find_arg_fold(ir::OpCode code, ir::DType dtype) { return HWY_DYNAMIC_DISPATCH(FindArgFold)(code, dtype); }

}  // namespace alloy::cpu
#endif
