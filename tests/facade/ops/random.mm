// Random numbers by every selector: the stream of their state, descriptors and their first values, and dropout.

#include "../../../csrc/reference/philox.h"
#include "graph_testing.h"

using alloy::reference::normal_quantile;
using alloy::reference::PhiloxBlock;
using alloy::reference::Stream;

using State = std::vector<uint32_t>;

static State words_of(const Array& state) {
  State words;
  for (double v : state.values) words.push_back(static_cast<uint32_t>(static_cast<int64_t>(v)));
  return words;
}

// srand48 and mrand48 as POSIX defines them.
static State state_of_seed(uint32_t seed) {
  uint64_t x = uint64_t{seed} << 16 | 0x330E;
  uint32_t draws[6];
  for (uint32_t& draw : draws) {
    x = (x * 0x5DEECE66D + 0xB) % (uint64_t{1} << 48);
    draw = static_cast<uint32_t>(x >> 16);
  }
  return {1, draws[1], draws[0], draws[3], draws[2], draws[5], draws[4]};
}

static State moved(State state, uint64_t blocks) {
  const PhiloxBlock behind = Stream(state.data()).counter_at(blocks);
  for (size_t i = 0; i < 4; ++i) state.at(i + 1) = behind.at(i);
  return state;
}

static double unit(const State& state, uint64_t i) { return (Stream(state.data()).word(i) & 0x7FFFFF) / 8388608.0; }

// What a function gives of each position in the stream.
template <class F>
static Array expected(const Shape& shape, const F& number) {
  Array out(shape);
  for (size_t i = 0; i < out.values.size(); ++i) out.values.at(i) = number(i);
  return out;
}

static MPSGraphRandomOpDescriptor* descriptor(MPSGraphRandomDistribution distribution,
                                              MPSDataType type = MPSDataTypeFloat32) {
  return [MPSGraphRandomOpDescriptor descriptorWithDistribution:distribution dataType:type];
}

static MPSGraphTensor* shape_tensor(MPSGraph* g, const Shape& shape) {
  return [g shapeOfTensor:[g constantWithScalar:0 shape:numbers(shape) dataType:MPSDataTypeFloat32] name:nil];
}

TEST(states_are_those_of_seeds_and_counters) {
  Session session;
  MPSGraph* g = session.graph();
  for (uint32_t seed : {0u, 42u, 2069102477u}) {
    MPSGraphTensor* state = [g randomPhiloxStateTensorWithSeed:seed name:@"state"];
    const Array got = session.run(state);
    CHECK(got.shape == Shape{7} && got.type == MPSDataTypeInt32 && words_of(got) == state_of_seed(seed));
  }
  const State given = words_of(session.run([g randomPhiloxStateTensorWithCounterLow:0x200000001
                                                                        counterHigh:0x400000003
                                                                                key:0x600000005
                                                                               name:nil]));
  CHECK((given == State{1, 1, 2, 3, 4, 5, 6}));
}

TEST(numbers_are_the_stream_of_their_state) {
  const State state = state_of_seed(7);
  for (bool by_tensor : {false, true}) {
    Session session;
    MPSGraph* g = session.graph();
    const Shape shape = {3, 7};
    MPSGraphTensor *start = [g randomPhiloxStateTensorWithSeed:7 name:nil], *as_tensor = shape_tensor(g, shape);
    const auto draw = [&](MPSGraphRandomOpDescriptor* d) {
      NSArray* drawn = by_tensor ? [g randomTensorWithShapeTensor:as_tensor descriptor:d stateTensor:start name:nil]
                                 : [g randomTensorWithShape:numbers(shape) descriptor:d stateTensor:start name:nil];
      CHECK([drawn count] == 2);
      CHECK(words_of(session.run([drawn objectAtIndex:1])) == moved(state, 6));
      return session.run([drawn objectAtIndex:0]);
    };
    MPSGraphRandomOpDescriptor* d = descriptor(MPSGraphRandomDistributionUniform);
    [d setMin:-1];
    [d setMax:3];
    CHECK_ARRAY(draw(d), expected(shape, [&](size_t i) { return -1 + 4 * unit(state, i); }));
    d = descriptor(MPSGraphRandomDistributionNormal);
    [d setMean:3];
    [d setStandardDeviation:0.5F];
    CHECK_ARRAY(draw(d), expected(shape, [&](size_t i) { return 3 + 0.5 * normal_quantile(unit(state, i)); }));
    [d setSamplingMethod:MPSGraphRandomNormalSamplingBoxMuller];
    CHECK_ARRAY(draw(d), expected(shape, [&](size_t i) {
                  const size_t first = i / 2 * 2;
                  const double angle = 2 * M_PI * unit(state, first + 1);
                  return 3 + 0.5 * std::sqrt(-2 * std::log(1 - unit(state, first))) *
                                 (i == first ? std::cos(angle) : std::sin(angle));
                }));
    d = descriptor(MPSGraphRandomDistributionTruncatedNormal);
    [d setMin:-0.5F];
    [d setMax:2];
    [d setMean:1];
    [d setStandardDeviation:3];
    const auto below = [](double x) { return std::erfc((1 - x) / 3 / std::sqrt(2.0)) / 2; };
    CHECK_ARRAY(draw(d), expected(shape, [&](size_t i) {
                  return 1 + 3 * normal_quantile(below(-0.5) + unit(state, i) * (below(2) - below(-0.5)));
                }));
    d = descriptor(MPSGraphRandomDistributionUniform, MPSDataTypeInt32);
    [d setMinInteger:-5];
    [d setMaxInteger:5];
    Array integers =
        expected(shape, [&](size_t i) { return -5 + std::floor(Stream(state.data()).word(i) * 11.0 / 4294967296.0); });
    integers.type = MPSDataTypeInt32;
    CHECK_ARRAY(draw(d), integers);
  }
}

TEST(seeds_repeat_and_states_go_on) {
  Session session;
  MPSGraph* g = session.graph();
  const Shape shape = {2, 5};
  NSArray<NSNumber*>* dims = numbers(shape);
  MPSGraphTensor* as_tensor = shape_tensor(g, shape);
  MPSGraphRandomOpDescriptor *normal = descriptor(MPSGraphRandomDistributionNormal),
                             *throws = descriptor(MPSGraphRandomDistributionUniform, MPSDataTypeInt32);
  [throws setMinInteger:1];
  [throws setMaxInteger:6];
  const State state = state_of_seed(99);
  Array thrown =
      expected(shape, [&](size_t i) { return 1 + std::floor(Stream(state.data()).word(i) * 6.0 / 4294967296.0); });
  thrown.type = MPSDataTypeInt32;
  const Array uniform = expected(shape, [&](size_t i) { return unit(state, i); }),
              gaussian = expected(shape, [&](size_t i) { return normal_quantile(unit(state, i)); });
  for (int run = 0; run < 2; ++run) {
    CHECK_ARRAY(session.run([g randomUniformTensorWithShape:dims seed:99 name:nil]), uniform);
    CHECK_ARRAY(session.run([g randomUniformTensorWithShapeTensor:as_tensor seed:99 name:nil]), uniform);
    CHECK_ARRAY(session.run([g randomTensorWithShape:dims descriptor:normal seed:99 name:nil]), gaussian);
    CHECK_ARRAY(session.run([g randomTensorWithShapeTensor:as_tensor descriptor:normal seed:99 name:nil]), gaussian);
    CHECK_ARRAY(session.run([g randomTensorWithShape:dims descriptor:throws seed:99 name:nil]), thrown);
    CHECK_ARRAY(session.run([g randomTensorWithShapeTensor:as_tensor descriptor:throws seed:99 name:nil]), thrown);
  }
  // A state that is fed; and the next numbers of the state that came out.
  MPSGraphTensor* start = [g randomPhiloxStateTensorWithSeed:99 name:nil];
  NSArray* first = [g randomUniformTensorWithShape:dims stateTensor:start name:nil];
  NSArray* second = [g randomUniformTensorWithShapeTensor:as_tensor stateTensor:[first objectAtIndex:1] name:nil];
  CHECK_ARRAY(session.run([first objectAtIndex:0]), uniform);
  const State next = moved(state, 3);
  CHECK_ARRAY(session.run([second objectAtIndex:0]), expected(shape, [&](size_t i) { return unit(next, i); }));
  CHECK(words_of(session.run([second objectAtIndex:1])) == moved(state, 6));
}

// Each selector without a seed, in every run and twice in one run.
TEST(without_a_seed_each_run_draws_others) {
  Session session;
  MPSGraph* g = session.graph();
  NSArray<NSNumber*>* dims = numbers({4, 5});
  MPSGraphTensor* as_tensor = shape_tensor(g, {4, 5});
  MPSGraphRandomOpDescriptor* normal = descriptor(MPSGraphRandomDistributionNormal);
  const std::vector<MPSGraphTensor*> drawn = {[g randomUniformTensorWithShape:dims name:nil],
                                              [g randomUniformTensorWithShapeTensor:as_tensor name:nil],
                                              [g randomTensorWithShape:dims descriptor:normal name:nil],
                                              [g randomTensorWithShapeTensor:as_tensor descriptor:normal name:nil]};
  const std::vector<Array> one = session.run(drawn), two = session.run(drawn);
  for (size_t i = 0; i < drawn.size(); ++i) {
    CHECK(one.at(i).shape == Shape({4, 5}) && one.at(i).values != two.at(i).values);
    for (double v : one.at(i).values) CHECK(i < 2 ? v >= 0 && v < 1 : std::fabs(v) < 6);
  }
  CHECK(one.at(0).values != one.at(1).values && one.at(2).values != one.at(3).values);
}

static double mean_of(const Array& x) {
  double sum = 0;
  for (double v : x.values) sum += v;
  return sum / static_cast<double>(x.values.size());
}

static double deviation_of(const Array& x) {
  const double mean = mean_of(x);
  return std::sqrt(mean_of(map(x, [&](double v) { return (v - mean) * (v - mean); })));
}

// The bounds allow for six deviations of the quantity; what is drawn is another in every run.
TEST(numbers_without_a_seed_have_their_distribution) {
  const Shape shape = {40, 50};
  for (bool by_tensor : {false, true}) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor* as_tensor = shape_tensor(g, shape);
    const auto draw = [&](MPSGraphRandomOpDescriptor* d) {
      return session.run(by_tensor ? [g randomTensorWithShapeTensor:as_tensor descriptor:d name:nil]
                                   : [g randomTensorWithShape:numbers(shape) descriptor:d name:nil]);
    };
    const auto reaches = [](const Array& x, double least, double greatest, double margin) {
      const auto [low, high] = std::minmax_element(x.values.begin(), x.values.end());
      CHECK(least <= *low && *low <= least + margin && greatest - margin <= *high && *high <= greatest);
    };
    MPSGraphRandomOpDescriptor* d = descriptor(MPSGraphRandomDistributionUniform);
    [d setMin:-1];
    [d setMax:3];
    Array x = draw(d);
    reaches(x, -1, 3, 0.1);
    CHECK_NEAR(mean_of(x), 1, 0.16);
    CHECK_NEAR(deviation_of(x), 4 / std::sqrt(12.0), 0.1);
    d = descriptor(MPSGraphRandomDistributionNormal);
    [d setMean:3];
    [d setStandardDeviation:2];
    x = draw(d);
    CHECK_NEAR(mean_of(x), 3, 0.27);
    CHECK_NEAR(deviation_of(x), 2, 0.2);
    d = descriptor(MPSGraphRandomDistributionTruncatedNormal);
    [d setMin:-0.5F];
    [d setMax:2];
    [d setMean:1];
    [d setStandardDeviation:3];
    reaches(draw(d), -0.5, 2, 0.1);
    d = descriptor(MPSGraphRandomDistributionUniform, MPSDataTypeInt32);
    [d setMinInteger:-5];
    [d setMaxInteger:7];
    x = draw(d);
    CHECK(x.type == MPSDataTypeInt32);
    reaches(x, -5, 7, 0);
    CHECK_NEAR(mean_of(x), 1, 0.5);
  }
}

TEST(dropout_keeps_the_rest_and_its_gradient) {
  const Array x = signed_array({50, 40}, 0.5, 2);
  for (bool by_tensor : {false, true}) {
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor *tx = session.feed(x), *rate = scalar(g, 0.75);
    MPSGraphTensor* y =
        by_tensor ? [g dropoutTensor:tx rateTensor:rate name:@"drop"] : [g dropoutTensor:tx rate:0.75 name:nil];
    MPSGraphTensor* sum = total_of(g, [g squareWithTensor:y name:nil]);
    MPSGraphTensor* gradient = gradient_of(g, sum, tx);
    const std::vector<Array> got = session.run({y, gradient}), again = session.run(std::vector{y});
    long kept = 0;
    for (size_t i = 0; i < x.values.size(); ++i) {
      const double v = got.at(0).values.at(i);
      CHECK(v == 0 || std::fabs(v - 4 * x.values.at(i)) < 1e-5);
      CHECK(std::fabs(got.at(1).values.at(i) - 2 * v * (v == 0 ? 0 : 4)) < 1e-3);
      kept += v != 0 ? 1 : 0;
    }
    CHECK(kept > 380 && kept < 620);  // 500, with a standard deviation of 19
    CHECK(got.at(0).values != again.at(0).values);
  }
  Session session;
  MPSGraphTensor* tx = session.feed(x);
  CHECK_ARRAY(session.run([session.graph() dropoutTensor:tx rate:0 name:nil]), x);
  CHECK_ARRAY(session.run([session.graph() dropoutTensor:tx rate:1 name:nil]), Array({50, 40}));
}

// The state of a loop's random numbers is carried; without one, each iteration draws others.
TEST(iterations_draw_their_own_numbers) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *n = scalar(g, 2, MPSDataTypeInt32), *zeros = [g constantWithScalar:0
                                                                               shape:numbers({8})
                                                                            dataType:MPSDataTypeFloat32];
  NSArray* results = [g forLoopWithNumberOfIterations:n
                                 initialBodyArguments:list(zeros, zeros)
                                                 body:^(MPSGraphTensor*, NSArray<MPSGraphTensor*>* a) {
                                                   return list([g randomUniformTensorWithShape:numbers({8}) name:nil],
                                                               [a objectAtIndex:0]);
                                                 }
                                                 name:nil];
  const std::vector<Array> got = session.run({[results objectAtIndex:0], [results objectAtIndex:1]});
  CHECK(got.at(0).values != got.at(1).values);
}

int main(int count, char** arguments) { return check::run(count, arguments); }
