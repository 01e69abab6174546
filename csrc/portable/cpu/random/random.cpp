// Random numbers by Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011): a function of a
// counter and a key, so any thread can compute any block. csrc/ir/README.md defines the order of the numbers.
#include <sys/random.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "cpu/families.h"
#include "cpu/random/random.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"
#include "ir/rules/random_state.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/random/random.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "cpu/simd/vocabulary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

using Bits = hn::ScalableTag<uint32_t>;
using Floats = hn::ScalableTag<float>;
using BitsVec = hn::Vec<Bits>;
using FloatsVec = hn::Vec<Floats>;

// The upper halves of the products.
HWY_INLINE BitsVec MultiplyHigh(BitsVec a, BitsVec b) {
  const Bits d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<uint32_t>(uint64_t{hn::GetLane(a)} * hn::GetLane(b) >> 32));
#else
  const hn::Repartition<uint64_t, Bits> wide;
  const auto odd = [&](BitsVec v) { return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, v))); };
  const auto of_even = hn::MulEven(a, b), of_odd = hn::MulEven(odd(a), odd(b));
  return hn::OddEven(hn::BitCast(d, of_odd), hn::BitCast(d, hn::ShiftRight<32>(of_even)));
#endif
}

struct Four {
  BitsVec x0, x1, x2, x3;
};

// The four words of consecutive blocks, one block in each lane.
HWY_INLINE Four Blocks(const Philox& from) {
  const Bits d;
  const auto lanes = hn::Iota(d, 0);
  const auto word = [&](uint64_t number, int shift) { return hn::Set(d, static_cast<uint32_t>(number >> shift)); };
  Four x{hn::Add(word(from.counter_low, 0), lanes), word(from.counter_low, 32), word(from.counter_high, 0),
         word(from.counter_high, 32)};
  const auto carry = [&](BitsVec v, hn::Mask<Bits> where) { return hn::Sub(v, hn::VecFromMask(d, where)); };
  const auto one = hn::Lt(x.x0, lanes);
  x.x1 = carry(x.x1, one);
  const auto two = hn::And(one, hn::Eq(x.x1, hn::Zero(d)));
  x.x2 = carry(x.x2, two);
  x.x3 = carry(x.x3, hn::And(two, hn::Eq(x.x2, hn::Zero(d))));
  auto key0 = word(from.key, 0), key1 = word(from.key, 32);
  const auto times0 = hn::Set(d, 0xD2511F53), times1 = hn::Set(d, 0xCD9E8D57);
  for (int round = 0; round < 10; ++round) {
    const auto high0 = MultiplyHigh(x.x0, times0), high1 = MultiplyHigh(x.x2, times1);
    const auto low0 = hn::Mul(x.x0, times0), low1 = hn::Mul(x.x2, times1);
    x = {hn::Xor(hn::Xor(high1, x.x1), key0), low1, hn::Xor(hn::Xor(high0, x.x3), key1), low0};
    key0 = hn::Add(key0, hn::Set(d, 0x9E3779B9));
    key1 = hn::Add(key1, hn::Set(d, 0xBB67AE85));
  }
  return x;
}

// A multiple of 2^-23, at least 0 and below 1.
HWY_INLINE FloatsVec Unit(BitsVec x) {
  const Floats d;
  const hn::RebindToSigned<Bits> integers;
  const auto low = hn::And(x, hn::Set(Bits(), 0x7FFFFF));
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(integers, low)), hn::Set(d, 0x1p-23F));
}

template <size_t kCount>
HWY_INLINE FloatsVec Polynomial(FloatsVec x, const float (&coefficients)[kCount]) {
  const Floats d;
  auto sum = hn::Set(d, coefficients[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

// The inverse of the normal distribution at p, 0 < p < 1: (2p - 1) P(w) with w = -log(4p (1 - p)). P is a polynomial of
// w, or farther out of its root; tests/goldens/inverse_normal.py fits both to 2e-8.
HWY_INLINE FloatsVec InverseNormal(FloatsVec p) {
  constexpr float kMiddle[] = {2.1233134269714355F,     0.34880203008651733F,    -0.005907717160880566F,
                               -0.0017716445727273822F, 0.00030878567486070096F, -7.019229997240473e-06F,
                               -4.89700369143975e-06F,  6.592640602320898e-07F,  3.285589045276538e-08F,
                               -1.243237335302183e-08F};
  constexpr float kTail[] = {4.315836429595947F,     1.421148657798767F,      0.008130772039294243F,
                             -0.00578346848487854F,  0.0038913229946047068F,  -0.002646312117576599F,
                             0.0015692270826548338F, -0.0005261547048576176F, -0.00013821331958752126F,
                             0.0001393002603435889F};
  constexpr float kFar[] = {9.42895793914795F,      1.4266606569290161F,      -0.00072848069248721F,
                            5.471389954436745e-07F, 1.148501269199187e-05F,   -2.6301540856366046e-06F,
                            4.62566674741538e-07F,  -1.4777636181406706e-07F, 2.8346107683319133e-08F};
  const Floats d;
  const auto one = hn::Set(d, 1.0F), x = hn::Sub(hn::Add(p, p), one);
  const auto product = hn::Mul(hn::Mul(p, hn::Set(d, 4.0F)), hn::Sub(one, p));
  const auto w = hn::Max(hn::Neg(HWY_NAMESPACE::Log(d, product)), hn::Zero(d));
  auto y = Polynomial(hn::Sub(w, hn::Set(d, 2.5F)), kMiddle);
  const auto is_tail = hn::Ge(w, hn::Set(d, 5.0F));
  if (!hn::AllFalse(d, is_tail)) {
    const auto root = hn::Sqrt(w);
    const auto tail = Polynomial(hn::Sub(root, hn::Set(d, 3.218034029006958F)), kTail);
    const auto far = Polynomial(hn::Sub(root, hn::Set(d, 6.8F)), kFar);
    y = hn::IfThenElse(is_tail, hn::IfThenElse(hn::Lt(root, hn::Set(d, 4.2F)), tail, far), y);
  }
  return hn::Mul(x, y);
}

// ---- numbers from four words ----

HWY_INLINE FloatsVec Scaled(FloatsVec x, float factor, float offset) {
  const Floats d;
  return hn::Add(hn::Mul(x, hn::Set(d, factor)), hn::Set(d, offset));
}

// Stores a number for each word; `of` maps numbers in [0, 1).
template <class F>
HWY_INLINE void StoreEach(const Four& x, float* out, const F& of) {
  hn::StoreInterleaved4(of(Unit(x.x0)), of(Unit(x.x1)), of(Unit(x.x2)), of(Unit(x.x3)), Floats(), out);
}

// Two normal numbers from two words (Box and Muller, 1958).
HWY_INLINE void BoxMuller(BitsVec a, BitsVec b, FloatsVec& first, FloatsVec& second) {
  const Floats d;
  const auto radius =
      hn::Sqrt(hn::Mul(hn::Set(d, -2.0F), HWY_NAMESPACE::Log(d, hn::Sub(hn::Set(d, 1.0F), Unit(a)))));  // (0, 1]
  const auto angle = hn::Mul(Unit(b), hn::Set(d, 6.283185307179586F));
  first = hn::Mul(radius, hn::Cos(d, angle));
  second = hn::Mul(radius, hn::Sin(d, angle));
}

HWY_INLINE void StoreBoxMuller(const Numbers& n, const Four& x, float* out) {
  FloatsVec y0, y1, y2, y3;
  BoxMuller(x.x0, x.x1, y0, y1);
  BoxMuller(x.x2, x.x3, y2, y3);
  const auto scaled = [&](FloatsVec y) { return Scaled(y, n.deviation, n.mean); };
  hn::StoreInterleaved4(scaled(y0), scaled(y1), scaled(y2), scaled(y3), Floats(), out);
}

HWY_INLINE void StoreIntegers(const Numbers& n, const Four& x, uint32_t* out) {
  const Bits d;
  const auto least = hn::Set(d, static_cast<uint32_t>(n.least)), count = hn::Set(d, n.count);
  const auto of = [&](BitsVec v) { return hn::Add(least, n.count == 0 ? v : MultiplyHigh(v, count)); };
  hn::StoreInterleaved4(of(x.x0), of(x.x1), of(x.x2), of(x.x3), d, out);
}

HWY_INLINE void StoreNumbers(const Numbers& n, const Four& x, std::byte* to) {
  const Floats d;
  auto* const out = reinterpret_cast<float*>(to);
  const auto bounded = [&](FloatsVec y, float most) {
    return hn::Max(hn::Min(y, hn::Set(d, most)), hn::Set(d, n.low));
  };
  switch (n.kind) {
    case Numbers::Kind::kInteger: return StoreIntegers(n, x, reinterpret_cast<uint32_t*>(to));
    case Numbers::Kind::kBoxMuller: return StoreBoxMuller(n, x, out);
    case Numbers::Kind::kUniform:
      return StoreEach(x, out, [&](FloatsVec u) { return bounded(Scaled(u, n.width, n.low), n.below_high); });
    case Numbers::Kind::kNormal:
      return StoreEach(x, out, [&](FloatsVec u) {
        return Scaled(InverseNormal(hn::Max(u, hn::Set(d, 0x1p-24F))), n.deviation, n.mean);
      });
    case Numbers::Kind::kTruncated:
      return StoreEach(x, out, [&](FloatsVec u) {
        const auto p = hn::Min(hn::Max(Scaled(u, n.width, n.first), hn::Set(d, std::numeric_limits<float>::min())),
                               hn::Set(d, 1 - 0x1p-24F));
        const auto y = InverseNormal(p);
        return bounded(Scaled(n.mirrored ? hn::Neg(y) : y, n.deviation, n.mean), n.below_high);
      });
  }
}

void Fill(const Philox& stream, const Numbers& numbers, int64_t first, int64_t last, int64_t end, std::byte* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Bits()));
  HWY_ALIGN uint32_t partial[4 * hn::MaxLanes(Bits())];
  for (int64_t block = first; block < last; block += lanes) {
    const Four x = Blocks(stream.behind(static_cast<uint64_t>(block)));
    const int64_t left = std::min(4 * std::min(lanes, last - block), end - 4 * block);
    std::byte* const to = out + 16 * block;
    if (left == 4 * lanes) {
      StoreNumbers(numbers, x, to);
    } else {
      StoreNumbers(numbers, x, reinterpret_cast<std::byte*>(partial));
      std::memcpy(to, partial, static_cast<size_t>(left) * 4);
    }
  }
}

FillLoop FindFill() { return Fill; }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindFill);

namespace {

using ir::Attr;
using ir::Op;

// The probability that a standard normal number is below x.
double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// Uses the side of the distribution where the probabilities are small, because floats tell them apart there.
void truncate(Numbers& n) {
  n.first = 0.5F;
  if (n.deviation == 0) return;
  double from = (n.low - double{n.mean}) / n.deviation, to = (n.high - double{n.mean}) / n.deviation;
  n.mirrored = from > 0;
  if (n.mirrored) {
    std::swap(from, to);
    from = -from;
    to = -to;
  }
  n.first = static_cast<float>(normal_below(from));
  n.width = static_cast<float>(normal_below(to) - normal_below(from));
}

Numbers numbers_of(const Op& op) {
  const auto number = [&](Attr attr) { return static_cast<float>(op.attributes.number(attr)); };
  const std::string& distribution = op.attributes.word(Attr::kDistribution);
  Numbers n{};
  n.low = number(Attr::kLow), n.high = number(Attr::kHigh);
  n.below_high = n.low < n.high ? std::nextafter(n.high, n.low) : n.high;
  n.mean = number(Attr::kMean), n.deviation = number(Attr::kDeviation);
  if (op.results[0].dtype == ir::DType::int32) {
    n.kind = Numbers::Kind::kInteger;
    n.least = static_cast<int32_t>(op.attributes.number(Attr::kLow));
    n.count = static_cast<uint32_t>(static_cast<int64_t>(op.attributes.number(Attr::kHigh)) - n.least + 1);
  } else if (distribution == "uniform") {
    n.kind = Numbers::Kind::kUniform;
    n.width = n.high - n.low;
  } else if (distribution == "truncated_normal") {
    n.kind = Numbers::Kind::kTruncated;
    truncate(n);
  } else {
    const bool inverse = op.attributes.word(Attr::kSampling) == "inverse_cdf";
    n.kind = inverse ? Numbers::Kind::kNormal : Numbers::Kind::kBoxMuller;
  }
  return n;
}

class RandomNumbers final : public Kernel {
 public:
  explicit RandomNumbers(const Op& op)
      : numbers_(numbers_of(op)),
        fill_(random_fill()),
        count_(op.operands[1].shape().element_count()),
        is_unread_(op.attributes.flag(Attr::kUnread)) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const Philox stream = Philox::of(operands[0]);
    const int64_t blocks = ir::divide_up(count_, int64_t{4});
    if (!is_unread_) {
      parallel_for(ir::divide_up(blocks, kShare), 4 * kShare * 4, [&](int64_t begin, int64_t end) {
        fill_(stream, numbers_, begin * kShare, std::min(end * kShare, blocks), count_, results[0]);
      });
    }
    const Philox next = stream.behind(static_cast<uint64_t>(blocks));
    const ir::RandomState after = ir::random_state(next.counter_low, next.counter_high, next.key);
    std::memcpy(results[1], after.data(), sizeof after);
    std::memcpy(results[1], operands[0], sizeof(int32_t));
  }

 private:
  static constexpr int64_t kShare = 256;  // blocks

  Numbers numbers_;
  FillLoop fill_;
  int64_t count_;
  bool is_unread_;
};

// The system's random numbers decide where the stream begins.
class FreshState final : public Kernel {
 public:
  void run(const std::byte* const*, std::byte* const* results, std::byte*) const override {
    uint32_t seed = 0;
    while (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    }
    const ir::RandomState state = ir::random_state(seed);
    std::memcpy(results[0], state.data(), sizeof state);
  }
};

}  // namespace

Philox Philox::of(const std::byte* state) {
  uint32_t words[7];
  std::memcpy(words, state, sizeof words);
  const auto wide = [&](size_t i) { return uint64_t{words[i + 1]} << 32 | words[i]; };
  return {wide(1), wide(3), wide(5)};
}

Numbers unit_numbers() {
  Numbers n{};
  n.kind = Numbers::Kind::kUniform;
  n.high = n.width = 1;
  n.below_high = std::nextafter(1.0F, 0.0F);
  return n;
}

FillLoop random_fill() { return HWY_DYNAMIC_DISPATCH(FindFill)(); }

std::unique_ptr<Kernel> make_random(const Op& op) {
  const ir::DType dtype = op.results[0].dtype;
  if (dtype != ir::DType::float32 && dtype != ir::DType::int32) refuse(op, op.results[0]);
  return std::make_unique<RandomNumbers>(op);
}

std::unique_ptr<Kernel> make_fresh_random_state(const Op&) { return std::make_unique<FreshState>(); }

}  // namespace alloy::cpu
#endif
