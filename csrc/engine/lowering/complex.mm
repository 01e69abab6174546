// Complex numbers and Fourier transforms. Their methods need macOS 14; engine/computable.cpp refuses them on older
// systems.

#import "engine/lowering/ops.h"

// Declared here, because older SDKs lack them.
@protocol AlloyComplexSelectors
- (MPSGraphTensor*)realPartOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name;
- (MPSGraphTensor*)imaginaryPartOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name;
- (MPSGraphTensor*)complexTensorWithRealTensor:(MPSGraphTensor*)real
                               imaginaryTensor:(MPSGraphTensor*)imaginary
                                          name:(NSString*)name;
- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                             axes:(NSArray<NSNumber*>*)axes
                                       descriptor:(id)descriptor
                                             name:(NSString*)name;
@end

@protocol AlloyFourierDescriptor
+ (id)descriptor;
- (void)setInverse:(BOOL)inverse;
- (void)setScalingMode:(NSUInteger)mode;
@end

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;

// The framework's graph, after a check that it has `selector`.
id<AlloyComplexSelectors> complex_graph(const Lowering& lowering, const ir::Op& op, SEL selector) {
  if (![lowering.graph() respondsToSelector:selector]) {
    op.fail("Complex numbers are not available on this system", ir::Error::Kind::kType);
  }
  return static_cast<id<AlloyComplexSelectors>>(static_cast<id>(lowering.graph()));
}

MPSGraphTensor* reshaped(const Lowering& lowering, MPSGraphTensor* tensor, const Dims& dims, NSString* name) {
  return [lowering.graph() reshapeTensor:tensor withShape:mps_numbers(dims) name:name];
}

// Complex numbers of shape `dims` from their real and imaginary parts.
MPSGraphTensor* joined(const Lowering& lowering, const ir::Op& op, MPSGraphTensor* pairs, const Dims& dims,
                       NSString* name) {
  const auto graph = complex_graph(lowering, op, @selector(complexTensorWithRealTensor:imaginaryTensor:name:));
  const auto part = [&](NSInteger which) {
    return reshaped(lowering, [lowering.graph() sliceTensor:pairs dimension:dims.size() start:which length:1 name:nil],
                    dims, nil);
  };
  return [graph complexTensorWithRealTensor:part(0) imaginaryTensor:part(1) name:name];
}

// The parts of complex numbers, along a new last axis.
MPSGraphTensor* parted(const Lowering& lowering, const ir::Op& op, MPSGraphTensor* numbers, const Dims& pairs,
                       NSString* name) {
  const auto graph = complex_graph(lowering, op, @selector(realPartOfTensor:name:));
  Dims column = pairs;
  column[column.size() - 1] = 1;
  MPSGraphTensor* real = reshaped(lowering, [graph realPartOfTensor:numbers name:nil], column, nil);
  MPSGraphTensor* imaginary = reshaped(lowering, [graph imaginaryPartOfTensor:numbers name:nil], column, nil);
  return [lowering.graph() concatTensors:@[ real, imaginary ]
                               dimension:static_cast<NSInteger>(column.size()) - 1
                                    name:name];
}

}  // namespace

Nodes lower_view_as_real(Lowering& lowering, const ir::Op& op, NSString* name) {
  return parted(lowering, op, lowering.x(op), op.results[0].shape.dims(), name);
}

Nodes lower_view_as_complex(Lowering& lowering, const ir::Op& op, NSString* name) {
  return joined(lowering, op, lowering.x(op), op.results[0].shape.dims(), name);
}

Nodes lower_fourier_transform(Lowering& lowering, const ir::Op& op, NSString* name) {
  const Dims& pairs = op.results[0].shape.dims();
  const Dims dims(pairs.begin(), pairs.end() - 1);
  const auto graph = complex_graph(lowering, op, @selector(fastFourierTransformWithTensor:axes:descriptor:name:));
  Dims axes;
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) axes.push_back(*ir::normalize_axis(axis, dims.size()));
  const std::string& scaling = op.attributes.word(Attr::kScaling);
  Class<AlloyFourierDescriptor> descriptors =
      static_cast<Class<AlloyFourierDescriptor>>(NSClassFromString(@"MPSGraphFFTDescriptor"));
  id<AlloyFourierDescriptor> descriptor = [descriptors descriptor];
  [descriptor setInverse:op.attributes.flag(Attr::kInverse)];
  [descriptor setScalingMode:scaling == "none" ? 0 : scaling == "size" ? 1 : 2];
  // If the parts were taken from complex numbers, those are used.
  const ir::Op& from = *op.operands[0].op;
  MPSGraphTensor* given = from.code == ir::OpCode::view_as_real ? lowering.tensor(from.operands[0])
                                                                : joined(lowering, op, lowering.x(op), dims, nil);
  MPSGraphTensor* numbers = [graph fastFourierTransformWithTensor:given
                                                             axes:mps_numbers(axes)
                                                       descriptor:descriptor
                                                             name:nil];
  return parted(lowering, op, numbers, pairs, name);
}

}  // namespace alloy::engine
