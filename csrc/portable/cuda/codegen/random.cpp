// Random numbers: a stream of Philox, converted to the op's distribution (csrc/ir/README.md).
#include <cmath>
#include <cstdio>

#include "cuda/codegen/families.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::DType;
using ir::Op;

// Distributions are computed in double precision and rounded once, so that they have the same bits on every device.
constexpr char kRandom[] = R"cuda(
struct Words { unsigned int word[4]; };

__device__ inline Words philox(Words x, unsigned int key0, unsigned int key1) {
  for (int round = 0; round < 10; ++round) {
    const u64 a = (u64)0xD2511F53u * x.word[0], b = (u64)0xCD9E8D57u * x.word[2];
    x = Words{{(unsigned int)(b >> 32) ^ x.word[1] ^ key0, (unsigned int)b, (unsigned int)(a >> 32) ^ x.word[3] ^ key1,
               (unsigned int)a}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

// The counter after this many blocks.
__device__ inline Words counter_after(const unsigned int* state, u64 blocks) {
  Words counter;
  for (int i = 0; i < 4; ++i) {
    const u64 sum = (u64)state[1 + i] + (blocks & 0xFFFFFFFFu);
    counter.word[i] = (unsigned int)sum;
    blocks = (blocks >> 32) + (sum >> 32);
  }
  return counter;
}

__device__ inline double unit(unsigned int word) { return (word & 0x7FFFFFu) * (1.0 / 8388608.0); }

// A thread draws the four numbers of a block; `draw(words, k)` makes number k of them.
template <class T, class Draw>
__device__ inline void draw(const unsigned int* state, T* y, unsigned int* next, i64 count, i64 drawn,
                            const Draw& number_of) {
  for (i64 block = first_index(); block * 4 < count; block += index_step()) {
    const Words words = philox(counter_after(state, block), state[5], state[6]);
    for (int k = 0; k < 4 && block * 4 + k < count; ++k) y[block * 4 + k] = number_of(words, k);
  }
  if (first_index() == 0) {
    const Words behind = counter_after(state, (drawn + 3) / 4);
    for (int i = 0; i < 7; ++i) next[i] = i >= 1 && i < 5 ? behind.word[i - 1] : state[i];
  }
}

__device__ inline float limited(double low, double most, double value) {
  const double rounded = (float)value, below = rounded < most ? rounded : most;
  return (float)(below > low ? below : low);
}

__device__ inline float box_muller(const Words& words, int k, double mean, double deviation) {
  const double radius = sqrt(-2 * log(1 - unit(words.word[k & 2])));
  double s, c;
  sincospi(2 * unit(words.word[(k & 2) + 1]), &s, &c);
  return (float)(mean + deviation * radius * (k % 2 == 0 ? c : s));
}
)cuda";

// A number with all its bits.
std::string exact(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", number);
  return std::string("(") + (std::isinf(number) ? (number < 0 ? "-(double)infinity()" : "(double)infinity()") : text) +
         ")";
}

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The expression for number k of a block.
std::string drawn(const Op& op) {
  const double low = op.attributes.number(Attr::kLow), high = op.attributes.number(Attr::kHigh),
               mean = op.attributes.number(Attr::kMean), deviation = op.attributes.number(Attr::kDeviation);
  const std::string& distribution = op.attributes.word(Attr::kDistribution);
  const std::string word = "words.word[k]";
  if (op.results[0].dtype == DType::int32) {
    return "(int)(" + exact(low) + " + floor(" + word + " * " + exact(high - low + 1) + " / 4294967296.0))";
  }
  const auto most = static_cast<float>(high);
  const std::string limits =
      "limited(" + exact(low) + ", " + exact(low < high ? std::nextafter(most, static_cast<float>(low)) : most) + ", ";
  if (distribution == "uniform") return limits + exact(low) + " + unit(" + word + ") * " + exact(high - low) + ")";
  if (distribution == "truncated_normal") {
    // Bounds above the mean are mirrored, because probabilities are exact where they are small.
    const double a = (low - mean) / deviation, b = (high - mean) / deviation;
    const double from = normal_below(a > 0 ? -b : a), to = normal_below(a > 0 ? -a : b);
    return limits + exact(mean) + " + " + exact(a > 0 ? -deviation : deviation) + " * normcdfinv(" + exact(from) +
           " + unit(" + word + ") * " + exact(to - from) + "))";
  }
  if (op.attributes.word(Attr::kSampling) == "inverse_cdf") {
    return "(float)(" + exact(mean) + " + " + exact(deviation) + " * normcdfinv(fmax(unit(" + word +
           "), 1.0 / 16777216.0)))";
  }
  return "box_muller(words, k, " + exact(mean) + ", " + exact(deviation) + ")";
}

}  // namespace

Code code_of_random(const Op& op) {
  const DType dtype = op.results[0].dtype;
  if (dtype != DType::float32 && dtype != DType::int32) throw Lacking();
  const int64_t count = op.results[0].shape.element_count(), all = op.operands[1].shape().element_count();
  Code code;
  code.launches.push_back(
      launch_for((count + 3) / 4, {kRandom},
                 filled("  draw((const unsigned int*)p[0], (@*)p[1], (unsigned int*)p[2], n[0], n[1],\n"
                        "       [](const Words& words, int k) -> @ { return @; });\n",
                        {element_of(dtype), element_of(dtype), drawn(op)}),
                 {operand(0), result(0), result(1)}, {count, all}));
  return code;
}

Code code_of_fresh_random_state(const Op&) {
  Launch launch{
      {}, "  for (int i = 0; i < 7; ++i) ((int*)p[0])[i] = (int)n[i];\n", {result(0)}, std::vector<int64_t>(7, 0)};
  launch.threads = 1;
  launch.is_fresh = true;
  Code code;
  code.launches.push_back(std::move(launch));
  return code;
}

}  // namespace alloy::cuda
