// Softmax, its logarithm, the cross entropy, and attention.
#include <algorithm>
#include <cmath>
#include <string>

#include "reference/philox.h"
#include "reference/reference.h"

namespace alloy::reference {
namespace {

// The rows along the op's axis: their number, and the row of every element.
struct Rows {
  Dims dims;
  std::vector<size_t> of;

  Rows(const Op& op, const Dims& all) : dims(all) {
    dims[axis_of(op)] = 1;
    for_each_place(all, steps_of(dims, all), 0, [&](size_t row) { of.push_back(row); });
  }
};

Array log_softmax_of(const Array& x, const Rows& row) {
  std::vector<size_t> greatest(count_of(row.dims), SIZE_MAX);
  for (size_t i = 0; i < x.size(); ++i) {
    size_t& best = greatest[row.of[i]];
    if (best == SIZE_MAX || std::isnan(x.values[best]) || x.values[i] > x.values[best]) best = i;
  }
  // The greatest element adds 1, which would hide small sums of the others.
  std::vector<double> others(greatest.size(), 0);
  Array out(x.dims);
  for (size_t i = 0; i < x.size(); ++i) {
    out.values[i] = x.values[i] - x.values[greatest[row.of[i]]];
    if (greatest[row.of[i]] != i) others[row.of[i]] += std::exp(out.values[i]);
  }
  for (size_t i = 0; i < x.size(); ++i) out.values[i] -= std::log1p(others[row.of[i]]);
  return out;
}

Arrays<double> log_softmax(const Op& op, const Arrays<double>& in) {
  return {log_softmax_of(in[0], Rows(op, in[0].dims))};
}

Arrays<double> exp_log_softmax(const Op& op, const Arrays<double>& in) {
  Array out = log_softmax_of(in[0], Rows(op, in[0].dims));
  for (double& v : out.values) v = std::exp(v);
  return {out};
}

Arrays<double> cross_entropy(const Op& op, const Arrays<double>& in) {
  const Rows rows(op, in[0].dims);
  const Array logs = log_softmax_of(in[0], rows);
  const std::vector<double>& labels = in[1].values;
  Array losses(rows.dims), out(op.results[0].shape.dims());
  for (size_t i = 0; i < logs.size(); ++i) losses.values[rows.of[i]] -= labels[i] == 0 ? 0 : labels[i] * logs.values[i];
  const std::string& reduction = op.attributes.word(Attr::kReduction);
  if (reduction == "none") return {losses};
  for (double v : losses.values) out.values[0] += v;
  if (reduction == "mean") out.values[0] /= static_cast<double>(losses.size());
  return {out};
}

// (batch, steps, heads, features) as (batch, heads, steps, features), or back, if the op has this layout.
Array heads_first(const Op& op, const Array& x) {
  if (!op.attributes.flag(Attr::kStepsFirst)) return x;
  Array out({x.dims[0], x.dims[2], x.dims[1], x.dims[3]});
  size_t next = 0;
  for_each_index(out.dims,
                 [&](const Dims& i) { out.values[next++] = x.values[position(x.dims, {i[0], i[2], i[1], i[3]})]; });
  return out;
}

// An index with other numbers as the last two.
Dims with_last(Dims index, int64_t row, int64_t column) {
  index[index.size() - 2] = row;
  index[index.size() - 1] = column;
  return index;
}

// The extents of an array with one element for each row.
Dims rows_of(const Array& x) {
  Dims dims = x.dims;
  dims[dims.size() - 1] = 1;
  return dims;
}

// The weights of all keys for the query of this index: the softmax of scale * query key^T + mask.
std::vector<double> weights_of(const Op& op, const Array& query, const Array& key, const Array* mask,
                               const Dims& index) {
  const int64_t row = index[index.size() - 2], features = key.dims[key.dims.size() - 1];
  std::vector<double> weights;
  for (int64_t k = 0; k < key.dims[key.dims.size() - 2]; ++k) {
    double sum = 0;
    for (int64_t i = 0; i < features; ++i) {
      sum += query.values[position(query.dims, with_last(index, row, i))] *
             key.values[position(key.dims, with_last(index, k, i))];
    }
    const double added = mask == nullptr ? 0 : mask->values[position(mask->dims, with_last(index, row, k))];
    weights.push_back(op.attributes.number(Attr::kScale) * sum + added);
  }
  const double greatest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& w : weights) sum += w = std::exp(w - greatest);
  for (double& w : weights) w /= sum;
  return weights;
}

// The factor of each weight of the query of this index: with a dropout 1 / (1 - rate), or 0 where the random number is
// below the rate.
std::vector<double> kept(const Op& op, const Arrays<double>& in, const Dims& index, const Dims& rows, size_t keys) {
  std::vector<double> factors(keys, 1);
  if (!op.attributes.flag(Attr::kDropout)) return factors;
  const Array &words = in[in.size() - 2], &rate = in[in.size() - 1];
  uint32_t state[7];
  for (size_t i = 0; i < 7; ++i) state[i] = static_cast<uint32_t>(static_cast<int64_t>(words.values[i]));
  const Stream stream(state);
  for (size_t k = 0; k < keys; ++k) {
    const bool is_kept = stream.unit(position(rows, index) * keys + k) >= rate.values[0];
    factors[k] = is_kept && rate.values[0] != 1 ? 1 / (1 - rate.values[0]) : 0;
  }
  return factors;
}

// The mask, if the op has one behind this number of operands.
const Array* mask_of(const Op& op, const Arrays<double>& in, size_t operands) {
  return in.size() - (op.attributes.flag(Attr::kDropout) ? 2 : 0) > operands ? &in[operands] : nullptr;
}

// Leading axes broadcast.
Arrays<double> attention(const Op& op, const Arrays<double>& in) {
  const Array query = heads_first(op, in[0]), key = heads_first(op, in[1]), value = heads_first(op, in[2]);
  Array out = heads_first(op, Array(op.results[0].shape.dims()));
  for_each_index(rows_of(out), [&](const Dims& index) {
    const std::vector<double> weights = weights_of(op, query, key, mask_of(op, in, 3), index),
                              factors = kept(op, in, index, rows_of(out), weights.size());
    for (int64_t i = 0; i < out.dims[out.dims.size() - 1]; ++i) {
      double& sum = out.values[position(out.dims, with_last(index, index[index.size() - 2], i))];
      for (size_t k = 0; k < weights.size(); ++k) {
        sum +=
            factors[k] * weights[k] * value.values[position(value.dims, with_last(index, static_cast<int64_t>(k), i))];
      }
    }
  });
  return {heads_first(op, out)};
}

// With the weights w of a query and its incoming gradient g, the gradient of score k is w_k (g v_k - sum_j w_j g v_j).
Arrays<double> attention_gradient(const Op& op, const Arrays<double>& in) {
  const Array query = heads_first(op, in[0]), key = heads_first(op, in[1]), value = heads_first(op, in[2]),
              incoming = heads_first(op, in[3]);
  const double scale = op.attributes.number(Attr::kScale);
  const int64_t depth = key.dims[key.dims.size() - 1], width = value.dims[value.dims.size() - 1];
  Array of_query(query.dims), of_key(key.dims), of_value(value.dims);
  for_each_index(rows_of(incoming), [&](const Dims& index) {
    const int64_t row = index[index.size() - 2];
    const std::vector<double> weights = weights_of(op, query, key, mask_of(op, in, 4), index),
                              factors = kept(op, in, index, rows_of(incoming), weights.size());
    std::vector<double> of_weights(weights.size(), 0);
    double mean = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      for (int64_t i = 0; i < width; ++i) {
        const double g = incoming.values[position(incoming.dims, with_last(index, row, i))];
        const size_t at = position(value.dims, with_last(index, static_cast<int64_t>(k), i));
        of_weights[k] += factors[k] * g * value.values[at];
        of_value.values[at] += factors[k] * g * weights[k];
      }
      mean += weights[k] * of_weights[k];
    }
    for (size_t k = 0; k < weights.size(); ++k) {
      const double of_score = scale * weights[k] * (of_weights[k] - mean);
      for (int64_t i = 0; i < depth; ++i) {
        const size_t q = position(query.dims, with_last(index, row, i));
        const size_t at = position(key.dims, with_last(index, static_cast<int64_t>(k), i));
        of_query.values[q] += of_score * key.values[at];
        of_key.values[at] += of_score * query.values[q];
      }
    }
  });
  return {heads_first(op, of_query), heads_first(op, of_key), heads_first(op, of_value)};
}

}  // namespace

Function<double> softmax(OpCode code) {
  switch (code) {
    case OpCode::softmax: return exp_log_softmax;
    case OpCode::log_softmax: return log_softmax;
    case OpCode::softmax_cross_entropy: return cross_entropy;
    case OpCode::scaled_dot_product_attention: return attention;
    case OpCode::scaled_dot_product_attention_gradient: return attention_gradient;
    default: return nullptr;
  }
}

}  // namespace alloy::reference
