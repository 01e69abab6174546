// Random numbers: a stream of Philox, converted to the op's distribution.
#include <algorithm>
#include <cmath>
#include <string>

#include "reference/philox.h"
#include "reference/reference.h"

namespace alloy::reference {
namespace {

double below_high(double low, double high, double v) {
  const auto most = static_cast<float>(high);
  return std::max(
      low, std::min<double>(static_cast<float>(v), low < high ? std::nextafter(most, static_cast<float>(low)) : most));
}

double number_of(const Op& op, const Stream& stream, uint64_t i) {
  const double low = op.attributes.number(Attr::kLow), high = op.attributes.number(Attr::kHigh),
               mean = op.attributes.number(Attr::kMean), deviation = op.attributes.number(Attr::kDeviation);
  const std::string& distribution = op.attributes.word(Attr::kDistribution);
  if (op.results[0].dtype == DType::int32) return low + std::floor(stream.word(i) * (high - low + 1) / 4294967296.0);
  if (distribution == "uniform") return below_high(low, high, low + stream.unit(i) * (high - low));
  if (distribution == "truncated_normal") {
    // Bounds above the mean are mirrored, because probabilities are exact where they are small.
    const double a = (low - mean) / deviation, b = (high - mean) / deviation, sign = a > 0 ? -1 : 1;
    const double from = normal_below(a > 0 ? -b : a), to = normal_below(a > 0 ? -a : b);
    return below_high(low, high, mean + deviation * sign * normal_quantile(from + stream.unit(i) * (to - from)));
  }
  if (op.attributes.word(Attr::kSampling) == "inverse_cdf") {
    return mean + deviation * normal_quantile(std::max(stream.unit(i), 0x1p-24));
  }
  const uint64_t first = i / 2 * 2;
  const double radius = std::sqrt(-2 * std::log(1 - stream.unit(first))), angle = 2 * M_PI * stream.unit(first + 1);
  return mean + deviation * radius * (i == first ? std::cos(angle) : std::sin(angle));
}

// Operands: the state, and a tensor of the numbers' shape and type. Results: the numbers, and the next state.
Arrays<double> numbers(const Op& op, const Arrays<double>& in) {
  uint32_t state[7];
  for (size_t i = 0; i < 7; ++i) state[i] = static_cast<uint32_t>(static_cast<int64_t>(in[0].values[i]));
  const Stream stream(state);
  Array out(op.results[0].shape.dims()), next = in[0];
  for (size_t i = 0; i < out.size(); ++i) out.values[i] = number_of(op, stream, i);
  const PhiloxBlock behind = stream.counter_at((count_of(op.operands[1].shape().dims()) + 3) / 4);
  for (size_t i = 0; i < 4; ++i) next.values[i + 1] = static_cast<int32_t>(behind[i]);
  return {out, next};
}

}  // namespace

Function<double> random(OpCode code) { return code == OpCode::random ? numbers : nullptr; }

}  // namespace alloy::reference
