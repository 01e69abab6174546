// Softmax, its logarithm, the cross entropy, and attention.
#include <algorithm>
#include <cmath>
#include <string>

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

// The weights of the values are the softmax of scale * query key^T + mask, for each query. Leading axes broadcast.
Arrays<double> attention(const Op& op, const Arrays<double>& in) {
  const double scale = op.attributes.number(Attr::kScale);
  const int64_t features = in[0].dims[in[0].dims.size() - 1], others = in[1].dims[in[1].dims.size() - 2];
  Array out(op.results[0].shape.dims());
  size_t next = 0;
  for_each_index(out.dims, [&](const Dims& index) {
    Dims query = index, key = index, score = index;
    const int64_t last = index.size() - 1;
    std::vector<double> scores(static_cast<size_t>(others));
    for (int64_t k = 0; k < others; ++k) {
      double& sum = scores[static_cast<size_t>(k)] = 0;
      for (int64_t i = 0; i < features; ++i) {
        query[last] = key[last] = i;
        key[last - 1] = k;
        sum += in[0].values[position(in[0].dims, query)] * in[1].values[position(in[1].dims, key)];
      }
      score[last] = k;
      sum = scale * sum + (in.size() > 3 ? in[3].values[position(in[3].dims, score)] : 0);
    }
    const double greatest = *std::max_element(scores.begin(), scores.end());
    double weights = 0, weighted = 0;
    for (int64_t k = 0; k < others; ++k) {
      const double weight = std::exp(scores[static_cast<size_t>(k)] - greatest);
      key[last - 1] = k;
      key[last] = index[last];
      weights += weight;
      weighted += weight * in[2].values[position(in[2].dims, key)];
    }
    out.values[next++] = weighted / weights;
  });
  return {out};
}

}  // namespace

Function<double> softmax(OpCode code) {
  switch (code) {
    case OpCode::softmax: return exp_log_softmax;
    case OpCode::log_softmax: return log_softmax;
    case OpCode::softmax_cross_entropy: return cross_entropy;
    case OpCode::scaled_dot_product_attention: return attention;
    default: return nullptr;
  }
}

}  // namespace alloy::reference
