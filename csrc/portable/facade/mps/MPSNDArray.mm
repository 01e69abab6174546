// Arrays on a device. Knows nothing of graphs.

#include <cmath>
#include <limits>
#include <optional>

#include "facade/imitation.h"
#include "facade/mps/arrays.h"
#include "facade/retained.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct ArrayParts {
  device::ArrayMemory memory;
  id<MTLDevice> device;
  MPSDataType type;
  NSString* label = nil;
  Retained<MPSNDArray*> parent{};
  Retained<id<MTLBuffer>> buffer{};        // the program's own buffer, if it gave one
  std::optional<NSUInteger> reads_left{};  // only of a temporary array
};

ArrayParts& array_parts(MPSNDArray* array) { return *static_cast<ArrayParts*>(array->_impl); }

std::shared_ptr<device::Storage> allocate(device::Device& device, size_t bytes) {
  std::shared_ptr<device::Storage> storage;
  raise_thrown([&] { storage = device.allocate(bytes, device::StorageMode::kCopied); });
  if (!storage) {
    [NSException raise:NSMallocException
                format:@"[MPSNDArray] The device has no %lu bytes left.", static_cast<unsigned long>(bytes)];
  }
  return storage;
}

}  // namespace

namespace alloy::facade {

size_t element_bytes(MPSDataType type, NSString* method) {
  if (type == MPSDataTypeBFloat16) abort_where(alloy::ir::Quirk::bfloat16, method);
  if ((type & MPSDataTypeComplexBit) != 0) abort_where(alloy::ir::Quirk::complex, method);
  switch (type) {
    case MPSDataTypeFloat32:
    case MPSDataTypeFloat16:
    case MPSDataTypeBFloat16:
    case MPSDataTypeComplexFloat32:
    case MPSDataTypeComplexFloat16:
    case MPSDataTypeInt8:
    case MPSDataTypeInt16:
    case MPSDataTypeInt32:
    case MPSDataTypeInt64:
    case MPSDataTypeUInt8:
    case MPSDataTypeUInt16:
    case MPSDataTypeUInt32:
    case MPSDataTypeUInt64:
    case MPSDataTypeBool:
    case MPSDataTypeUnorm8: return MPSSizeofMPSDataType(type);
    default: raise_invalid(@"[%@] The data type 0x%x cannot be stored.", method, static_cast<unsigned>(type));
  }
}

device::ArrayLayout packed_layout(MPSShape* shape, MPSDataType type, NSString* method) {
  if (!shape) raise_invalid(@"[%@] The shape is nil.", method);
  require_elements(shape, [NSNumber class]);
  device::ArrayLayout layout;
  layout.element_bytes = element_bytes(type, method);
  layout.rank = [shape count];
  if (layout.rank > device::kMaxRank) {
    raise_invalid(@"[%@] The shape has %lu dimensions, but an array has at most %lu.", method,
                  static_cast<unsigned long>(layout.rank), static_cast<unsigned long>(device::kMaxRank));
  }
  double elements = 1;
  for (NSUInteger axis = 0; axis < layout.rank; ++axis) {
    const long long length = [[shape objectAtIndex:axis] longLongValue];
    if (length < 1) raise_invalid(@"[%@] The shape has the length %lld, but lengths are positive.", method, length);
    layout.lengths[axis] = length;
    elements *= static_cast<double>(length);
  }
  if (elements > std::numeric_limits<int>::max()) {
    raise_invalid(@"[%@] The shape has %.0f elements, but an array has at most %d.", method, elements,
                  std::numeric_limits<int>::max());
  }
  layout.pack();
  return layout;
}

MPSNDArray* new_array(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, const device::ArrayLayout& layout,
                      MPSDataType type) {
  device::Device& owner = device_of(device);
  if (!storage) storage = allocate(owner, layout.end());
  MPSNDArray* array = [MPSNDArray alloc];
  array->_impl = new ArrayParts{{&owner, std::move(storage), layout}, [device retain], type};
  return array;
}

void count_read(MPSNDArray* array, NSString* method) {
  while (MPSNDArray* parent = [array parent]) array = parent;
  std::optional<NSUInteger>& left = array_parts(array).reads_left;
  if (!left) return;
  if (*left == 0) raise_invalid(@"[%@] A temporary array is read once more than its readCount says.", method);
  --*left;
}

const device::ArrayMemory& memory_of(MPSNDArray* array) { return array_parts(array).memory; }

namespace {

// True if the elements are so far apart that the numbers of bytes may overflow.
bool is_beyond_numbers(const device::ArrayLayout& layout) {
  double extent = static_cast<double>(layout.element_bytes);
  for (size_t axis = 0; axis < layout.rank; ++axis) {
    extent += std::abs(static_cast<double>(layout.strides[axis])) * static_cast<double>(layout.lengths[axis] - 1);
  }
  return extent > 0x1p62;
}

}  // namespace

void place_in(device::ArrayLayout& layout, const BufferBytes& bytes, NSUInteger offset, NSString* method) {
  require_aligned(bytes, layout.element_bytes, method);
  if (offset % layout.element_bytes) {
    raise_invalid(@"[%@] The offset is %lu, but elements have %lu bytes.", method, static_cast<unsigned long>(offset),
                  static_cast<unsigned long>(layout.element_bytes));
  }
  if (is_beyond_numbers(layout)) {
    raise_invalid(@"[%@] By the strides, the elements take more bytes than a buffer can have.", method);
  }
  layout.offset = offset;
  if (offset > bytes.length || layout.begin() < 0 || layout.end() > bytes.length) {
    raise_invalid(@"[%@] The elements take the bytes from %ld to %lu, but the buffer has %lu.", method,
                  static_cast<long>(layout.begin()), static_cast<unsigned long>(layout.end()),
                  static_cast<unsigned long>(bytes.length));
  }
  layout.offset += bytes.offset;
}

MPSNDArray* new_array_of_rank(MPSNDArray* array, NSUInteger rank) {
  if (rank == 0 || rank > device::kMaxRank) {
    raise_invalid(@"[MPSGraphTensorData] The rank is %lu, but it goes from 1 to %lu.", static_cast<unsigned long>(rank),
                  static_cast<unsigned long>(device::kMaxRank));
  }
  const device::ArrayLayout& from = array_parts(array).memory.layout;
  device::ArrayLayout layout = from;
  layout.rank = rank;
  for (size_t i = 0; i < rank; ++i) {  // from the fastest to the slowest
    const bool is_there = i < from.rank;
    layout.lengths[rank - 1 - i] = is_there ? from.lengths[from.rank - 1 - i] : 1;
    layout.strides[rank - 1 - i] = is_there ? from.strides[from.rank - 1 - i] : ptrdiff_t{0};
  }
  for (size_t axis = from.rank > rank ? from.rank - rank : 0; axis-- > 0;) {
    // Merges the dimension with the result's first one.
    if (layout.lengths[0] == 1) layout.strides[0] = from.strides[axis];
    else if (from.lengths[axis] > 1 &&
             from.strides[axis] != layout.strides[0] * static_cast<ptrdiff_t>(layout.lengths[0])) {
      raise_invalid(@"[MPSGraphTensorData] %lu dimensions cannot be seen as %lu, because there are gaps between rows.",
                    static_cast<unsigned long>(from.rank), static_cast<unsigned long>(rank));
    }
    layout.lengths[0] *= from.lengths[axis];
  }
  return new_array([array device], array_parts(array).memory.storage, layout, [array dataType]);
}

void refuse_images(NSString* method) {
  raise_invalid(@"[%@] Images and arrays take nothing from each other here: use readBytes and writeBytes.", method);
}

MPSNDArray* new_temporary_array(Class made, id<MTLCommandBuffer> buffer, MPSNDArrayDescriptor* descriptor) {
  require_kind(descriptor, [MPSNDArrayDescriptor class]);
  const device::ArrayLayout layout = packed_layout(sliced_shape(descriptor), [descriptor dataType], @"MPSNDArray");
  id<MTLBuffer> room = temporary_buffer(buffer, layout.end());
  id<MTLDevice> device = [buffer device];
  MPSNDArray* array = [made alloc];
  array->_impl =
      new ArrayParts{{&device_of(device), bytes_of(room).storage, layout}, [device retain], [descriptor dataType]};
  array_parts(array).memory.layout.offset = bytes_of(room).offset;
  array_parts(array).reads_left = 1;
  keep_until_done(buffer, array);
  return array;
}

NSUInteger& reads_left(MPSNDArray* array) { return *array_parts(array).reads_left; }

}  // namespace alloy::facade

namespace {

// The layout of a view of an array; returns false if the view has no strides.
bool view_layout(const device::ArrayLayout& array, const ViewOfDescriptor& view, device::ArrayLayout& made) {
  // The lengths of the array's dimensions, from the fastest to the slowest.
  const auto length = [&](size_t i) { return i < array.rank ? array.lengths[array.rank - 1 - i] : 1; };
  device::ArrayLayout whole = array;
  size_t elements = 1;
  bool is_same = true;
  for (size_t i = 0; i < view.rank; ++i) elements *= view.lengths[i];
  for (size_t i = 0; i < device::kMaxRank; ++i) is_same &= length(i) == (i < view.rank ? view.lengths[i] : 1);
  if (elements != array.elements()) {
    raise_invalid(@"[arrayView] The descriptor has %lu elements before slicing, but the array has %lu.",
                  static_cast<unsigned long>(elements), static_cast<unsigned long>(array.elements()));
  }
  if (!is_same) {  // the elements in order, with another shape
    if (!array.is_packed()) return false;
    whole.rank = view.rank;
    for (size_t i = 0; i < view.rank; ++i) whole.lengths[view.rank - 1 - i] = view.lengths[i];
    whole.pack();
  }
  made = whole;
  made.rank = view.rank;
  for (size_t i = 0; i < view.rank; ++i) {
    const size_t axis = view.rank - 1 - i, source = view.order[i];
    const ptrdiff_t stride =
        source < whole.rank ? whole.strides[whole.rank - 1 - source] : static_cast<ptrdiff_t>(whole.element_bytes);
    made.lengths[axis] = view.slices[i].length;
    made.strides[axis] = stride;
    made.offset += view.slices[i].start * static_cast<size_t>(stride);
  }
  return true;
}

// A view of the array, autoreleased.
MPSNDArray* view_with(MPSNDArray* array, const device::ArrayLayout& layout) {
  MPSNDArray* view = new_array([array device], memory_of(array).storage, layout, [array dataType]);
  array_parts(view).parent = Retained<MPSNDArray*>(array);
  return [view autorelease];
}

// A view that shares the array's memory; nil if that is impossible.
MPSNDArray* aliased_view(MPSNDArray* array, MPSNDArrayDescriptor* descriptor) {
  device::ArrayLayout layout;
  const bool aliases = view_layout(memory_of(array).layout, view_of(descriptor), layout);
  return aliases && [descriptor dataType] == [array dataType] ? view_with(array, layout) : nil;
}

// A copy with the view's elements, made by the command buffer; autoreleased.
MPSNDArray* copied_view(MPSNDArray* array, id<MTLCommandBuffer> buffer, MPSNDArrayDescriptor* descriptor) {
  MPSNDArray* copy = [[[MPSNDArray alloc] initWithDevice:[array device] descriptor:descriptor] autorelease];
  const ViewOfDescriptor view = view_of(descriptor);
  device::ArrayMemory from = memory_of(array);
  device::ArrayLayout layout;
  if (!view_layout(from.layout, view, layout)) {  // reshaping elements with gaps: removes the gaps first
    device::ArrayMemory packed = from;
    packed.layout.offset = 0;
    packed.layout.pack();
    packed.storage = allocate(*from.device, packed.layout.end());
    encode_copy(buffer, from, [array dataType], packed, [array dataType]);
    from = packed;
    view_layout(from.layout, view, layout);
  }
  from.layout = layout;
  count_read(array, @"arrayViewWithCommandBuffer");
  encode_copy(buffer, from, [array dataType], memory_of(copy), [copy dataType]);
  return copy;
}

// The bytes of a buffer that elements come from or go to, as a program describes them.
struct BufferSide {
  id<MTLBuffer> buffer;
  MPSDataType type;
  NSUInteger offset;
  const NSInteger* row_strides;  // in bytes, from the fastest to the slowest; or null
};

// True if the strides begin with the stride of elements, as in programs that ship on Macs, and not with that of rows,
// as Apple's header says: the first stride is an element's, or too short for rows.
bool begin_with_elements(const NSInteger* strides, const device::ArrayLayout& packed) {
  const auto element = static_cast<NSInteger>(packed.element_bytes);
  const auto row = static_cast<NSInteger>(packed.packed_row_bytes());
  return packed.rank == 1 || strides[0] == element || (-row < strides[0] && strides[0] < row);
}

// The elements of a buffer that correspond to those of the array.
device::ArrayMemory array_in_buffer(MPSNDArray* array, const BufferSide& side, NSString* method) {
  const BufferBytes& bytes = facade::bytes_of(side.buffer);
  device::ArrayLayout layout = memory_of(array).layout;
  layout.element_bytes = element_bytes(side.type, method);
  layout.pack();
  if (side.row_strides && layout.rank > 0) {
    const size_t first = begin_with_elements(side.row_strides, layout) ? 0 : 1;
    for (size_t i = first; i < layout.rank; ++i) layout.strides[layout.rank - 1 - i] = side.row_strides[i - first];
  }
  place_in(layout, bytes, side.offset, method);
  return {&device_of([side.buffer device]), bytes.storage, layout};
}

}  // namespace

@implementation MPSNDArray

- (instancetype)init {
  raise_invalid(@"[MPSNDArray] Use initWithDevice:descriptor: instead of init.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor {
  require_kind(descriptor, [MPSNDArrayDescriptor class]);
  const device::ArrayLayout layout = packed_layout(sliced_shape(descriptor), [descriptor dataType], @"MPSNDArray");
  device::Device& owner = device_of(device);
  std::shared_ptr<device::Storage> storage = allocate(owner, layout.end());
  if ((self = [super init])) {
    _impl = new ArrayParts{{&owner, std::move(storage), layout}, [device retain], [descriptor dataType]};
  }
  return self;
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor {
  require_kind(descriptor, [MPSNDArrayDescriptor class]);
  const BufferBytes& bytes = bytes_of(buffer);
  device::ArrayLayout layout = packed_layout(sliced_shape(descriptor), [descriptor dataType], @"initWithBuffer");
  if (![descriptor preferPackedRows]) layout.set_row_bytes(padded_bytes(layout.packed_row_bytes()));
  place_in(layout, bytes, offset, @"initWithBuffer");
  if ((self = [super init])) {
    id<MTLDevice> device = [buffer device];
    _impl = new ArrayParts{{&device_of(device), bytes.storage, layout}, [device retain], [descriptor dataType]};
    array_parts(self).buffer = Retained<id<MTLBuffer>>(buffer);
  }
  return self;
}

- (id<MTLBuffer>)userBuffer {
  return array_parts(self).buffer.get();
}

+ (id<MPSNDArrayAllocator>)defaultAllocator {
  static const id<MPSNDArrayAllocator> allocator = new_array_allocator(NO);
  return allocator;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device scalar:(double)value {
  NSUInteger length = 1;
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                   dimensionCount:1
                                                                   dimensionSizes:&length];
  if ((self = [self initWithDevice:device descriptor:descriptor])) {
    float single = static_cast<float>(value);
    [self writeBytes:&single strideBytes:nil];
  }
  return self;
}

- (void)dealloc {
  if (_impl) {
    [array_parts(self).device release];
    [array_parts(self).label release];
  }
  delete static_cast<ArrayParts*>(_impl);
  [super dealloc];
}

LABEL(array_parts(self).label)

GETTER(MPSDataType, dataType, array_parts(self).type)
GETTER(size_t, dataTypeSize, array_parts(self).memory.layout.element_bytes)
GETTER(NSUInteger, numberOfDimensions, array_parts(self).memory.layout.rank)
GETTER(id<MTLDevice>, device, array_parts(self).device)
GETTER(MPSNDArray*, parent, array_parts(self).parent.get())

- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex {
  const device::ArrayLayout& layout = array_parts(self).memory.layout;
  return dimensionIndex < layout.rank ? layout.lengths[layout.rank - 1 - dimensionIndex] : 1;
}

- (MPSNDArrayDescriptor*)descriptor {
  NSUInteger lengths[device::kMaxRank];
  const NSUInteger rank = [self numberOfDimensions];
  for (NSUInteger i = 0; i < rank; ++i) lengths[i] = [self lengthOfDimension:i];
  return [MPSNDArrayDescriptor descriptorWithDataType:[self dataType] dimensionCount:rank dimensionSizes:lengths];
}

- (MPSNDArray*)arrayViewWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                               descriptor:(MPSNDArrayDescriptor*)descriptor
                                 aliasing:(MPSAliasingStrategy)aliasing {
  owner_of(cmdBuf);  // raises if it is no command buffer
  require_kind(descriptor, [MPSNDArrayDescriptor class]);
  const bool may_copy = (aliasing & MPSAliasingStrategyShallAlias) == 0;
  const bool may_alias = (aliasing & MPSAliasingStrategyShallNotAlias) == 0;
  if (!may_copy && !may_alias) {
    raise_invalid(@"[arrayViewWithCommandBuffer] The strategy says both that it shall share memory and shall not.");
  }
  if (may_alias) {
    MPSNDArray* view = aliased_view(self, descriptor);
    if (view || !may_copy) return view;
  }
  return copied_view(self, cmdBuf, descriptor);
}

- (MPSNDArray*)arrayViewWithDescriptor:(MPSNDArrayDescriptor*)descriptor {
  require_kind(descriptor, [MPSNDArrayDescriptor class]);
  return aliased_view(self, descriptor);
}

- (MPSNDArray*)arrayViewWithShape:(MPSShape*)shape strides:(MPSShape*)strides {
  if (!shape) shape = [[self descriptor] getShape];
  device::ArrayLayout layout = packed_layout(shape, [self dataType], @"arrayViewWithShape");
  require_elements(strides, [NSNumber class]);
  if ([strides count] != layout.rank) {
    raise_invalid(@"[arrayViewWithShape] There are %lu strides for %lu dimensions.",
                  static_cast<unsigned long>([strides count]), static_cast<unsigned long>(layout.rank));
  }
  for (NSUInteger axis = 0; axis < layout.rank; ++axis) {
    const long long stride = [[strides objectAtIndex:axis] longLongValue];
    if (stride < 0 || stride > std::numeric_limits<int>::max()) {
      raise_invalid(@"[arrayViewWithShape] A stride is %lld, but strides go from 0 to %d.", stride,
                    std::numeric_limits<int>::max());
    }
    layout.strides[axis] = static_cast<ptrdiff_t>(stride) * static_cast<ptrdiff_t>(layout.element_bytes);
  }
  layout.offset = array_parts(self).memory.layout.offset;
  const size_t end = array_parts(self).memory.layout.end();
  return is_beyond_numbers(layout) || layout.end() > end ? nil : view_with(self, layout);
}

- (MPSNDArray*)arrayViewWithDimensionCount:(NSUInteger)numberOfDimensions
                            dimensionSizes:(const NSUInteger*)dimensionSizes
                                   strides:(const NSUInteger*)dimStrides {
  if (numberOfDimensions && (!dimensionSizes || !dimStrides)) {
    raise_invalid(@"[arrayViewWithDimensionCount] The sizes or the strides are NULL.");
  }
  NSMutableArray *shape = [NSMutableArray array], *strides = [NSMutableArray array];
  for (NSUInteger i = numberOfDimensions; i-- > 0;) {
    [shape addObject:[NSNumber numberWithUnsignedInteger:dimensionSizes[i]]];
    [strides addObject:[NSNumber numberWithUnsignedInteger:dimStrides[i]]];
  }
  return [self arrayViewWithShape:shape strides:strides];
}

- (void)exportDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                           toBuffer:(id<MTLBuffer>)buffer
                destinationDataType:(MPSDataType)destinationDataType
                             offset:(NSUInteger)offset
                         rowStrides:(NSInteger*)rowStrides {
  const BufferSide side{buffer, destinationDataType, offset, rowStrides};
  const device::ArrayMemory outside = array_in_buffer(self, side, @"exportDataWithCommandBuffer");
  count_read(self, @"exportDataWithCommandBuffer");
  encode_copy(cmdBuf, memory_of(self), [self dataType], outside, destinationDataType);
}

- (void)importDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                         fromBuffer:(id<MTLBuffer>)buffer
                     sourceDataType:(MPSDataType)sourceDataType
                             offset:(NSUInteger)offset
                         rowStrides:(NSInteger*)rowStrides {
  const BufferSide side{buffer, sourceDataType, offset, rowStrides};
  const device::ArrayMemory outside = array_in_buffer(self, side, @"importDataWithCommandBuffer");
  encode_copy(cmdBuf, outside, sourceDataType, memory_of(self), [self dataType]);
}

- (void)exportDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                           toImages:(MPSImageBatch*)images
                             offset:(MPSImageCoordinate)offset {
  refuse_images(@"exportDataWithCommandBuffer");
}

- (void)importDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                         fromImages:(MPSImageBatch*)images
                             offset:(MPSImageCoordinate)offset {
  refuse_images(@"importDataWithCommandBuffer");
}

- (NSUInteger)resourceSize {
  return array_parts(self).memory.storage->size();
}

- (void)readBytes:(void*)buffer strideBytes:(NSInteger*)strideBytesPerDimension {
  if (!buffer) raise_invalid(@"[readBytes] The buffer is NULL.");
  const device::ArrayMemory& memory = array_parts(self).memory;
  raise_thrown(
      [&] { device::read_array(*memory.device, *memory.storage, memory.layout, buffer, strideBytesPerDimension); });
}

- (void)writeBytes:(void*)buffer strideBytes:(NSInteger*)strideBytesPerDimension {
  if (!buffer) raise_invalid(@"[writeBytes] The buffer is NULL.");
  const device::ArrayMemory& memory = array_parts(self).memory;
  raise_thrown(
      [&] { device::write_array(*memory.device, *memory.storage, memory.layout, buffer, strideBytesPerDimension); });
}

- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  owner_of(commandBuffer);  // raises if it is no command buffer
}

@end
