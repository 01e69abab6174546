// Tensor data: an array and its shape in the graph.

#include "facade/graph/tensor_data.h"
#include "facade/graph/types.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct TensorDataParts {
  MPSNDArray* array;
  MPSShape* shape;
  std::optional<alloy::ir::Type> type;  // empty for an element type that ir does not know
};

TensorDataParts& parts_of(MPSGraphTensorData* data) { return *static_cast<TensorDataParts*>(data->_impl); }

// Takes over the caller's ownership of `array`; copies `shape`, which only retains an immutable one.
void* make_parts(MPSNDArray* array, MPSShape* shape) {
  auto* parts = new TensorDataParts{array, [shape copy], {}};
  if (const auto dtype = find_dtype([array dataType])) parts->type.emplace(*dtype, shape_of(shape));
  return parts;
}

// True if `data` does not own its bytes, as from dataWithBytesNoCopy:length:freeWhenDone:NO. Foundation has a class for
// such data; data with its own bytes is of a subclass. Empty data is of this class, too.
bool borrows_bytes(NSData* data) {
  static char byte;
  static const Class borrowing = object_getClass([NSData dataWithBytesNoCopy:&byte length:1 freeWhenDone:NO]);
  return object_getClass(data) == borrowing && [data bytes] != nullptr;
}

}  // namespace

namespace alloy::facade {

const device::ArrayMemory& memory_of(MPSGraphTensorData* data) { return memory_of(parts_of(data).array); }

const alloy::ir::Type& type_of(MPSGraphTensorData* data) {
  static const Class our_class = [MPSGraphTensorData class];
  require_kind(data, our_class);
  const auto& type = parts_of(data).type;
  if (!type) dtype_of([data dataType]);  // raises
  return *type;
}

MPSGraphTensorData* new_tensor_data(id<MTLDevice> device, MPSShape* shape, MPSDataType type) {
  const device::ArrayLayout layout = packed_layout(shape, type, @"MPSGraphTensorData");
  MPSGraphTensorData* data = [MPSGraphTensorData alloc];
  data->_impl = make_parts(new_array(device, nullptr, layout, type), shape);
  return data;
}

}  // namespace alloy::facade

@interface MPSGraphTensorData (AlloyRank)
// Takes over the caller's ownership of the array and gives it `rank` dimensions.
- (instancetype)initWithArray:(MPSNDArray*)array rank:(NSUInteger)rank;
@end

@implementation MPSGraphTensorData

- (instancetype)init {
  raise_invalid(@"[MPSGraphTensorData] Use one of the initialisers with data instead of init.");
}

- (instancetype)initWithDevice:(MPSGraphDevice*)device
                          data:(NSData*)data
                         shape:(MPSShape*)shape
                      dataType:(MPSDataType)dataType {
  require_kind(device, [MPSGraphDevice class]);
  require_kind(data, [NSData class]);
  const device::ArrayLayout layout = packed_layout(shape, dataType, @"MPSGraphTensorData");
  const size_t needed = layout.packed_bytes();
  // Programs give wrong lengths of bytes that the data does not own, for instance in elements, and on a Mac that works.
  if ([data length] < needed && !borrows_bytes(data)) {
    raise_invalid(@"[MPSGraphTensorData] The shape needs %lu bytes, but the data has %lu.",
                  static_cast<unsigned long>(needed), static_cast<unsigned long>([data length]));
  }
  if (!(self = [super init])) return nil;
  MPSNDArray* array = new_array([device metalDevice], nullptr, layout, dataType);
  _impl = make_parts(array, shape);
  const void* bytes = [data bytes];
  raise_thrown([&] { memory_of(array).storage->write(0, bytes, needed); });
  return self;
}

- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer shape:(MPSShape*)shape dataType:(MPSDataType)dataType {
  const device::ArrayLayout layout = packed_layout(shape, dataType, @"MPSGraphTensorData");
  return [self initWithMTLBuffer:buffer shape:shape dataType:dataType rowBytes:layout.packed_row_bytes()];
}

- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)dataType
                         rowBytes:(NSUInteger)rowBytes {
  device::ArrayLayout layout = packed_layout(shape, dataType, @"MPSGraphTensorData");
  const BufferBytes& bytes = bytes_of(buffer);
  require_aligned(bytes, layout.element_bytes, @"MPSGraphTensorData");
  if (rowBytes < layout.packed_row_bytes() || rowBytes % layout.element_bytes) {
    raise_invalid(@"[MPSGraphTensorData] The row bytes are %lu, but a row takes %lu and has whole elements of %lu.",
                  static_cast<unsigned long>(rowBytes), static_cast<unsigned long>(layout.packed_row_bytes()),
                  static_cast<unsigned long>(layout.element_bytes));
  }
  layout.set_row_bytes(rowBytes);
  if (bytes.length < layout.end()) {
    raise_invalid(@"[MPSGraphTensorData] The buffer has %lu bytes, but the shape needs %lu.",
                  static_cast<unsigned long>(bytes.length), static_cast<unsigned long>(layout.end()));
  }
  layout.offset = bytes.offset;
  if ((self = [super init])) _impl = make_parts(new_array([buffer device], bytes.storage, layout, dataType), shape);
  return self;
}

- (instancetype)initWithMPSMatrix:(MPSMatrix*)matrix {
  require_kind(matrix, [MPSMatrix class]);
  return [self initWithMPSMatrix:matrix rank:[matrix matrices] > 1 ? 3 : 2];
}

- (instancetype)initWithMPSMatrix:(MPSMatrix*)matrix rank:(NSUInteger)rank {
  require_kind(matrix, [MPSMatrix class]);
  return [self initWithArray:new_array_of(matrix) rank:rank];
}

- (instancetype)initWithMPSVector:(MPSVector*)vector {
  require_kind(vector, [MPSVector class]);
  return [self initWithMPSVector:vector rank:[vector vectors] > 1 ? 2 : 1];
}

- (instancetype)initWithMPSVector:(MPSVector*)vector rank:(NSUInteger)rank {
  require_kind(vector, [MPSVector class]);
  return [self initWithArray:new_array_of(vector) rank:rank];
}

- (instancetype)initWithMPSImageBatch:(MPSImageBatch*)imageBatch {
  refuse_images(@"initWithMPSImageBatch");
}

- (instancetype)initWithArray:(MPSNDArray*)array rank:(NSUInteger)rank {
  [array autorelease];
  MPSNDArray* shaped = new_array_of_rank(array, rank);
  self = [self initWithMPSNDArray:shaped];
  [shaped release];
  return self;
}

- (instancetype)initWithMPSNDArray:(MPSNDArray*)ndarray {
  require_kind(ndarray, [MPSNDArray class]);
  NSMutableArray* shape = [NSMutableArray array];
  for (NSUInteger i = [ndarray numberOfDimensions]; i-- > 0;) {
    [shape addObject:[NSNumber numberWithUnsignedInteger:[ndarray lengthOfDimension:i]]];
  }
  if ((self = [super init])) _impl = make_parts([ndarray retain], shape);
  return self;
}

- (void)dealloc {
  if (_impl) {
    [parts_of(self).array release];
    [parts_of(self).shape release];
  }
  delete static_cast<TensorDataParts*>(_impl);
  [super dealloc];
}

- (MPSShape*)shape {
  return parts_of(self).shape;
}

- (MPSDataType)dataType {
  return [parts_of(self).array dataType];
}

- (MPSGraphDevice*)device {
  return [MPSGraphDevice deviceWithMTLDevice:[parts_of(self).array device]];
}

- (MPSNDArray*)mpsndarray {
  return parts_of(self).array;
}

@end
