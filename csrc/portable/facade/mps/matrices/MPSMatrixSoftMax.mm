// The softmax of the rows of matrices, and its logarithm.

#include "facade/mps/kernels.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MPSMatrixSoftMax

@synthesize sourceRows = _sourceRows;
@synthesize sourceColumns = _sourceColumns;

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if ((self = [super initWithDevice:device])) _sourceRows = _sourceColumns = NSUIntegerMax;
  return self;
}

KERNEL_FIELDS(MPSMatrixSoftMax, keeps(sourceRows), keeps(sourceColumns))

- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix {
  NSString* const what = @"MPSMatrixSoftMax";
  const MatrixParts& source = parts_of(inputMatrix);
  const MatrixParts& result = parts_of(resultMatrix);
  require_floats(source, result, what);
  const Batch batch = batch_of({_batchStart, _batchSize}, {&source, &result}, what);
  const Rectangle read = rest_of(source, _sourceMatrixOrigin, _sourceRows, _sourceColumns, what);
  const device::ArrayMemory x = part_of(source, read, batch, what);
  const device::ArrayMemory y = part_of(result, {_resultMatrixOrigin, read.rows, read.columns}, batch, what);
  count_read(inputMatrix, what);
  const bool is_log = [self isKindOfClass:[MPSMatrixLogSoftMax class]];
  const auto formula = [is_log](const std::vector<ir::Expr>& operands) {
    const ir::Expr wide = ir::cast(operands[0], ir::DType::float32);
    return is_log ? ir::log_softmax(wide, 2) : ir::softmax(wide, 2);
  };
  encode_formula(commandBuffer, formulas_of(self), {}, formula, {typed(x, source.type)}, typed(y, result.type));
}

@end

@implementation MPSMatrixLogSoftMax
@end
