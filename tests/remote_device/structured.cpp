// The ops that move elements, matrix products, softmax and optimizers' steps; and where each op's reference is.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "elements.h"
#include "ir/rules/random_state.h"
#include "ir/rules/windows.h"
#include "philox.h"
#include "reference.h"

namespace alloy::remote {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;

// ---- moving elements ----

// Element i of the result is element from[i] of the first operand.
Reference gather(const Op& op, std::vector<size_t> from) {
  const size_t bytes = size_of(op.results[0].dtype);
  return [bytes, from = std::move(from)](const std::byte* const* operands, std::byte* const* results) {
    for (size_t i = 0; i < from.size(); ++i) std::memcpy(results[0] + i * bytes, operands[0] + from[i] * bytes, bytes);
  };
}

// The elements of the whole that a slice takes.
std::vector<size_t> taken(const Op& op, const Dims& whole, const Dims& part) {
  std::vector<ir::SliceAxis> axes;
  for (int64_t i = 0; i < whole.size(); ++i) {
    axes.push_back(ir::resolve_slice(op.attributes.ints(Attr::kStarts)[i], op.attributes.ints(Attr::kEnds)[i],
                                     op.attributes.ints(Attr::kStrides)[i], whole[i]));
  }
  std::vector<size_t> out;
  for_each_index(part, [&](Dims index) {
    for (int64_t i = 0; i < index.size(); ++i) index[i] = axes[i].start + index[i] * axes[i].stride;
    out.push_back(position(whole, index));
  });
  return out;
}

Reference move(const Op& op) {
  const Dims from = op.operands[0].shape().dims(), to = op.results[0].shape.dims();
  std::vector<size_t> places;
  switch (op.code) {
    case OpCode::transpose:
      for_each_index(to, [&](const Dims& index) {
        Dims at(index.size());
        for (int64_t i = 0; i < index.size(); ++i) {
          const auto rank = static_cast<int64_t>(index.size());
          at[*ir::normalize_axis(op.attributes.ints(Attr::kPermutation)[i], rank)] = index[i];
        }
        places.push_back(position(from, at));
      });
      break;
    case OpCode::slice: places = taken(op, from, to); break;
    default:  // to the same elements under another shape, or repeated
      if (op.code != OpCode::broadcast_to && op.code != OpCode::broadcast_like) {
        for (size_t i = 0; i < count_of(to); ++i) places.push_back(i);
      } else {
        for_each_index(to, [&](const Dims& index) { places.push_back(position(from, index)); });
      }
  }
  return gather(op, std::move(places));
}

Reference slice_gradient(const Op& op) {
  const size_t bytes = size_of(op.results[0].dtype), all = op.results[0].byte_count();
  const std::vector<size_t> to = taken(op, op.results[0].shape.dims(), op.operands[0].shape().dims());
  return [=](const std::byte* const* operands, std::byte* const* results) {
    std::memset(results[0], 0, all);
    for (size_t i = 0; i < to.size(); ++i) std::memcpy(results[0] + to[i] * bytes, operands[0] + i * bytes, bytes);
  };
}

// Index `i` of an array of indices.
int64_t index_at(ir::DType dtype, const std::byte* indices, size_t i) {
  return for_any_type<int64_t>(dtype, [&](auto t) { return static_cast<int64_t>(load<decltype(t)>(indices, i)); });
}

Reference gather_by_indices(const Op& op) {
  const Dims x = op.operands[0].shape().dims(), i = op.operands[1].shape().dims(), y = op.results[0].shape.dims();
  const ir::DType dtype = op.operands[1].dtype();
  const size_t bytes = size_of(op.results[0].dtype);
  const int64_t batch = op.attributes.integer(Attr::kBatchDims),
                axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size()), more = i.size() - batch;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    size_t at = 0;
    for_each_index(y, [&](const Dims& index) {
      Dims of_indices(index.begin(), index.begin() + batch), from(index.begin(), index.begin() + axis);
      of_indices.insert(of_indices.end(), index.begin() + axis, index.begin() + axis + more);
      const int64_t place = index_at(dtype, operands[1], position(i, of_indices));
      from.push_back(place);
      from.insert(from.end(), index.begin() + axis + more, index.end());
      std::byte* const to = results[0] + at++ * bytes;
      if (place < 0 || place >= x[axis]) std::memset(to, 0, bytes);
      else std::memcpy(to, operands[0] + position(x, from) * bytes, bytes);
    });
  };
}

template <class T>
Reference scatter_of(const Op& op) {
  const Dims updates = op.operands[0].shape().dims(), i = op.operands[1].shape().dims(), y = op.results[0].shape.dims();
  const ir::DType dtype = op.operands[1].dtype();
  const int64_t batch = op.attributes.integer(Attr::kBatchDims);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    std::vector<Number<T>> sums(count_of(y), 0);
    size_t at = 0;
    for_each_index(updates, [&](const Dims& index) {
      Dims of_indices(index.begin(), index.begin() + i.size() - 1), to(index.begin(), index.begin() + batch);
      of_indices.push_back(0);
      for (; of_indices.back() < i.back(); ++of_indices.back()) {
        to.push_back(index_at(dtype, operands[1], position(i, of_indices)));
      }
      to.insert(to.end(), index.begin() + i.size() - 1, index.end());
      const Number<T> update = load<T>(operands[0], at++);
      for (int64_t axis = 0; axis < y.size(); ++axis) {
        if (to[axis] < 0 || to[axis] >= y[axis]) return;
      }
      sums[position(y, to)] += update;
    });
    for (size_t k = 0; k < sums.size(); ++k) store<T>(results[0], k, sums[k]);
  };
}

Reference scatter_nd(const Op& op) {
  return for_type<Reference>(op.results[0].dtype, [&](auto t) -> Reference {
    if constexpr (std::is_same_v<decltype(t), Bool>) return nullptr;
    else return scatter_of<decltype(t)>(op);
  });
}

Reference pad(const Op& op) {
  const Dims x = op.operands[0].shape().dims(), y = op.results[0].shape.dims();
  const size_t bytes = size_of(op.results[0].dtype);
  const Dims padding = op.attributes.ints(Attr::kPadding);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    size_t at = 0;
    for_each_index(y, [&](Dims index) {
      bool is_inside = true;
      for (int64_t i = 0; i < index.size(); ++i) {
        index[i] -= padding[2 * i];
        is_inside = is_inside && index[i] >= 0 && index[i] < x[i];
      }
      const std::byte* const from = is_inside ? operands[0] + position(x, index) * bytes : operands[1];
      std::memcpy(results[0] + at++ * bytes, from, bytes);
    });
  };
}

Reference concat(const Op& op) {
  const Dims whole = op.results[0].shape.dims();
  const auto axis =
      static_cast<size_t>(*ir::normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(whole.size())));
  const size_t bytes = size_of(op.results[0].dtype);
  std::vector<Dims> parts;
  for (const ir::Value& v : op.operands) parts.push_back(v.shape().dims());
  return [=](const std::byte* const* operands, std::byte* const* results) {
    int64_t start = 0;
    for (size_t i = 0; i < parts.size(); start += parts[i++][axis]) {
      size_t from = 0;
      for_each_index(parts[i], [&](Dims index) {
        index[axis] += start;
        std::memcpy(results[0] + position(whole, index) * bytes, operands[i] + from++ * bytes, bytes);
      });
    }
  };
}

template <class T>
Number<T> combined(const std::string& mode, Number<T> x, Number<T> update) {
  if (mode == "add") return x + update;
  if (mode == "subtract") return x - update;
  if (mode == "multiply") return x * update;
  if (mode == "divide") return update == 0 && !std::is_floating_point_v<Number<T>> ? 0 : x / update;
  if (mode == "minimum") return std::min(x, update);
  return std::max(x, update);
}

// Combines update `from` with what is at `to`.
void put(ir::DType dtype, const std::string& mode, std::byte* data, size_t to, const std::byte* updates, size_t from) {
  if (mode == "set") {
    std::memcpy(data + to * size_of(dtype), updates + from * size_of(dtype), size_of(dtype));
    return;
  }
  for_any_type<bool>(dtype, [&](auto t) {
    using Type = decltype(t);
    store<Type>(data, to, combined<Type>(mode, load<Type>(data, to), load<Type>(updates, from)));
    return true;
  });
}

Reference scatter(const Op& op) {
  const Dims x = op.operands[0].shape().dims(), updates = op.operands[1].shape().dims();
  const ir::DType dtype = op.results[0].dtype, of_indices = op.operands[2].dtype();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
  const std::string mode = op.attributes.word(Attr::kMode);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const size_t bytes = size_of(dtype);
    if (results[0] != operands[0]) std::memcpy(results[0], operands[0], count_of(x) * bytes);
    size_t from = 0;
    for_each_index(updates, [&](Dims index) {
      const size_t update = from++;
      index[axis] = index_at(of_indices, operands[2], static_cast<size_t>(index[axis]));
      if (index[axis] < 0 || index[axis] >= x[axis]) return;
      const size_t to = position(x, index);
      put(dtype, mode, results[0], to, operands[1], update);
    });
  };
}

// Where tuple `place` of indices leads, or nothing where it is outside: the row behind the batch dimensions.
struct Tuples {
  Dims x, indices;
  int64_t batch;
  ir::DType dtype;

  std::optional<Dims> operator()(const std::byte* array, const Dims& place) const {
    Dims to(place.begin(), place.begin() + batch), at(place.begin(), place.begin() + indices.size() - 1);
    at.push_back(0);
    for (; at.back() < indices.back(); ++at.back()) {
      to.push_back(index_at(dtype, array, position(indices, at)));
      if (to.back() < 0 || to.back() >= x[to.size() - 1]) return std::nullopt;
    }
    to.insert(to.end(), place.begin() + indices.size() - 1, place.end());
    return to;
  }
};

Reference gather_nd(const Op& op) {
  const Tuples tuples{op.operands[0].shape().dims(), op.operands[1].shape().dims(),
                      op.attributes.integer(Attr::kBatchDims), op.operands[1].dtype()};
  const Dims y = op.results[0].shape.dims();
  const size_t bytes = size_of(op.results[0].dtype);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    size_t i = 0;
    for_each_index(y, [&](const Dims& index) {
      std::byte* const to = results[0] + i++ * bytes;
      const std::optional<Dims> from = tuples(operands[1], index);
      if (from) std::memcpy(to, operands[0] + position(tuples.x, *from) * bytes, bytes);
      else std::memset(to, 0, bytes);
    });
  };
}

Reference scatter_nd_update(const Op& op) {
  const Tuples tuples{op.operands[0].shape().dims(), op.operands[2].shape().dims(),
                      op.attributes.integer(Attr::kBatchDims), op.operands[2].dtype()};
  const Dims updates = op.operands[1].shape().dims();
  const ir::DType dtype = op.results[0].dtype;
  const std::string mode = op.attributes.word(Attr::kMode);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const size_t bytes = size_of(dtype);
    if (results[0] != operands[0]) std::memcpy(results[0], operands[0], count_of(tuples.x) * bytes);
    size_t from = 0;
    for_each_index(updates, [&](const Dims& index) {
      const size_t update = from++;
      const std::optional<Dims> place = tuples(operands[2], index);
      if (place) put(dtype, mode, results[0], position(tuples.x, *place), operands[1], update);
    });
  };
}

// ---- order, and running totals ----

// Calls f with the positions of each line of elements along the axis.
void for_each_line(const Dims& dims, int64_t axis, const std::function<void(const Dims& first)>& f) {
  Dims lines = dims;
  lines[axis] = 1;
  for_each_index(lines, f);
}

template <class T>
Reference argsort_of(const Op& op) {
  const Dims x = op.operands[0].shape().dims(), y = op.results[0].shape.dims();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
  const bool descending = op.attributes.flag(Attr::kDescending);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    for_each_line(x, axis, [&](Dims at) {
      std::vector<std::pair<Number<T>, int32_t>> line;
      for (at[axis] = 0; at[axis] < x[axis]; ++at[axis]) {
        line.emplace_back(load<T>(operands[0], position(x, at)), static_cast<int32_t>(at[axis]));
      }
      const auto below = [](Number<T> a, Number<T> b) { return a < b || (a == a && b != b); };
      std::stable_sort(line.begin(), line.end(), [&](const auto& a, const auto& b) {
        return descending ? below(b.first, a.first) : below(a.first, b.first);
      });
      for (at[axis] = 0; at[axis] < y[axis]; ++at[axis]) {
        store<int32_t>(results[0], position(y, at), line[static_cast<size_t>(at[axis])].second);
      }
    });
  };
}

template <class T>
Reference accumulate_of(const Op& op) {
  const Dims x = op.operands[0].shape().dims();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
  const bool reverse = op.attributes.flag(Attr::kReverse);
  const std::string operation = op.attributes.word(Attr::kOperation);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const auto next = [&](Number<T> total, Number<T> v) -> Number<T> {
      if (operation == "sum") return total + v;
      if (operation == "product") return total * v;
      if (v != v) return total;
      return total != total ? v : operation == "minimum" ? std::min(total, v) : std::max(total, v);
    };
    for_each_line(x, axis, [&](Dims at) {
      Number<T> total{};
      for (int64_t i = 0; i < x[axis]; ++i) {
        at[axis] = reverse ? x[axis] - 1 - i : i;
        const Number<T> v = load<T>(operands[0], position(x, at));
        total = i == 0 ? v : next(total, v);
        store<T>(results[0], position(x, at), total);
      }
    });
  };
}

Reference argsort(const Op& op) {
  return for_type<Reference>(op.operands[0].dtype(), [&](auto t) -> Reference {
    if constexpr (std::is_same_v<decltype(t), Bool>) return nullptr;
    else return argsort_of<decltype(t)>(op);
  });
}

Reference accumulate(const Op& op) {
  return for_type<Reference>(op.results[0].dtype, [&](auto t) -> Reference {
    if constexpr (std::is_same_v<decltype(t), Bool>) return nullptr;
    else return accumulate_of<decltype(t)>(op);
  });
}

// ---- random numbers ----

double number_of(const Op& op, const test::Stream& stream, uint64_t i) {
  const auto unit = [&](uint64_t at) { return (stream.word(at) & 0x7FFFFF) * 0x1p-23; };
  const double low = op.attributes.number(Attr::kLow), high = op.attributes.number(Attr::kHigh),
               mean = op.attributes.number(Attr::kMean), deviation = op.attributes.number(Attr::kDeviation);
  const std::string& distribution = op.attributes.word(Attr::kDistribution);
  const auto below_high = [&](double v) {
    const auto most = static_cast<float>(high);
    return std::max(low, std::min<double>(static_cast<float>(v),
                                          low < high ? std::nextafter(most, static_cast<float>(low)) : most));
  };
  if (op.results[0].dtype == ir::DType::int32) {
    return low + std::floor(stream.word(i) * (high - low + 1) / 4294967296.0);
  }
  if (distribution == "uniform") return below_high(low + unit(i) * (high - low));
  if (distribution == "truncated_normal") {
    const auto below = [&](double v) { return std::erfc((mean - v) / deviation / std::sqrt(2.0)) / 2; };
    return below_high(mean + deviation * test::normal_quantile(below(low) + unit(i) * (below(high) - below(low))));
  }
  if (op.attributes.word(Attr::kSampling) == "inverse_cdf") {
    return mean + deviation * test::normal_quantile(std::max(unit(i), 0x1p-24));
  }
  const uint64_t first = i / 2 * 2;
  const double radius = std::sqrt(-2 * std::log(1 - unit(first))), angle = 2 * M_PI * unit(first + 1);
  return mean + deviation * radius * (i == first ? std::cos(angle) : std::sin(angle));
}

Reference random_numbers(const Op& op) {
  const Op* const own = &op;  // lives as long as its kernel
  const size_t count = count_of(op.results[0].shape.dims());
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const test::Stream stream(reinterpret_cast<const uint32_t*>(operands[0]));
    uint32_t next[7];
    std::memcpy(next, operands[0], sizeof next);
    const test::PhiloxBlock behind = stream.counter_at((count + 3) / 4);
    std::copy(behind.begin(), behind.end(), next + 1);
    for (size_t i = 0; i < count; ++i) {
      const double number = number_of(*own, stream, i);
      if (own->results[0].dtype == ir::DType::int32) store<int32_t>(results[0], i, static_cast<int32_t>(number));
      else store<float>(results[0], i, number);
    }
    std::memcpy(results[1], next, sizeof next);
  };
}

Reference fresh_random_state(const Op&) {
  return [](const std::byte* const*, std::byte* const* results) {
    const ir::RandomState state = ir::random_state(std::random_device()());
    std::memcpy(results[0], state.data(), sizeof state);
  };
}

// ---- arithmetic of float32 ----

Reference matmul(const Op& op) {
  const Dims a = op.operands[0].shape().dims(), b = op.operands[1].shape().dims(), y = op.results[0].shape.dims();
  const bool ta = op.attributes.flag(Attr::kTransposeA), tb = op.attributes.flag(Attr::kTransposeB);
  const int64_t inner = a[a.size() - (ta ? 2 : 1)];
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> left = floats(operands[0], count_of(a)), right = floats(operands[1], count_of(b));
    const size_t next_left = ta ? static_cast<size_t>(a.back()) : 1,
                 next_right = tb ? 1 : static_cast<size_t>(b.back());
    std::vector<double> out;
    for_each_index(y, [&](const Dims& index) {
      // An extent of 1 is the matrix's own, not one that broadcasts: there both indices are 0.
      Dims l = index, r = index;
      const size_t row = index.size() - 2, column = index.size() - 1;
      l[ta ? column : row] = index[row];
      r[tb ? row : column] = index[column];
      l[ta ? row : column] = r[tb ? column : row] = 0;
      size_t from_left = position(a, l), from_right = position(b, r);
      double sum = 0;
      for (int64_t k = 0; k < inner; ++k, from_left += next_left, from_right += next_right) {
        sum += left[from_left] * right[from_right];
      }
      out.push_back(sum);
    });
    store_floats(results[0], out);
  };
}

// Of [a | identity] by elimination, the greatest pivot first, to [identity | inverse].
Reference inverse(const Op& op) {
  const Dims dims = op.results[0].shape.dims();
  const size_t n = dims.back(), wide = 2 * n;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> x = floats(operands[0], count_of(dims));
    std::vector<double> out(x.size());
    for (size_t first = 0; first < x.size(); first += n * n) {
      std::vector<double> both(n * wide, 0);
      for (size_t i = 0; i < n; ++i) {
        both[i * wide + n + i] = 1;
        for (size_t j = 0; j < n; ++j) both[i * wide + j] = x[first + i * n + j];
      }
      for (size_t k = 0; k < n; ++k) {
        size_t pivot = k;
        for (size_t i = k; i < n; ++i) {
          if (std::fabs(both[i * wide + k]) > std::fabs(both[pivot * wide + k])) pivot = i;
        }
        for (size_t j = 0; j < wide; ++j) std::swap(both[k * wide + j], both[pivot * wide + j]);
        const double divisor = both[k * wide + k];
        for (size_t j = 0; j < wide; ++j) both[k * wide + j] /= divisor;
        for (size_t i = 0; i < n; ++i) {
          const double times = both[i * wide + k];
          for (size_t j = 0; i != k && j < wide; ++j) both[i * wide + j] -= times * both[k * wide + j];
        }
      }
      for (size_t i = 0; i < n * n; ++i) out[first + i] = both[i / n * wide + n + i % n];
    }
    store_floats(results[0], out);
  };
}

// The sums as they are defined, one axis after the other.
Reference fourier_transform(const Op& op) {
  const Dims dims = op.results[0].shape.dims(), axes = op.attributes.ints(Attr::kAxes);
  const double sign = op.attributes.flag(Attr::kInverse) ? 1 : -1;
  const std::string scaling = op.attributes.word(Attr::kScaling);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    std::vector<double> x = floats(operands[0], count_of(dims));
    for (int64_t given : axes) {
      const int64_t axis = *ir::normalize_axis(given, dims.size() - 1), n = dims[axis];
      const double scale = scaling == "none" ? 1 : scaling == "size" ? 1.0 / n : 1 / std::sqrt(n);
      std::vector<double> y(x.size(), 0);
      for_each_index(dims, [&](const Dims& to) {
        Dims from = to;
        for (from[axis] = 0; from[axis] < n; ++from[axis]) {
          const double angle = sign * 2 * M_PI * static_cast<double>(from[axis] * to[axis] % n) / n;
          from.back() = 0;
          const double re = x[position(dims, from)], im = x[position(dims, from) + 1];
          const bool is_real = to.back() == 0;
          y[position(dims, to)] += scale * (is_real ? re * std::cos(angle) - im * std::sin(angle)
                                                    : re * std::sin(angle) + im * std::cos(angle));
        }
      });
      x = y;
    }
    store_floats(results[0], x);
  };
}

// The axis is where both have other lengths: there `kept` has one.
Dims kept_of(const Op& op) {
  Dims kept = op.operands[0].shape().dims();
  kept[*ir::normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(kept.size()))] = 1;
  return kept;
}

std::vector<double> softmax_of(const std::vector<double>& x, const Dims& dims, const Dims& kept, bool logarithm) {
  std::vector<size_t> row, greatest(count_of(kept), SIZE_MAX);
  for_each_index(dims, [&](const Dims& index) { row.push_back(position(kept, index)); });
  for (size_t i = 0; i < x.size(); ++i) {
    size_t& best = greatest[row[i]];
    if (best == SIZE_MAX || std::isnan(x[best]) || x[i] > x[best]) best = i;
  }
  // The greatest adds 1, which would hide how little the others add.
  std::vector<double> others(greatest.size(), 0), out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (greatest[row[i]] != i) others[row[i]] += std::exp(x[i] - x[greatest[row[i]]]);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double shifted = x[i] - x[greatest[row[i]]], rest = others[row[i]];
    out[i] = logarithm ? shifted - std::log1p(rest) : std::exp(shifted) / (1 + rest);
  }
  return out;
}

Reference softmax(const Op& op) {
  const Dims dims = op.operands[0].shape().dims(), kept = kept_of(op);
  const bool logarithm = op.code == OpCode::log_softmax;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    store_floats(results[0], softmax_of(floats(operands[0], count_of(dims)), dims, kept, logarithm));
  };
}

Reference cross_entropy(const Op& op) {
  const Dims dims = op.operands[0].shape().dims(), kept = kept_of(op);
  const std::string reduction = op.attributes.word(Attr::kReduction);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> labels = floats(operands[1], count_of(dims)),
                              logs = softmax_of(floats(operands[0], labels.size()), dims, kept, true);
    std::vector<double> rows(count_of(kept), 0);
    size_t at = 0;
    for_each_index(dims, [&](const Dims& index) {
      rows[position(kept, index)] -= labels[at] == 0 ? 0 : labels[at] * logs[at];
      ++at;
    });
    if (reduction == "none") return store_floats(results[0], rows);
    double total = 0;
    for (double v : rows) total += v;
    store<float>(results[0], 0, reduction == "mean" ? total / static_cast<double>(rows.size()) : total);
  };
}

Reference sgd(const Op& op) {
  const size_t count = count_of(op.results[0].shape.dims());
  return [count](const std::byte* const* operands, std::byte* const* results) {
    const double rate = load<float>(operands[0], 0);
    for (size_t i = 0; i < count; ++i) {
      store<float>(results[0], i, load<float>(operands[1], i) - rate * load<float>(operands[2], i));
    }
  };
}

Reference adam(const Op& op) {
  const size_t count = count_of(op.results[0].shape.dims());
  const bool has_greatest = op.operands.size() == 9;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const auto x = [&](size_t operand, size_t i) { return load<float>(operands[operand], i); };
    const double rate = x(0, 0), beta1 = x(1, 0), beta2 = x(2, 0), epsilon = x(3, 0);
    for (size_t i = 0; i < count; ++i) {
      const double g = x(has_greatest ? 8 : 7, i), m = beta1 * x(5, i) + (1 - beta1) * g,
                   v = beta2 * x(6, i) + (1 - beta2) * g * g, top = has_greatest ? std::fmax(x(7, i), v) : v;
      store<float>(results[0], i, x(4, i) - rate * m / (std::sqrt(top) + epsilon));
      store<float>(results[1], i, m);
      store<float>(results[2], i, v);
      if (has_greatest) store<float>(results[3], i, top);
    }
  };
}

Reference arithmetic(const Op& op) {
  if (op.operands.back().dtype() != ir::DType::float32) return nullptr;
  switch (op.code) {
    case OpCode::matmul: return matmul(op);
    case OpCode::inverse: return inverse(op);
    case OpCode::fourier_transform: return fourier_transform(op);
    case OpCode::softmax:
    case OpCode::log_softmax: return softmax(op);
    case OpCode::softmax_cross_entropy: return cross_entropy(op);
    case OpCode::sgd: return sgd(op);
    case OpCode::adam: return adam(op);
    case OpCode::rnn:
    case OpCode::rnn_gradient:
    case OpCode::lstm:
    case OpCode::lstm_gradient:
    case OpCode::gru:
    case OpCode::gru_gradient: return recurrent_reference(op);
    default: return window_reference(op);
  }
}

}  // namespace

Reference structured_reference(const Op& op) {
  switch (op.code) {
    case OpCode::reshape:
    case OpCode::reshape_like:
    case OpCode::squeeze:
    case OpCode::expand_dims:
    case OpCode::view_as_real:
    case OpCode::view_as_complex:
    case OpCode::transpose:
    case OpCode::broadcast_to:
    case OpCode::broadcast_like:
    case OpCode::bitcast:
    case OpCode::slice: return move(op);
    case OpCode::slice_gradient: return slice_gradient(op);
    case OpCode::concat: return concat(op);
    case OpCode::pad: return pad(op);
    case OpCode::gather: return gather_by_indices(op);
    case OpCode::scatter_nd: return scatter_nd(op);
    case OpCode::scatter: return scatter(op);
    case OpCode::gather_nd: return gather_nd(op);
    case OpCode::scatter_nd_update: return scatter_nd_update(op);
    case OpCode::argsort: return argsort(op);
    case OpCode::accumulate: return accumulate(op);
    case OpCode::random: return random_numbers(op);
    case OpCode::fresh_random_state: return fresh_random_state(op);
    case OpCode::reduce_like: return reduction_reference(op);
    case OpCode::cast: return elementwise_reference(op);
    default: return arithmetic(op);
  }
}

Reference reference_of(const Op& op) {
  switch (op.info().family) {
    case ir::Family::kReduction:
    case ir::Family::kMoment:
    case ir::Family::kArgReduction: return reduction_reference(op);
    case ir::Family::kStructured: return structured_reference(op);
    default: return elementwise_reference(op);
  }
}

}  // namespace alloy::remote
