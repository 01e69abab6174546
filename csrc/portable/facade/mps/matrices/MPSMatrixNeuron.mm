// Functions of each element of matrices.

#include "facade/mps/kernels.h"
#include "facade/mps/neurons.h"

using namespace alloy;
using namespace alloy::facade;
using ir::Expr;

namespace {

// Copies floats to an array (1, 1, columns) on a device.
device::ArrayMemory row_on(id<MTLDevice> device, NSData* floats) {
  id<MTLBuffer> buffer = [[device newBufferWithBytes:[floats bytes]
                                              length:[floats length]
                                             options:MTLResourceStorageModeShared] autorelease];
  const NSUInteger columns = [floats length] / sizeof(float);
  const NSUInteger bytes = [floats length];
  return part_of({buffer, 0, 1, columns, 1, bytes, bytes, MPSDataTypeFloat32, 1}, {{0, 0, 0}, 1, columns}, {0, 1},
                 @"MPSMatrixNeuron");
}

}  // namespace

@implementation MPSMatrixNeuron

@synthesize sourceNumberOfFeatureVectors = _sourceNumberOfFeatureVectors;
@synthesize sourceInputFeatureChannels = _sourceInputFeatureChannels;
@synthesize alpha = _alpha;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if ((self = [super initWithDevice:device])) {
    _sourceNumberOfFeatureVectors = _sourceInputFeatureChannels = NSUIntegerMax;
    _alpha = 1;
  }
  return self;
}

- (void)dealloc {
  [_parametersA release];
  [super dealloc];
}

KERNEL_FIELDS(MPSMatrixNeuron, keeps(sourceNumberOfFeatureVectors), keeps(sourceInputFeatureChannels), keeps(alpha),
              keeps(neuronType), keeps(parameterA), keeps(parameterB), keeps(parameterC), keeps(parametersA))

- (void)setNeuronType:(MPSCNNNeuronType)neuronType
           parameterA:(float)parameterA
           parameterB:(float)parameterB
           parameterC:(float)parameterC {
  require_shared_parameters(neuronType, @"setNeuronType");
  _neuronType = neuronType;
  _parameterA = parameterA;
  _parameterB = parameterB;
  _parameterC = parameterC;
}

- (void)setNeuronToPReLUWithParametersA:(NSData*)A {
  require_kind(A, [NSData class]);
  if ([A length] == 0 || [A length] % sizeof(float)) {
    raise_invalid(@"[setNeuronToPReLUWithParametersA] The data has %lu bytes, which are no floats.",
                  static_cast<unsigned long>([A length]));
  }
  [_parametersA autorelease];
  _parametersA = [A copy];
  _neuronType = MPSCNNNeuronTypePReLU;
  _parameterA = _parameterB = _parameterC = 0;
}

GETTER(MPSCNNNeuronType, neuronType, _neuronType)
GETTER(float, neuronParameterA, _parameterA)
GETTER(float, neuronParameterB, _parameterB)
GETTER(float, neuronParameterC, _parameterC)

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                   biasVector:(MPSVector*)biasVector
                 resultMatrix:(MPSMatrix*)resultMatrix {
  NSString* const what = @"MPSMatrixNeuron";
  const MatrixParts& source = parts_of(inputMatrix);
  const MatrixParts& result = parts_of(resultMatrix);
  require_floats(source, result, what);
  const Batch batch = batch_of({_batchStart, _batchSize}, {&source, &result}, what);
  const Rectangle read =
      rest_of(source, _sourceMatrixOrigin, _sourceNumberOfFeatureVectors, _sourceInputFeatureChannels, what);
  const device::ArrayMemory y = part_of(result, {_resultMatrixOrigin, read.rows, read.columns}, batch, what);
  std::vector<runtime::TypedArray> inputs{typed(part_of(source, read, batch, what), source.type)};
  const bool is_prelu = _neuronType == MPSCNNNeuronTypePReLU, is_biased = biasVector != nil;
  if (is_biased) {
    const MatrixParts& bias = parts_of(biasVector);
    require_floats(bias, bias, what);
    inputs.push_back(typed(part_of(bias, {{0, 0, 0}, 1, read.columns}, {0, 1}, what), bias.type));
  }
  if (is_prelu) {
    if ([_parametersA length] / sizeof(float) != read.columns) {
      raise_invalid(@"[MPSMatrixNeuron] PReLU has %lu parameters, but there are %lu columns.",
                    static_cast<unsigned long>([_parametersA length] / sizeof(float)),
                    static_cast<unsigned long>(read.columns));
    }
    inputs.push_back(typed(row_on([self device], _parametersA), MPSDataTypeFloat32));
  }
  count_read(inputMatrix, what);
  if (is_biased) count_read(biasVector, what);
  const Neuron neuron{_neuronType, _parameterA, _parameterB, _parameterC};
  const auto formula = [=, alpha = _alpha](const std::vector<Expr>& operands) {
    const auto wide = [&](size_t i) { return ir::cast(operands[i], ir::DType::float32); };
    Expr x = alpha == 1 ? wide(0) : wide(0) * alpha;
    if (is_biased) x = x + wide(1);
    return applied(neuron, x, is_prelu ? wide(operands.size() - 1) : ir::none);
  };
  encode_formula(commandBuffer, formulas_of(self),
                 {static_cast<double>(neuron.type), neuron.a, neuron.b, neuron.c, _alpha, is_biased ? 1.0 : 0.0},
                 formula, inputs, typed(y, result.type));
}

@end
