// Quantization, and tables: every form, against the formulas.

#include "graph_testing.h"

static double rounded(double v) { return std::nearbyint(v); }  // halves to even

static Array quantized(const Array& x, MPSDataType type, const std::function<double(const Index&)>& steps) {
  const double least = type == MPSDataTypeUInt8 ? 0 : -128;
  Array y(x.shape, 0, type);
  for_each_index(x.shape,
                 [&](const Index& i) { y.at(i) = std::fmin(std::fmax(rounded(steps(i)), least), least + 255); });
  return y;
}

// Int8 is not among the types of read_array.
static Array run_int8(Session& session, MPSGraphTensor* tensor) {
  CHECK([tensor dataType] == MPSDataTypeInt8);
  Array y = session.run([session.graph() castTensor:tensor toType:MPSDataTypeInt32 name:nil]);
  y.type = MPSDataTypeInt8;
  return y;
}

TEST(quantize) {
  Session session;
  MPSGraph* g = session.graph();
  const Array x({2, 4}, {0.25, 0.75, -1.25, 1000, -1000, 3.2, -0.3, 63.5});
  MPSGraphTensor* tensor = session.feed(x);
  CHECK_ARRAY_WITHIN(
      0, run_int8(session, [g quantizeTensor:tensor scale:0.5 zeroPoint:3 dataType:MPSDataTypeInt8 name:nil]),
      quantized(x, MPSDataTypeInt8, [&](const Index& i) { return x.at(i) / 0.5 + 3; }));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g quantizeTensor:tensor scale:0.25 zeroPoint:9 dataType:MPSDataTypeUInt8 name:nil]),
                     quantized(x, MPSDataTypeUInt8, [&](const Index& i) { return x.at(i) / 0.25 + 9; }));
  const Array rows({2}, {0.5, 2}), columns({4}, {0.25, 0.5, 1, 2}), points({4}, {1, -2, 3, 60});
  CHECK_ARRAY_WITHIN(0,
                     run_int8(session, [g quantizeTensor:tensor
                                             scaleTensor:session.feed(rows)
                                               zeroPoint:-7
                                                dataType:MPSDataTypeInt8
                                                    axis:0
                                                    name:nil]),
                     quantized(x, MPSDataTypeInt8, [&](const Index& i) { return x.at(i) / rows.at({i.at(0)}) - 7; }));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g quantizeTensor:tensor
                                       scaleTensor:session.feed(columns)
                                   zeroPointTensor:session.feed(points)
                                          dataType:MPSDataTypeUInt8
                                              axis:-1
                                              name:nil]),
                     quantized(x, MPSDataTypeUInt8,
                               [&](const Index& i) { return x.at(i) / columns.at({i.at(1)}) + points.at({i.at(1)}); }));
  CHECK_RAISES([g quantizeTensor:tensor scale:1 zeroPoint:0 dataType:MPSDataTypeFloat32 name:nil]);
  CHECK_RAISES([g quantizeTensor:tensor
                     scaleTensor:session.feed(columns)
                       zeroPoint:0
                        dataType:MPSDataTypeInt8
                            axis:0
                            name:nil]);
}

static const Array kStored({2, 4}, {0, 1, 128, 255, 7, 200, 31, 64}, MPSDataTypeUInt8);

using Place = std::function<double(const Index&)>;

// scale (q - point), place by place.
static Array expected(const Place& scale, const Place& point) {
  Array y(kStored.shape);
  for_each_index(y.shape, [&](const Index& i) { y.at(i) = (kStored.at(i) - point(i)) * scale(i); });
  return y;
}

static Place always(double v) {
  return [v](const Index&) { return v; };
}

TEST(dequantize) {
  Session session;
  MPSGraph* g = session.graph();
  const MPSDataType type = MPSDataTypeFloat32;
  MPSGraphTensor* q = session.feed(kStored);
  CHECK_ARRAY(session.run([g dequantizeTensor:q scale:0.5 zeroPoint:3 dataType:type name:nil]),
              expected(always(0.5), always(3)));
  const Array rows({2}, {0.5, 2}), columns({4}, {0.25, 0.5, 1, 2}), points({4}, {1, 2, 3, 60}, MPSDataTypeUInt8);
  CHECK_ARRAY(session.run([g dequantizeTensor:q
                                  scaleTensor:session.feed(rows)
                                    zeroPoint:-7
                                     dataType:type
                                         axis:0
                                         name:nil]),
              expected([&](const Index& i) { return rows.at({i.at(0)}); }, always(-7)));
  CHECK_ARRAY(session.run([g dequantizeTensor:q
                                  scaleTensor:session.feed(columns)
                              zeroPointTensor:session.feed(points)
                                     dataType:type
                                         axis:1
                                         name:nil]),
              expected([&](const Index& i) { return columns.at({i.at(1)}); },
                       [&](const Index& i) { return points.at({i.at(1)}); }));
  CHECK_RAISES([g dequantizeTensor:q scale:1 zeroPoint:0 dataType:MPSDataTypeInt32 name:nil]);
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
static bool has_tables() { return [MPSGraph instancesRespondToSelector:@selector(dequantizeTensor:LUTTensor:name:)]; }

TEST(blocks) {
  SKIP_UNLESS(has_tables());
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* q = session.feed(kStored);
  const MPSDataType type = MPSDataTypeFloat32;
  // A scale for each block of a row and two columns.
  const Array scales({2, 2}, {0.25, 3, 0.5, 2}), zeros({1, 2}, {4, 9}, MPSDataTypeUInt8);
  CHECK_ARRAY(session.run([g dequantizeTensor:q
                                  scaleTensor:session.feed(scales)
                              zeroPointTensor:session.feed(zeros)
                                     dataType:type
                                         name:nil]),
              expected([&](const Index& i) { return scales.at({i.at(0), i.at(1) / 2}); },
                       [&](const Index& i) { return zeros.at({0, i.at(1) / 2}); }));
  CHECK_ARRAY(session.run([g dequantizeTensor:q scaleTensor:session.feed(scales) dataType:type name:nil]),
              expected([&](const Index& i) { return scales.at({i.at(0), i.at(1) / 2}); }, always(0)));
  CHECK_RAISES([g dequantizeTensor:q scaleTensor:session.feed(Array({4}, 2.0)) dataType:type name:nil]);
}

TEST(tables) {
  SKIP_UNLESS(has_tables());
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* q = session.feed(kStored);
  const Array table = random_array({1, 2, 256});  // one for each two columns
  Array expected(kStored.shape);
  for_each_index(expected.shape, [&](const Index& i) {
    expected.at(i) = table.at({0, i.at(1) / 2, static_cast<long>(kStored.at(i))});
  });
  CHECK_ARRAY_WITHIN(0, session.run([g dequantizeTensor:q LUTTensor:session.feed(table) name:nil]), expected);
  const Array vectors = random_array({2, 1, 256, 3});
  for (const size_t axis : {size_t{0}, size_t{1}}) {
    Shape shape = kStored.shape;
    shape.at(axis) *= 3;
    Array y(shape);
    for_each_index(shape, [&](Index i) {
      const Index to = i;
      const long part = i.at(axis) % 3;
      i.at(axis) /= 3;
      y.at(to) = vectors.at({i.at(0), 0, static_cast<long>(kStored.at(i)), part});
    });
    CHECK_ARRAY_WITHIN(0,
                       session.run([g dequantizeTensor:q
                                             LUTTensor:session.feed(vectors)
                                                  axis:static_cast<NSInteger>(axis)
                                                  name:nil]),
                       y);
  }
  CHECK_RAISES([g dequantizeTensor:q LUTTensor:session.feed(vectors) name:nil]);
  CHECK_RAISES([g dequantizeTensor:q LUTTensor:session.feed(table) axis:0 name:nil]);
}

#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
