// Distances of bits, and attention. The products of matrices are in tests/python/ops/test_ops.py.

#include "graph_testing.h"

// Rows of bits against rows of bits.
TEST(hamming_distances) {
  for (const MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64, MPSDataTypeUInt8}) {
    Session session;
    const long low = type == MPSDataTypeUInt8 ? 0 : -100000, high = type == MPSDataTypeUInt8 ? 255 : 100000;
    const Array a = random_integers({2, 3, 70}, low, high, type), b = random_integers({1, 4, 70}, low, high, type);
    Array expected({2, 3, 4}, 0, MPSDataTypeUInt32);
    const uint64_t width = type == MPSDataTypeInt64 ? ~uint64_t{0} : type == MPSDataTypeInt32 ? 0xffffffff : 0xff;
    for_each_index(expected.shape, [&](const Index& i) {
      for (long k = 0; k < 70; ++k) {
        const auto x = static_cast<uint64_t>(static_cast<int64_t>(a.at({i.at(0), i.at(1), k}))),
                   y = static_cast<uint64_t>(static_cast<int64_t>(b.at({0, i.at(2), k})));
        expected.at(i) += __builtin_popcountll((x ^ y) & width);
      }
    });
    MPSGraph* g = session.graph();
    for (const MPSDataType result : {MPSDataTypeUInt32, MPSDataTypeUInt16}) {
      MPSGraphTensor* y = [g HammingDistanceWithPrimaryTensor:session.feed(a)
                                              secondaryTensor:session.feed(b)
                                               resultDataType:result
                                                         name:nil];
      CHECK([y dataType] == result);
      Array found = session.run([g castTensor:y toType:MPSDataTypeInt32 name:nil]);
      found.type = MPSDataTypeUInt32;
      CHECK_ARRAY_WITHIN(0, found, expected);
    }
    CHECK_RAISES([g HammingDistanceWithPrimaryTensor:session.feed(a)
                                     secondaryTensor:session.feed(b)
                                      resultDataType:MPSDataTypeInt32
                                                name:nil]);
  }
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
// softmax(scale * Q K^T + M) V, where queries of several heads may share the keys of one.
TEST(attention) {
  if (![MPSGraph
          instancesRespondToSelector:@selector(
                                         scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:scale:name:)]) {
    return;
  }
  const long batch = 2, heads = 3, steps = 4, others = 5, width = 3;
  const Array q = random_array({batch, heads, steps, width}), k = random_array({batch, 1, others, width}),
              v = random_array({batch, 1, others, width + 1}), m = random_array({1, 1, steps, others});
  const float scale = 0.7F;
  for (const bool masked : {false, true}) {
    Array expected({batch, heads, steps, width + 1});
    for_each_index({batch, heads, steps}, [&](const Index& i) {
      std::vector<double> weights(others);
      double total = 0;
      for (long j = 0; j < others; ++j) {
        double score = 0;
        for (long f = 0; f < width; ++f) score += q.at({i.at(0), i.at(1), i.at(2), f}) * k.at({i.at(0), 0, j, f});
        total += weights.at(j) = std::exp(score * scale + (masked ? m.at({0, 0, i.at(2), j}) : 0));
      }
      for (long f = 0; f <= width; ++f) {
        for (long j = 0; j < others; ++j) {
          expected.at({i.at(0), i.at(1), i.at(2), f}) += weights.at(j) / total * v.at({i.at(0), 0, j, f});
        }
      }
    });
    Session session;
    MPSGraph* g = session.graph();
    MPSGraphTensor *query = session.feed(q), *key = session.feed(k), *value = session.feed(v);
    MPSGraphTensor* y = masked ? [g scaledDotProductAttentionWithQueryTensor:query
                                                                   keyTensor:key
                                                                 valueTensor:value
                                                                  maskTensor:session.feed(m)
                                                                       scale:scale
                                                                        name:@"attention"]
                               : [g scaledDotProductAttentionWithQueryTensor:query
                                                                   keyTensor:key
                                                                 valueTensor:value
                                                                       scale:scale
                                                                        name:@"attention"];
    CHECK_ARRAY_WITHIN(1e-5, session.run(y), expected);
  }
  Session session;
  CHECK_RAISES([session.graph() scaledDotProductAttentionWithQueryTensor:session.feed(random_array({2, 3}))
                                                               keyTensor:session.feed(random_array({2, 4}))
                                                             valueTensor:session.feed(random_array({2, 3}))
                                                                   scale:1
                                                                    name:nil]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
