// Matrix products: values with batches and broadcasting, derivatives.

#include "graph_testing.h"

static MPSGraphTensor* product(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [graph matrixMultiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}

static Shape leading(const Shape& shape) { return Shape(shape.begin(), shape.end() - 2); }

static Array reference(const Array& a, const Array& b) {
  Shape shape = broadcast_shape(leading(a.shape), leading(b.shape));
  const size_t batch_rank = shape.size();
  const long inner = a.shape.back();
  shape.push_back(a.shape.at(a.shape.size() - 2));
  shape.push_back(b.shape.back());
  Array y(shape);
  for_each_index(shape, [&](const Index& i) {
    const long row = i.at(batch_rank), column = i.at(batch_rank + 1);
    double total = 0;
    for (long k = 0; k < inner; ++k) {
      Index ia = i, ib = i;
      ia.at(batch_rank) = row;
      ia.at(batch_rank + 1) = k;
      ib.at(batch_rank) = k;
      ib.at(batch_rank + 1) = column;
      total += broadcast_at(a, ia) * broadcast_at(b, ib);
    }
    y.at(i) = total;
  });
  return y;
}

static const std::pair<Shape, Shape> kShapes[] = {
    {{3, 4}, {4, 5}},
    {{1, 7}, {7, 2}},
    {{6, 1}, {1, 3}},
    {{2, 3, 4}, {2, 4, 5}},
    {{2, 3, 4}, {4, 5}},
    {{3, 4}, {2, 4, 5}},
    {{2, 1, 3, 4}, {5, 4, 2}},
    {{2, 1, 3, 4}, {1, 3, 4, 2}},
    {{1, 3, 4}, {6, 4, 2}},
    {{2, 3, 2, 3, 4}, {4, 2}},
    {{2, 3, 2, 3, 4}, {3, 1, 4, 2}},
    {{33, 65}, {65, 17}},
};

static void values() {
  for (const auto& [shape_a, shape_b] : kShapes) {
    Session session;
    const Array a = random_array(shape_a), b = random_array(shape_b);
    CHECK_ARRAY_WITHIN(3e-5, session.run(product(session.graph(), session.feed(a), session.feed(b))), reference(a, b));
  }
}

static void a_constant_as_an_operand() {
  Session session;
  const Array a = random_array({4, 6}), b = random_array({6, 3});
  CHECK_ARRAY(session.run(product(session.graph(), session.feed(a), constant(session.graph(), b))), reference(a, b));
  CHECK_ARRAY(session.run(product(session.graph(), constant(session.graph(), a), session.feed(b))), reference(a, b));
}

static void products_of_transposes() {
  Session session;
  MPSGraph* graph = session.graph();
  const Array a = random_array({4, 3}), b = random_array({5, 4});
  auto transposed = [&](const Array& x) {
    return [graph transposeTensor:session.feed(x) dimension:0 withDimension:1 name:nil];
  };
  CHECK_ARRAY(session.run(product(graph, transposed(a), transposed(b))),
              reference(permuted(a, {1, 0}), permuted(b, {1, 0})));
}

static void derivatives() {
  const Build build = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) { return product(g, t.at(0), t.at(1)); };
  for (const auto& [shape_a, shape_b] : kShapes) {
    if (element_count(shape_a) + element_count(shape_b) > 300) continue;
    CHECK_GRADIENTS(build, {random_array(shape_a), random_array(shape_b)});
  }
  const Array a = random_array({3, 4}), b = random_array({4, 5}), weights = random_array({3, 5});
  const Differentiated graph(build, {a, b}, weights);
  CHECK_ARRAY(graph.gradients.at(0), reference(weights, permuted(b, {1, 0})));
  CHECK_ARRAY(graph.gradients.at(1), reference(permuted(a, {1, 0}), weights));
  // The square of a matrix: both operands are one tensor.
  const Array square = random_array({4, 4}), w = random_array({4, 4});
  const Build squared = [](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) { return product(g, t.at(0), t.at(0)); };
  const Array left = reference(w, permuted(square, {1, 0})), right = reference(permuted(square, {1, 0}), w);
  CHECK_ARRAY(Differentiated(squared, {square}, w).gradients.at(0),
              map(left, right, [](double l, double r) { return l + r; }));
}

// Rows of bits against rows of bits.
static void hamming_distances() {
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

// A matrix times its inverse is the identity; the order of the rows needs pivots.
static void inverses() {
  Array x = random_array({3, 5, 5});
  for (long i = 0; i < 5; ++i) x.at({1, i, (i + 2) % 5}) += 9, x.at({1, i, i}) = 0;
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tensor = session.feed(x), *y = [g inverseOfTensor:tensor name:nil];
  Array identity(x.shape);
  for_each_index(x.shape, [&](const Index& i) { identity.at(i) = i.at(1) == i.at(2); });
  CHECK_ARRAY_WITHIN(2e-5, session.run([g matrixMultiplicationWithPrimaryTensor:tensor secondaryTensor:y name:nil]),
                     identity);
  const Array small({2, 2}, {1, 2, 3, 4});
  CHECK_ARRAY(session.run([g inverseOfTensor:session.feed(small) name:nil]), Array({2, 2}, {-2, 1, 1.5, -0.5}));
  CHECK_RAISES([g inverseOfTensor:session.feed(random_array({2, 3})) name:nil]);
  Array well = random_array({2, 3, 3}, -0.25, 0.25);
  for (long i = 0; i < 2; ++i) {
    for (long k = 0; k < 3; ++k) well.at({i, k, (k + 1) % 3}) += 2;
  }
  CHECK_GRADIENTS(
      [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) { return [graph inverseOfTensor:t.at(0) name:nil]; },
      {well});
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
// softmax(scale * Q K^T + M) V, where queries of several heads may share the keys of one.
static void attention() {
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
  CHECK_GRADIENTS(
      [](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
        return [graph scaledDotProductAttentionWithQueryTensor:t.at(0)
                                                     keyTensor:t.at(1)
                                                   valueTensor:t.at(2)
                                                    maskTensor:t.at(3)
                                                         scale:0.5F
                                                          name:nil];
      },
      {random_array({2, 3, 2}), random_array({2, 4, 2}), random_array({2, 4, 3}), random_array({2, 3, 4})});
  Session session;
  CHECK_RAISES([session.graph() scaledDotProductAttentionWithQueryTensor:session.feed(random_array({2, 3}))
                                                               keyTensor:session.feed(random_array({2, 4}))
                                                             valueTensor:session.feed(random_array({2, 3}))
                                                                   scale:1
                                                                    name:nil]);
}
#endif

int main() {
  @autoreleasepool {
    values();
    a_constant_as_an_operand();
    products_of_transposes();
    derivatives();
    hamming_distances();
    inverses();
#ifndef __APPLE__
    attention();
#endif
  }
  return check::summary();
}
