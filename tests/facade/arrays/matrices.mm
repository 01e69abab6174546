// Matrices and vectors in buffers, their kernels, and the tensor data that graphs see of them. Expected values are
// sums of doubles, or written down.

#include <cmath>
#include <functional>
#include <string>

#include "buffer_bytes.h"

static MPSMatrixDescriptor* rows_of(NSUInteger rows, NSUInteger columns, NSUInteger row_bytes, MPSDataType type) {
  return [MPSMatrixDescriptor matrixDescriptorWithRows:rows columns:columns rowBytes:row_bytes dataType:type];
}

static MPSMatrix* matrix_in(id<MTLBuffer> buffer, NSUInteger rows, NSUInteger columns,
                            MPSDataType type = MPSDataTypeFloat32) {
  MPSMatrixDescriptor* packed = rows_of(rows, columns, columns * (type & 0xff) / 8, type);
  return [[[MPSMatrix alloc] initWithBuffer:buffer descriptor:packed] autorelease];
}

static MPSVector* vector_in(id<MTLBuffer> buffer, NSUInteger length) {
  MPSVectorDescriptor* d = [MPSVectorDescriptor vectorDescriptorWithLength:length dataType:MPSDataTypeFloat32];
  return [[[MPSVector alloc] initWithBuffer:buffer descriptor:d] autorelease];
}

static MPSMatrixMultiplication* multiplication(NSUInteger rows, NSUInteger columns, NSUInteger inner) {
  return [[[MPSMatrixMultiplication alloc] initWithDevice:the_device()
                                               resultRows:rows
                                            resultColumns:columns
                                          interiorColumns:inner] autorelease];
}

// Matrices with a gap of one element behind each row and of one row behind each matrix.
struct Matrices {
  NSUInteger count, rows, columns;
  std::vector<float> values;  // with the gaps
  id<MTLBuffer> buffer;
  MPSMatrix* matrix;

  Matrices(NSUInteger count, NSUInteger rows, NSUInteger columns, float seed)
      : count(count), rows(rows), columns(columns), values(count * (rows + 1) * (columns + 1)) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(seed + 1.7f * static_cast<float>(i));
    buffer = buffer_of(the_device(), values);
    MPSMatrixDescriptor* descriptor =
        [MPSMatrixDescriptor matrixDescriptorWithRows:rows
                                              columns:columns
                                             matrices:count
                                             rowBytes:(columns + 1) * sizeof(float)
                                          matrixBytes:(rows + 1) * (columns + 1) * sizeof(float)
                                             dataType:MPSDataTypeFloat32];
    matrix = [[[MPSMatrix alloc] initWithBuffer:buffer descriptor:descriptor] autorelease];
  }

  size_t place(NSUInteger n, NSUInteger row, NSUInteger column) const {
    return (n * (rows + 1) + row) * (columns + 1) + column;
  }
  double at(NSUInteger n, NSUInteger row, NSUInteger column) const { return values[place(n, row, column)]; }

  // True if the buffer has these values now, where `changed` is true of a place, and elsewhere still the old ones.
  void check(const std::function<bool(NSUInteger, NSUInteger, NSUInteger, double&)>& expected, double tolerance) const {
    const std::vector<float> now = values_in<float>(buffer);
    std::vector<double> wanted(values.begin(), values.end());
    std::vector<double> tolerances(values.size(), 0);
    for (NSUInteger n = 0; n < count; ++n) {
      for (NSUInteger r = 0; r < rows; ++r) {
        for (NSUInteger c = 0; c < columns; ++c) {
          if (expected(n, r, c, wanted[place(n, r, c)])) tolerances[place(n, r, c)] = tolerance;
        }
      }
    }
    for (size_t i = 0; i < now.size(); ++i) CHECK_NEAR(now[i], wanted[i], tolerances[i]);
  }
};

TEST(descriptors_say_where_elements_are) {
  MPSMatrixDescriptor* d = rows_of(3, 5, 24, MPSDataTypeFloat32);
  CHECK([d rows] == 3 && [d columns] == 5 && [d rowBytes] == 24 && [d matrices] == 1 && [d matrixBytes] == 72);
  [d setRows:2];
  [d setColumns:4];
  [d setRowBytes:16];
  [d setDataType:MPSDataTypeFloat16];
  CHECK([d rows] == 2 && [d columns] == 4 && [d rowBytes] == 16 && [d dataType] == MPSDataTypeFloat16);
  CHECK([MPSMatrixDescriptor rowBytesForColumns:5 dataType:MPSDataTypeFloat32] >= 20);
  CHECK([MPSMatrixDescriptor rowBytesForColumns:5 dataType:MPSDataTypeFloat16] % 2 == 0);
  MPSVectorDescriptor* v = [MPSVectorDescriptor vectorDescriptorWithLength:5 dataType:MPSDataTypeFloat32];
  CHECK([v length] == 5 && [v vectors] == 1 && [v vectorBytes] >= 20 && [v dataType] == MPSDataTypeFloat32);
  [v setLength:3];
  [v setDataType:MPSDataTypeInt32];
  CHECK([v length] == 3 && [v dataType] == MPSDataTypeInt32);
  v = [MPSVectorDescriptor vectorDescriptorWithLength:3 vectors:2 vectorBytes:16 dataType:MPSDataTypeFloat32];
  CHECK([v vectors] == 2 && [v vectorBytes] == 16);
  CHECK([MPSVectorDescriptor vectorBytesForLength:3 dataType:MPSDataTypeFloat32] >= 12);
#ifndef __APPLE__
  CHECK([MPSMatrixDescriptor rowBytesForColumns:5 dataType:MPSDataTypeFloat32] == 32);
  CHECK([MPSMatrixDescriptor rowBytesFromColumns:4 dataType:MPSDataTypeFloat32] == 16);
  CHECK([[MPSMatrixDescriptor matrixDescriptorWithDimensions:2 columns:3 rowBytes:12
                                                    dataType:MPSDataTypeFloat32] matrixBytes] == 24);
#endif
}

TEST(matrices_and_vectors_lie_in_buffers) {
  id<MTLBuffer> buffer = buffer_of(the_device(), counted(20));
  MPSMatrix* matrix = [[[MPSMatrix alloc] initWithBuffer:buffer
                                                  offset:8
                                              descriptor:rows_of(2, 3, 16, MPSDataTypeFloat32)] autorelease];
  CHECK([matrix rows] == 2 && [matrix columns] == 3 && [matrix matrices] == 1 && [matrix rowBytes] == 16);
  CHECK([matrix data] == buffer && [matrix offset] == 8 && [matrix device] == the_device());
  CHECK([matrix dataType] == MPSDataTypeFloat32 && [matrix matrixBytes] == 32 && [matrix resourceSize] >= 80);
  MPSVectorDescriptor* pair = [MPSVectorDescriptor vectorDescriptorWithLength:3
                                                                      vectors:2
                                                                  vectorBytes:20
                                                                     dataType:MPSDataTypeFloat32];
  MPSVector* vector = [[[MPSVector alloc] initWithBuffer:buffer offset:4 descriptor:pair] autorelease];
  CHECK([vector length] == 3 && [vector vectors] == 2 && [vector vectorBytes] == 20 && [vector offset] == 4);
  CHECK([vector data] == buffer && [vector device] == the_device() && [vector dataType] == MPSDataTypeFloat32);
  CHECK([vector resourceSize] >= 80);
  CHECK([[[[MPSVector alloc] initWithBuffer:buffer descriptor:pair] autorelease] offset] == 0);
  MPSMatrix* own = [[[MPSMatrix alloc] initWithDevice:the_device()
                                           descriptor:rows_of(2, 2, 8, MPSDataTypeFloat32)] autorelease];
  MPSVector* row = [[[MPSVector alloc] initWithDevice:the_device() descriptor:pair] autorelease];
  CHECK([[own data] length] >= 16 && [[row data] length] >= 32);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [own synchronizeOnCommandBuffer:commands];
  [row synchronizeOnCommandBuffer:commands];
  finish(commands);
}

TEST(tensor_data_sees_matrices_and_vectors) {
  Matrices two(2, 2, 3, 0.5f);
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithMPSMatrix:two.matrix] autorelease];
  CHECK([[data shape] isEqual:numbers({2, 2, 3})] && [data dataType] == MPSDataTypeFloat32);
  const std::vector<float> read = values_of<float>([data mpsndarray]);
  for (NSUInteger n = 0; n < 2; ++n) {
    for (NSUInteger r = 0; r < 2; ++r) {
      for (NSUInteger c = 0; c < 3; ++c) CHECK(read[(n * 2 + r) * 3 + c] == static_cast<float>(two.at(n, r, c)));
    }
  }
  CHECK([[[[[MPSGraphTensorData alloc] initWithMPSMatrix:two.matrix
                                                    rank:5] autorelease] shape] isEqual:numbers({1, 1, 2, 2, 3})]);
  id<MTLBuffer> buffer = buffer_of(the_device(), counted(12));
  MPSMatrix* packed = matrix_in(buffer, 3, 4);
  MPSGraphTensorData* plain = [[[MPSGraphTensorData alloc] initWithMPSMatrix:packed] autorelease];
  CHECK([[plain shape] isEqual:numbers({3, 4})]);
  MPSGraphTensorData* flat = [[[MPSGraphTensorData alloc] initWithMPSMatrix:packed rank:1] autorelease];
  CHECK([[flat shape] isEqual:numbers({12})] && values_of<float>([flat mpsndarray]) == counted(12));
  // Of one row each, so that a matrix is a row of the result, whatever lies between them.
  MPSMatrix* apart = [[[MPSMatrix alloc]
      initWithBuffer:buffer
          descriptor:[MPSMatrixDescriptor matrixDescriptorWithRows:1
                                                           columns:2
                                                          matrices:2
                                                          rowBytes:12
                                                       matrixBytes:24
                                                          dataType:MPSDataTypeFloat32]] autorelease];
  MPSGraphTensorData* pairs = [[[MPSGraphTensorData alloc] initWithMPSMatrix:apart rank:2] autorelease];
  CHECK([[pairs shape] isEqual:numbers({2, 2})]);
  CHECK(values_of<float>([pairs mpsndarray]) == std::vector<float>({0, 1, 6, 7}));
  MPSVectorDescriptor* pair = [MPSVectorDescriptor vectorDescriptorWithLength:4
                                                                      vectors:2
                                                                  vectorBytes:20
                                                                     dataType:MPSDataTypeFloat32];
  MPSVector* vectors = [[[MPSVector alloc] initWithBuffer:buffer descriptor:pair] autorelease];
  MPSGraphTensorData* lines = [[[MPSGraphTensorData alloc] initWithMPSVector:vectors] autorelease];
  CHECK([[lines shape] isEqual:numbers({2, 4})]);
  CHECK(values_of<float>([lines mpsndarray]) == std::vector<float>({0, 1, 2, 3, 5, 6, 7, 8}));
  MPSVector* one = vector_in(buffer, 4);
  CHECK([[[[[MPSGraphTensorData alloc] initWithMPSVector:one] autorelease] shape] isEqual:numbers({4})]);
  CHECK([[[[[MPSGraphTensorData alloc] initWithMPSVector:one rank:2] autorelease] shape] isEqual:numbers({1, 4})]);

  // A graph writes to a matrix with gaps.
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:numbers({2, 2, 3}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = [graph squareWithTensor:x name:nil];
  [graph runWithMTLCommandQueue:the_queue()
                          feeds:[NSDictionary dictionaryWithObject:data forKey:x]
               targetOperations:nil
              resultsDictionary:[NSDictionary dictionaryWithObject:data forKey:y]];
  two.check([&](NSUInteger, NSUInteger, NSUInteger, double& v) { return v *= v, true; }, 1e-6);
#ifndef __APPLE__
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSMatrix:two.matrix rank:1]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSMatrix:two.matrix rank:0]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSVector:one rank:17]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSVector:vectors rank:1]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSImageBatch:[NSArray array]]);
  id nothing = nil;
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSMatrix:nothing]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMPSVector:nothing]);
#endif
}

// C = alpha op(A) op(B) + beta C of batches, from origins on.
static void products(bool left, bool right, double alpha, double beta) {
  constexpr NSUInteger kRows = 3, kColumns = 4, kInner = 5;
  Matrices a(3, left ? kInner + 1 : kRows + 1, left ? kRows + 2 : kInner + 2, 1),
      b(3, right ? kColumns : kInner, right ? kInner : kColumns, 2), c(3, kRows + 2, kColumns + 1, 3);
  MPSMatrixMultiplication* kernel = [[[MPSMatrixMultiplication alloc] initWithDevice:the_device()
                                                                       transposeLeft:left
                                                                      transposeRight:right
                                                                          resultRows:kRows
                                                                       resultColumns:kColumns
                                                                     interiorColumns:kInner
                                                                               alpha:alpha
                                                                                beta:beta] autorelease];
  [kernel setLeftMatrixOrigin:MTLOriginMake(1, 2, 0)];
  [kernel setResultMatrixOrigin:MTLOriginMake(2, 1, 0)];
  [kernel setBatchStart:1];
  [kernel setBatchSize:2];
  CHECK([kernel leftMatrixOrigin].x == 1 && [kernel leftMatrixOrigin].y == 2);
  CHECK([kernel rightMatrixOrigin].x == 0 && [kernel resultMatrixOrigin].x == 2 && [kernel resultMatrixOrigin].y == 1);
  CHECK([kernel batchStart] == 1 && [kernel batchSize] == 2);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [kernel encodeToCommandBuffer:commands leftMatrix:a.matrix rightMatrix:b.matrix resultMatrix:c.matrix];
  finish(commands);
  c.check(
      [&](NSUInteger n, NSUInteger row, NSUInteger column, double& value) {
        if (n < 1 || row < 2 || column < 1) return false;
        double sum = 0;
        for (NSUInteger k = 0; k < kInner; ++k) {
          const NSUInteger i = row - 2, j = column - 1;
          sum += (left ? a.at(n, 1 + k, 2 + i) : a.at(n, 1 + i, 2 + k)) * (right ? b.at(n, j, k) : b.at(n, k, j));
        }
        value = alpha * sum + beta * value;
        return true;
      },
      1e-5);
}

TEST(products_of_matrices) {
  for (bool left : {false, true}) {
    for (bool right : {false, true}) {
      products(left, right, 1, 0);
      products(left, right, -0.5, 2);
    }
  }
}

// C = A C of one kernel object twice, with the result in place of a factor; and a result that was not a number.
TEST(products_in_place) {
  id<MTLBuffer> buffer = buffer_of<float>(the_device(), {1, 2, 3, 4});
  MPSMatrix* square = matrix_in(buffer, 2, 2);
  MPSMatrixMultiplication* kernel = multiplication(2, 2, 2);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [kernel encodeToCommandBuffer:commands leftMatrix:square rightMatrix:square resultMatrix:square];
  [kernel encodeToCommandBuffer:commands leftMatrix:square rightMatrix:square resultMatrix:square];
  finish(commands);
  CHECK(values_in<float>(buffer) == std::vector<float>({199, 290, 435, 634}));  // to the fourth power
  const float nan = std::nanf("");
  id<MTLBuffer> none = buffer_of<float>(the_device(), {nan, nan, nan, nan});
  MPSMatrix* result = matrix_in(none, 2, 2);
  commands = [the_queue() commandBuffer];
  [kernel encodeToCommandBuffer:commands leftMatrix:square rightMatrix:square resultMatrix:result];
  finish(commands);
  CHECK(values_in<float>(none)[0] == 199 * 199 + 290 * 435);
}

TEST(products_of_other_types) {
  id<MTLBuffer> bytes = buffer_of<int8_t>(the_device(), {1, -2, 3, 4}),
                halves = buffer_of<uint16_t>(the_device(), {0x3c00, 0x4000, 0xc000, 0x3800});  // 1, 2, -2, 0.5
  MPSMatrix *left = matrix_in(bytes, 2, 2, MPSDataTypeInt8), *right = matrix_in(halves, 2, 2, MPSDataTypeFloat16);
  id<MTLBuffer> singles = buffer_of(the_device(), std::vector<float>(4)),
                result = buffer_of(the_device(), std::vector<uint16_t>(4));
  MPSMatrix *single = matrix_in(singles, 2, 2), *half = matrix_in(result, 2, 2, MPSDataTypeFloat16);
  MPSMatrixMultiplication* kernel = multiplication(2, 2, 2);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
#ifndef __APPLE__
  [kernel encodeToCommandBuffer:commands leftMatrix:left rightMatrix:right resultMatrix:single];
#endif
  [kernel encodeToCommandBuffer:commands leftMatrix:right rightMatrix:right resultMatrix:half];
  finish(commands);
#ifndef __APPLE__
  CHECK(values_in<float>(singles) == std::vector<float>({5, 1, -5, 8}));
#endif
  CHECK(values_in<uint16_t>(result) == std::vector<uint16_t>({0xc200, 0x4200, 0xc200, 0xc380}));  // -3, 3, -3, -3.75
  CHECK([left rows] == 2 && [single columns] == 2);
}

TEST(products_with_vectors) {
  constexpr NSUInteger kRows = 3, kColumns = 4;
  for (bool transposed : {false, true}) {
    for (double beta : {0.0, -2.0}) {
      Matrices a(4, transposed ? kColumns : kRows, transposed ? kRows : kColumns, 4), x(4, 1, kColumns + 1, 5),
          y(4, 1, kRows + 2, 6);
      const auto vector = [](const Matrices& of) {
        MPSVectorDescriptor* d = [MPSVectorDescriptor vectorDescriptorWithLength:of.columns
                                                                         vectors:4
                                                                     vectorBytes:2 * (of.columns + 1) * sizeof(float)
                                                                        dataType:MPSDataTypeFloat32];
        return [[[MPSVector alloc] initWithBuffer:of.buffer descriptor:d] autorelease];
      };
      MPSMatrixVectorMultiplication* kernel = [[[MPSMatrixVectorMultiplication alloc] initWithDevice:the_device()
                                                                                           transpose:transposed
                                                                                                rows:kRows
                                                                                             columns:kColumns
                                                                                               alpha:3
                                                                                                beta:beta] autorelease];
      [kernel setSecondarySourceMatrixOrigin:MTLOriginMake(1, 0, 0)];
      [kernel setResultMatrixOrigin:MTLOriginMake(2, 0, 0)];
      CHECK([kernel batchStart] == 0 && [kernel batchSize] == NSUIntegerMax);
      [kernel setBatchStart:1];
      [kernel setBatchSize:2];
      CHECK([kernel batchStart] == 1 && [kernel batchSize] == 2);
      CHECK([kernel primarySourceMatrixOrigin].x == 0 && [kernel primarySourceMatrixOrigin].y == 0);
      CHECK([kernel secondarySourceMatrixOrigin].x == 1 && [kernel secondarySourceMatrixOrigin].y == 0);
      CHECK([kernel resultMatrixOrigin].x == 2 && [kernel resultMatrixOrigin].y == 0);
      id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
      [kernel encodeToCommandBuffer:commands inputMatrix:a.matrix inputVector:vector(x) resultVector:vector(y)];
      finish(commands);
      y.check(
          [&](NSUInteger n, NSUInteger, NSUInteger i, double& value) {
            if (n < 1 || n > 2 || i < 2) return false;
            double sum = 0;
            for (NSUInteger k = 0; k < kColumns; ++k) {
              sum += (transposed ? a.at(n, k, i - 2) : a.at(n, i - 2, k)) * x.at(n, 0, k + 1);
            }
            value = 3 * sum + beta * value;
            return true;
          },
          1e-5);
    }
  }
  Matrices a(1, 2, 2, 7);
  id<MTLBuffer> in = buffer_of<float>(the_device(), {1, 10}), out = buffer_of<float>(the_device(), {0, 0});
  MPSVector *x = vector_in(in, 2), *y = vector_in(out, 2);
  MPSMatrixVectorMultiplication* plain = [[[MPSMatrixVectorMultiplication alloc] initWithDevice:the_device()
                                                                                           rows:2
                                                                                        columns:2] autorelease];
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [plain encodeToCommandBuffer:commands inputMatrix:a.matrix inputVector:x resultVector:y];
  finish(commands);
  CHECK_NEAR(values_in<float>(out)[1], a.at(0, 1, 0) + 10 * a.at(0, 1, 1), 1e-5);
}

// The origins of the factors: the second row of one, from its second column on, and the last column of the other.
TEST(factors_begin_anywhere) {
  Matrices a(1, 3, 4, 15), b(1, 4, 3, 16), c(1, 1, 1, 17);
  MPSMatrixMultiplication* product = multiplication(1, 1, 3);
  [product setLeftMatrixOrigin:MTLOriginMake(1, 1, 0)];
  [product setRightMatrixOrigin:MTLOriginMake(1, 2, 0)];
  CHECK([product rightMatrixOrigin].x == 1 && [product rightMatrixOrigin].y == 2);
  MPSMatrixVectorMultiplication* line = [[[MPSMatrixVectorMultiplication alloc] initWithDevice:the_device()
                                                                                          rows:2
                                                                                       columns:2] autorelease];
  [line setPrimarySourceMatrixOrigin:MTLOriginMake(1, 2, 0)];
  id<MTLBuffer> in = buffer_of<float>(the_device(), {1, -10}), out = buffer_of<float>(the_device(), {0, 0});
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [product encodeToCommandBuffer:commands leftMatrix:a.matrix rightMatrix:b.matrix resultMatrix:c.matrix];
  [line encodeToCommandBuffer:commands
                  inputMatrix:a.matrix
                  inputVector:vector_in(in, 2)
                 resultVector:vector_in(out, 2)];
  finish(commands);
  c.check(
      [&](NSUInteger, NSUInteger, NSUInteger, double& value) {
        value = 0;
        for (NSUInteger k = 0; k < 3; ++k) value += a.at(0, 1, 1 + k) * b.at(0, 1 + k, 2);
        return true;
      },
      1e-5);
  for (NSUInteger i = 0; i < 2; ++i) {
    CHECK_NEAR(values_in<float>(out)[i], a.at(0, 1 + i, 2) - 10 * a.at(0, 1 + i, 3), 1e-5);
  }
}

TEST(softmax_of_rows) {
  for (bool logarithm : {false, true}) {
    Matrices x(4, 4, 6, 8), y(4, 5, 5, 9);
    Class made = logarithm ? [MPSMatrixLogSoftMax class] : [MPSMatrixSoftMax class];
    MPSMatrixSoftMax* kernel = [[[made alloc] initWithDevice:the_device()] autorelease];
    [kernel setSourceMatrixOrigin:MTLOriginMake(1, 2, 0)];
    [kernel setResultMatrixOrigin:MTLOriginMake(2, 1, 0)];
    CHECK([kernel sourceRows] == NSUIntegerMax && [kernel sourceColumns] == NSUIntegerMax);
    [kernel setSourceRows:2];
    CHECK([kernel batchStart] == 0 && [kernel batchSize] == NSUIntegerMax);
    [kernel setBatchStart:1];
    [kernel setBatchSize:2];
    CHECK([kernel batchStart] == 1 && [kernel batchSize] == 2);
    CHECK([kernel sourceMatrixOrigin].x == 1 && [kernel sourceMatrixOrigin].y == 2);
    CHECK([kernel resultMatrixOrigin].x == 2 && [kernel resultMatrixOrigin].y == 1);
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands inputMatrix:x.matrix resultMatrix:y.matrix];
    finish(commands);
    y.check(
        [&](NSUInteger n, NSUInteger row, NSUInteger column, double& value) {
          if (n < 1 || n > 2 || row < 2 || row > 3 || column < 1) return false;
          double sum = 0;
          for (NSUInteger c = 2; c < 6; ++c) sum += std::exp(x.at(n, row - 1, c));
          value = x.at(n, row - 1, column + 1) - std::log(sum);
          if (!logarithm) value = std::exp(value);
          return true;
        },
        1e-6);
  }
}

// Large numbers do not overflow, and what is small keeps its logarithm; in place.
TEST(softmax_of_large_numbers) {
  id<MTLBuffer> buffer = buffer_of<float>(the_device(), {1000, 1000, -1000});
  MPSMatrix* row = matrix_in(buffer, 1, 3);
  MPSMatrixSoftMax* kernel = [[[MPSMatrixLogSoftMax alloc] initWithDevice:the_device()] autorelease];
  [kernel setSourceColumns:3];
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [kernel encodeToCommandBuffer:commands inputMatrix:row resultMatrix:row];
  finish(commands);
  const std::vector<float> y = values_in<float>(buffer);
  CHECK_NEAR(y[0], -std::log(2.0), 1e-6);
  CHECK_NEAR(y[2], -2000 - std::log(2.0), 1e-3);
}

static double neuron(MPSCNNNeuronType type, double x, double a, double b, double c) {
  switch (type) {
    case MPSCNNNeuronTypeReLU: return x >= 0 ? x : a * x;
    case MPSCNNNeuronTypeLinear: return a * x + b;
    case MPSCNNNeuronTypeSigmoid: return 1 / (1 + std::exp(-x));
    case MPSCNNNeuronTypeHardSigmoid: return std::fmin(std::fmax(a * x + b, 0), 1);
    case MPSCNNNeuronTypeTanH: return a * std::tanh(b * x);
    case MPSCNNNeuronTypeAbsolute: return std::fabs(x);
    case MPSCNNNeuronTypeSoftPlus: return a * std::log(1 + std::exp(b * x));
    case MPSCNNNeuronTypeSoftSign: return x / (1 + std::fabs(x));
    case MPSCNNNeuronTypeELU: return x >= 0 ? x : a * (std::exp(x) - 1);
    case MPSCNNNeuronTypeReLUN: return std::fmin(x >= 0 ? x : a * x, b);
    case MPSCNNNeuronTypePower: return std::pow(a * x + b, c);
    case MPSCNNNeuronTypeExponential: return c == -1 ? std::exp(a * x + b) : std::pow(c, a * x + b);
    case MPSCNNNeuronTypeLogarithm: return std::log(a * x + b) / (c == -1 ? 1 : std::log(c));
    case MPSCNNNeuronTypeGeLU: return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    default: return x;
  }
}

static MPSVector* bias_of(const std::vector<float>& values) {
  return vector_in(buffer_of(the_device(), values), values.size());
}

TEST(neurons_of_every_type) {
  struct Case {
    MPSCNNNeuronType type;
    float a, b, c;
  };
  const Case cases[] = {{MPSCNNNeuronTypeNone, 0, 0, 0},
                        {MPSCNNNeuronTypeReLU, 0.25f, 0, 0},
                        {MPSCNNNeuronTypeLinear, 2, -0.5f, 0},
                        {MPSCNNNeuronTypeSigmoid, 0, 0, 0},
                        {MPSCNNNeuronTypeHardSigmoid, 0.8f, 0.4f, 0},
                        {MPSCNNNeuronTypeTanH, 1.5f, 0.7f, 0},
                        {MPSCNNNeuronTypeAbsolute, 0, 0, 0},
                        {MPSCNNNeuronTypeSoftPlus, 1.25f, 2, 0},
                        {MPSCNNNeuronTypeSoftSign, 0, 0, 0},
                        {MPSCNNNeuronTypeELU, 0.6f, 0, 0},
                        {MPSCNNNeuronTypeReLUN, 0.1f, 0.5f, 0},
                        {MPSCNNNeuronTypePower, 0.5f, 2, 3},
                        {MPSCNNNeuronTypeExponential, 0.5f, 1, 2},
                        {MPSCNNNeuronTypeExponential, 0.5f, 1, -1},
                        {MPSCNNNeuronTypeLogarithm, 0.5f, 3, 10},
                        {MPSCNNNeuronTypeLogarithm, 0.5f, 3, -1},
                        {MPSCNNNeuronTypeGeLU, 0, 0, 0}};
  const std::vector<float> bias = {0.3f, -0.2f, 0.1f};
  for (const auto& [type, a, b, c] : cases) {
    for (bool biased : {false, true}) {
      Matrices x(2, 4, 4, 10), y(2, 3, 4, 11);
      MPSMatrixNeuron* kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
      CHECK([kernel neuronType] == MPSCNNNeuronTypeNone && [kernel alpha] == 1);
      [kernel setNeuronType:type parameterA:a parameterB:b parameterC:c];
      CHECK([kernel neuronType] == type && [kernel neuronParameterA] == a && [kernel neuronParameterB] == b &&
            [kernel neuronParameterC] == c);
      [kernel setAlpha:1.5];
      [kernel setSourceMatrixOrigin:MTLOriginMake(1, 0, 0)];
      [kernel setResultMatrixOrigin:MTLOriginMake(0, 1, 0)];
      [kernel setSourceInputFeatureChannels:3];
      CHECK([kernel sourceInputFeatureChannels] == 3 && [kernel sourceNumberOfFeatureVectors] == NSUIntegerMax);
      [kernel setSourceNumberOfFeatureVectors:2];
      CHECK([kernel sourceNumberOfFeatureVectors] == 2);
      id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
      [kernel encodeToCommandBuffer:commands
                        inputMatrix:x.matrix
                         biasVector:biased ? bias_of(bias) : nil
                       resultMatrix:y.matrix];
      finish(commands);
      y.check(
          [&, type = type, a = a, b = b, c = c](NSUInteger n, NSUInteger row, NSUInteger column, double& value) {
            if (row > 1 || column < 1) return false;
            value = neuron(type, 1.5 * x.at(n, row + 1, column - 1) + (biased ? bias[column - 1] : 0), a, b, c);
            return true;
          },
          1e-5);
    }
  }
}

// One kernel with a setting after another, of which the next must not compute what the one before did.
TEST(neurons_of_odd_settings) {
  id<MTLBuffer> in = buffer_of<float>(the_device(), {-1, 0, 2}), out = buffer_of(the_device(), std::vector<float>(3));
  MPSMatrix *x = matrix_in(in, 1, 3), *y = matrix_in(out, 1, 3);
  MPSMatrixNeuron* kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
  for (const float a : {2.0f, NAN, 3.0f, 0.0f, -0.0f}) {
    [kernel setNeuronType:MPSCNNNeuronTypeReLU parameterA:a parameterB:0 parameterC:0];
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands inputMatrix:x biasVector:nil resultMatrix:y];
    finish(commands);
    const std::vector<float> got = values_in<float>(out);
    CHECK(std::isnan(a) ? std::isnan(got[0]) : got[0] == -a && std::signbit(got[0]) == std::signbit(-a));
    CHECK(got[1] == 0 && got[2] == 2);
  }
}

// Of numbers whose squares or exponentials are no floats any more.
TEST(neurons_of_extreme_numbers) {
  const std::vector<float> values = {-3e38f, -1e30f, -1000, -20, 20, 1000, 1e30f, 3e38f};
  id<MTLBuffer> out = buffer_of(the_device(), values);
  MPSMatrix *x = matrix_in(buffer_of(the_device(), values), 1, values.size()), *y = matrix_in(out, 1, values.size());
  MPSMatrixNeuron* kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
  for (const MPSCNNNeuronType type :
       {MPSCNNNeuronTypeSigmoid, MPSCNNNeuronTypeHardSigmoid, MPSCNNNeuronTypeTanH, MPSCNNNeuronTypeSoftSign,
        MPSCNNNeuronTypeSoftPlus, MPSCNNNeuronTypeELU, MPSCNNNeuronTypeReLUN, MPSCNNNeuronTypeGeLU}) {
    [kernel setNeuronType:type parameterA:0.5f parameterB:1 parameterC:0];
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands inputMatrix:x biasVector:nil resultMatrix:y];
    finish(commands);
    const std::vector<float> got = values_in<float>(out);
    for (size_t i = 0; i < values.size(); ++i) {
      // The formula of SoftPlus overflows, which its limit does not.
      const double wanted =
          type == MPSCNNNeuronTypeSoftPlus && values[i] > 100 ? 0.5 * values[i] : neuron(type, values[i], 0.5, 1, 0);
      CHECK_NEAR(got[i], wanted, 2e-8 + 1e-6 * std::fabs(wanted));
    }
  }
}

TEST(neurons_with_a_slope_for_each_column) {
  Matrices x(1, 3, 2, 12), y(1, 3, 2, 13);
  const std::vector<float> slopes = {0.5f, -2};
  MPSMatrixNeuron* kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
  [kernel setNeuronToPReLUWithParametersA:[NSData dataWithBytes:slopes.data() length:8]];
  CHECK([kernel neuronType] == MPSCNNNeuronTypePReLU && [kernel neuronParameterB] == 0);
  [kernel setSourceNumberOfFeatureVectors:3];
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [kernel encodeToCommandBuffer:commands inputMatrix:x.matrix biasVector:nil resultMatrix:y.matrix];
  finish(commands);
  y.check(
      [&](NSUInteger n, NSUInteger row, NSUInteger column, double& value) {
        const double v = x.at(n, row, column);
        value = v >= 0 ? v : v * slopes[column];
        return true;
      },
      1e-6);
}

// The settings of a kernel come along with its copies, and with what a coder makes of it.
TEST(kernels_are_copied_and_encoded) {
  Matrices x(1, 2, 3, 14);
  const std::vector<float> slopes = {2, 3};
  MPSMatrixNeuron* neuron_kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
  CHECK([neuron_kernel device] == the_device() && [neuron_kernel options] == MPSKernelOptionsNone);
  [neuron_kernel setLabel:@"slopes"];
  [neuron_kernel setOptions:MPSKernelOptionsAllowReducedPrecision];
  [neuron_kernel setNeuronToPReLUWithParametersA:[NSData dataWithBytes:slopes.data() length:8]];
  [neuron_kernel setAlpha:-1];
  [neuron_kernel setSourceMatrixOrigin:MTLOriginMake(0, 1, 0)];
  MPSMatrixSoftMax* softmax = [[[MPSMatrixSoftMax alloc] initWithDevice:the_device()] autorelease];
  [softmax setSourceColumns:2];
  MPSMatrixMultiplication* product = [[[MPSMatrixMultiplication alloc] initWithDevice:the_device()
                                                                        transposeLeft:NO
                                                                       transposeRight:YES
                                                                           resultRows:2
                                                                        resultColumns:2
                                                                      interiorColumns:3
                                                                                alpha:2
                                                                                 beta:0] autorelease];
  MPSMatrixVectorMultiplication* line = [[[MPSMatrixVectorMultiplication alloc] initWithDevice:the_device()
                                                                                     transpose:YES
                                                                                          rows:3
                                                                                       columns:2
                                                                                         alpha:1
                                                                                          beta:0] autorelease];
  const auto results = [&](MPSMatrixNeuron* n, MPSMatrixSoftMax* s, MPSMatrixMultiplication* p,
                           MPSMatrixVectorMultiplication* l) {
    id<MTLBuffer> buffers[4];
    MPSMatrix* made[3];
    for (int i = 0; i < 4; ++i) buffers[i] = buffer_of(the_device(), std::vector<float>(4));
    for (int i = 0; i < 3; ++i) {
      made[i] = matrix_in(buffers[i], 2, 2);
    }
    MPSVector* y = vector_in(buffers[3], 3);
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [n encodeToCommandBuffer:commands inputMatrix:x.matrix biasVector:nil resultMatrix:made[0]];
    [s encodeToCommandBuffer:commands inputMatrix:x.matrix resultMatrix:made[1]];
    [p encodeToCommandBuffer:commands leftMatrix:x.matrix rightMatrix:x.matrix resultMatrix:made[2]];
    [l encodeToCommandBuffer:commands inputMatrix:x.matrix inputVector:bias_of({1, 2}) resultVector:y];
    finish(commands);
    std::vector<float> all;
    for (id<MTLBuffer> buffer : buffers) {
      for (float v : values_in<float>(buffer)) all.push_back(v);
    }
    return all;
  };
  const std::vector<float> expected = results(neuron_kernel, softmax, product, line);
  CHECK_NEAR(expected[8],
             2 * (x.at(0, 0, 0) * x.at(0, 0, 0) + x.at(0, 0, 1) * x.at(0, 0, 1) + x.at(0, 0, 2) * x.at(0, 0, 2)), 1e-5);
  CHECK(expected[1] != 0 && expected[12] != 0);
  MPSMatrixNeuron* copy = [[neuron_kernel copyWithZone:nil device:nil] autorelease];
  CHECK([[copy label] isEqualToString:@"slopes"] && [copy options] == MPSKernelOptionsAllowReducedPrecision);
  CHECK(results(copy, [[softmax copy] autorelease], [[product copyWithZone:nil device:the_device()] autorelease],
                [[line copy] autorelease]) == expected);
#ifndef __APPLE__  // these ways to make coders are deprecated there
  const auto coded = [](MPSKernel* kernel) {
    NSMutableData* data = [NSMutableData data];
    NSKeyedArchiver* writer = [[[NSKeyedArchiver alloc] initForWritingWithMutableData:data] autorelease];
    [kernel encodeWithCoder:writer];
    [writer finishEncoding];
    NSKeyedUnarchiver* reader = [[[NSKeyedUnarchiver alloc] initForReadingWithData:data] autorelease];
    id made = [[[[kernel class] alloc] initWithCoder:reader device:the_device()] autorelease];
    return made;
  };
  CHECK(results(coded(neuron_kernel), coded(softmax), coded(product), coded(line)) == expected);
  CHECK([[coded(neuron_kernel) label] isEqualToString:@"slopes"]);
  NSData* data = [NSKeyedArchiver archivedDataWithRootObject:softmax];
  CHECK([[NSKeyedUnarchiver unarchiveObjectWithData:data] sourceColumns] == 2);
  MPSKernel* plain = [[[MPSKernel alloc] initWithDevice:the_device()] autorelease];
  CHECK([[[[MPSKernel alloc] initWithCoder:[[[NSKeyedUnarchiver alloc] initForReadingWithData:data] autorelease]]
            autorelease] device] != nil);
  CHECK([plain label] == nil && [MPSKernel supportsSecureCoding]);
#endif
}

TEST(temporary_matrices_count_their_reads) {
  id<MTLBuffer> in = buffer_of<float>(the_device(), {1, 2, 3, 4}), out = buffer_of(the_device(), std::vector<float>(4));
  MPSMatrixDescriptor* d = rows_of(2, 2, 8, MPSDataTypeFloat32);
  MPSVectorDescriptor* two = [MPSVectorDescriptor vectorDescriptorWithLength:2 dataType:MPSDataTypeFloat32];
  MPSMatrix *x = matrix_in(in, 2, 2), *y = matrix_in(out, 2, 2);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [MPSTemporaryMatrix prefetchStorageWithCommandBuffer:commands matrixDescriptorList:[NSArray arrayWithObject:d]];
  [MPSTemporaryVector prefetchStorageWithCommandBuffer:commands descriptorList:[NSArray arrayWithObject:two]];
  MPSTemporaryMatrix* between = [MPSTemporaryMatrix temporaryMatrixWithCommandBuffer:commands matrixDescriptor:d];
  MPSTemporaryVector* bias = [MPSTemporaryVector temporaryVectorWithCommandBuffer:commands descriptor:two];
  CHECK([between readCount] == 1 && [bias readCount] == 1 && [between rows] == 2 && [bias length] == 2);
  [between setReadCount:2];
  [bias setReadCount:0];
  MPSMatrixNeuron* kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
  [kernel setAlpha:10];
  [kernel encodeToCommandBuffer:commands inputMatrix:x biasVector:nil resultMatrix:between];
  MPSMatrixMultiplication* product = multiplication(2, 2, 2);
  [product encodeToCommandBuffer:commands leftMatrix:between rightMatrix:between resultMatrix:y];
  CHECK([between readCount] == 0);
#ifndef __APPLE__
  CHECK_RAISES([kernel encodeToCommandBuffer:commands inputMatrix:between biasVector:nil resultMatrix:y]);
  CHECK_RAISES([kernel encodeToCommandBuffer:commands inputMatrix:x biasVector:bias resultMatrix:y]);
  CHECK_RAISES([between setReadCount:1]);
#endif
  finish(commands);
  CHECK(values_in<float>(out) == std::vector<float>({700, 1000, 1500, 2200}));
}

#ifndef __APPLE__
TEST(mistakes_raise) {
  id nothing = nil;
  CHECK_RAISES(rows_of(2, 3, 8, MPSDataTypeFloat32));
  CHECK_RAISES(rows_of(2, 3, 14, MPSDataTypeFloat32));
  CHECK_RAISES(rows_of(0, 3, 12, MPSDataTypeFloat32));
  CHECK_RAISES(rows_of(2, 3, 12, MPSDataTypeInvalid));
  CHECK_RAISES([MPSMatrixDescriptor matrixDescriptorWithRows:2
                                                     columns:2
                                                    matrices:2
                                                    rowBytes:8
                                                 matrixBytes:12
                                                    dataType:MPSDataTypeFloat32]);
  CHECK_RAISES([MPSVectorDescriptor vectorDescriptorWithLength:0 dataType:MPSDataTypeFloat32]);
  // The bytes of these are 0 or a few, modulo 2^64.
  CHECK_RAISES(rows_of((1ul << 60) + 1, 4, 16, MPSDataTypeFloat32));
  CHECK_RAISES([MPSMatrixDescriptor matrixDescriptorWithRows:2
                                                     columns:4
                                                    matrices:(1ul << 59) + 1
                                                    rowBytes:16
                                                 matrixBytes:32
                                                    dataType:MPSDataTypeFloat32]);
  CHECK_RAISES([MPSVectorDescriptor vectorDescriptorWithLength:4
                                                       vectors:(1ul << 60) + 1
                                                   vectorBytes:16
                                                      dataType:MPSDataTypeFloat32]);
  CHECK_RAISES([MPSVectorDescriptor vectorDescriptorWithLength:1ul << 62 dataType:MPSDataTypeFloat32]);
  MPSMatrixDescriptor* grown = rows_of(2, 3, 16, MPSDataTypeFloat32);
  [grown setRows:1ul << 60];
  CHECK_RAISES([[MPSMatrix alloc] initWithDevice:the_device() descriptor:grown]);
  id<MTLBuffer> buffer = buffer_of(the_device(), counted(6));
  MPSMatrixDescriptor* d = rows_of(2, 3, 12, MPSDataTypeFloat32);
  CHECK_RAISES([[MPSMatrix alloc] initWithBuffer:buffer offset:4 descriptor:d]);
  CHECK_RAISES([[MPSMatrix alloc] initWithBuffer:buffer offset:2 descriptor:rows_of(1, 3, 12, MPSDataTypeFloat32)]);
  CHECK_RAISES([[MPSMatrix alloc] initWithBuffer:buffer descriptor:nothing]);
  CHECK_RAISES([[MPSMatrix alloc] initWithBuffer:nothing descriptor:d]);
  CHECK_RAISES([[MPSMatrix alloc] initWithDevice:nothing descriptor:d]);
  CHECK_RAISES(vector_in(buffer, 7));
  MPSMatrix* matrix = [[[MPSMatrix alloc] initWithBuffer:buffer descriptor:d] autorelease];
  MPSMatrix* integers = matrix_in(buffer, 2, 3, MPSDataTypeInt32);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  MPSMatrixMultiplication* product = multiplication(2, 2, 3);
  const auto multiply = [&](MPSMatrix* left, MPSMatrix* right, MPSMatrix* result) {
    [product encodeToCommandBuffer:commands leftMatrix:left rightMatrix:right resultMatrix:result];
  };
  CHECK_RAISES(multiply(matrix, matrix, matrix));  // (2, 3) x (2, 3)
  CHECK_RAISES(multiply(matrix, nothing, matrix));
  CHECK_RAISES([matrix synchronizeOnCommandBuffer:nothing]);
  CHECK_RAISES([bias_of({1}) synchronizeOnCommandBuffer:nothing]);
  MPSMatrixSoftMax* softmax = [[[MPSMatrixSoftMax alloc] initWithDevice:the_device()] autorelease];
  const auto soften = [&](MPSMatrix* x, MPSMatrix* y) {
    [softmax encodeToCommandBuffer:commands inputMatrix:x resultMatrix:y];
  };
  CHECK_RAISES(soften(integers, integers));
  CHECK_RAISES(soften(matrix, integers));
  [softmax setResultMatrixOrigin:MTLOriginMake(1, 0, 0)];
  CHECK_RAISES(soften(matrix, matrix));
  [softmax setResultMatrixOrigin:MTLOriginMake(0, 0, 1)];
  CHECK_RAISES(soften(matrix, matrix));
  [softmax setResultMatrixOrigin:MTLOriginMake(0, 0, 0)];
  [softmax setBatchStart:1];
  CHECK_RAISES(soften(matrix, matrix));
  [softmax setBatchStart:0];
  [softmax setSourceMatrixOrigin:MTLOriginMake(0, 3, 0)];
  CHECK_RAISES(soften(matrix, matrix));
  MPSMatrixNeuron* neuron_kernel = [[[MPSMatrixNeuron alloc] initWithDevice:the_device()] autorelease];
  CHECK_RAISES([neuron_kernel setNeuronType:MPSCNNNeuronTypePReLU parameterA:1 parameterB:1 parameterC:1]);
  CHECK_RAISES([neuron_kernel setNeuronType:MPSCNNNeuronTypeCount parameterA:1 parameterB:1 parameterC:1]);
  CHECK_RAISES([neuron_kernel setNeuronToPReLUWithParametersA:[NSData data]]);
  CHECK_RAISES([neuron_kernel encodeToCommandBuffer:commands
                                        inputMatrix:matrix
                                         biasVector:bias_of({1, 2})
                                       resultMatrix:matrix]);
  [neuron_kernel setNeuronToPReLUWithParametersA:[NSMutableData dataWithLength:8]];
  CHECK_RAISES([neuron_kernel encodeToCommandBuffer:commands inputMatrix:matrix biasVector:nil resultMatrix:matrix]);
  CHECK_RAISES([neuron_kernel encodeToCommandBuffer:nothing inputMatrix:matrix biasVector:nil resultMatrix:matrix]);
  CHECK_RAISES([[MPSMatrixSoftMax alloc] initWithDevice:nothing]);
  finish(commands);
  CHECK(values_in<float>(buffer) == counted(6));
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
