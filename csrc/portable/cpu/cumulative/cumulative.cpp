// Running totals along an axis. Each line along the axis is computed in order by one thread, so the result does not
// depend on the number of threads.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Op;

// Integers wrap around; totals of floats are kept in double.
template <class T>
struct Sum {
  using Total =
      typename std::conditional_t<std::is_same_v<T, float>, std::type_identity<double>, std::make_unsigned<T>>::type;
  static Total start() { return 0; }
  static Total combine(Total total, T x) { return total + static_cast<Total>(x); }
};

template <class T>
struct Product : Sum<T> {
  using typename Sum<T>::Total;
  static Total start() { return 1; }
  static Total combine(Total total, T x) { return total * static_cast<Total>(x); }
};

// The initial total of a minimum or maximum: NaN, which any number replaces; for integers the greatest or the least
// number.
template <class T>
struct Minimum {
  using Total = T;
  static T start() {
    return std::is_same_v<T, float> ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::max();
  }
  static T combine(T total, T x) { return x < total || total != total ? x : total; }
};

template <class T>
struct Maximum {
  using Total = T;
  static T start() {
    return std::is_same_v<T, float> ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::lowest();
  }
  static T combine(T total, T x) { return x > total || total != total ? x : total; }
};

template <class T, template <class> class Operation>
class Accumulate final : public Kernel {
 public:
  explicit Accumulate(const Op& op) : reverse_(op.attributes.flag(Attr::kReverse)) {
    const ir::Dims& x = op.operands[0].shape().dims();
    const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
    for (int64_t i = 0; i < x.size(); ++i) (i < axis ? lines_ : i == axis ? extent_ : columns_) *= x[i];
  }

  bool in_place(size_t, size_t) const override { return true; }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const int64_t blocks = ir::divide_up(columns_, kColumns), step = reverse_ ? -columns_ : columns_;
    parallel_for(lines_ * blocks, extent_ * std::min(columns_, kColumns), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t column = task % blocks * kColumns,
                      first = (task / blocks * extent_ + (reverse_ ? extent_ - 1 : 0)) * columns_ + column;
        total(reinterpret_cast<const T*>(operands[0]) + first, reinterpret_cast<T*>(results[0]) + first, step,
              std::min(kColumns, columns_ - column));
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 64;  // that a thread computes at once

  void total(const T* x, T* y, int64_t step, int64_t columns) const {
    typename Operation<T>::Total totals[kColumns];
    std::fill_n(totals, columns, Operation<T>::start());
    for (int64_t i = 0; i < extent_; ++i, x += step, y += step) {
      for (int64_t c = 0; c < columns; ++c) {
        totals[c] = Operation<T>::combine(totals[c], x[c]);
        y[c] = static_cast<T>(totals[c]);
      }
    }
  }

  bool reverse_;
  int64_t lines_ = 1, extent_ = 1, columns_ = 1;  // before the axis, along it, after it
};

template <template <class> class Operation>
std::unique_ptr<Kernel> make(const Op& op) {
  switch (op.results[0].dtype) {
    case ir::DType::float32: return std::make_unique<Accumulate<float, Operation>>(op);
    case ir::DType::int32: return std::make_unique<Accumulate<int32_t, Operation>>(op);
    case ir::DType::int64: return std::make_unique<Accumulate<int64_t, Operation>>(op);
    case ir::DType::uint64: return std::make_unique<Accumulate<uint64_t, Operation>>(op);
    default: refuse(op, op.results[0]);
  }
}

}  // namespace

std::unique_ptr<Kernel> make_accumulate(const Op& op) {
  const std::string& operation = op.attributes.word(Attr::kOperation);
  if (operation == "sum") return make<Sum>(op);
  if (operation == "product") return make<Product>(op);
  return operation == "minimum" ? make<Minimum>(op) : make<Maximum>(op);
}

}  // namespace alloy::cpu
