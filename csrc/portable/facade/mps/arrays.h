// The memory of arrays, and the work of kernels on it.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <memory>

#include "device/array_layout.h"
#include "facade/metal/metal.h"
#include "runtime/formulas.h"

// Tells if the objects that a subclass makes for kernels are temporary; archives keep this.
@interface AlloyAllocator : NSObject <NSSecureCoding> {
 @package
  BOOL _isTemporary;
}
+ (instancetype)newTemporary:(BOOL)temporary;
@end

namespace alloy::facade {

// The packed layout of `shape`; raises, naming `method`, unless all lengths are positive, there are at most
// kMaxRank of them and the number of elements fits an int.
device::ArrayLayout packed_layout(MPSShape* shape, MPSDataType type, NSString* method);

// A new array over `storage`; if that is null, over new storage with undefined contents. Retained for the caller.
MPSNDArray* new_array(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, const device::ArrayLayout& layout,
                      MPSDataType type) NS_RETURNS_RETAINED;

// New arrays over the memory of matrices, (matrices, rows, columns), and of vectors, (vectors, length); retained for
// the caller.
MPSNDArray* new_array_of(MPSMatrix* matrix) NS_RETURNS_RETAINED;
MPSNDArray* new_array_of(MPSVector* vector) NS_RETURNS_RETAINED;
// The same elements with `rank` dimensions, retained for the caller: adds leading lengths of 1, or merges the first
// dimensions. Raises if merged dimensions have gaps, and for a rank of 0 or above kMaxRank.
MPSNDArray* new_array_of_rank(MPSNDArray* array, NSUInteger rank) NS_RETURNS_RETAINED;

// The memory of `array`; valid while the array lives.
const device::ArrayMemory& memory_of(MPSNDArray* array);

// The default distance of rows with `bytes` bytes.
inline size_t padded_bytes(size_t bytes) { return (bytes + 15) / 16 * 16; }

// Bytes of an element; raises for an invalid type or one narrower than a byte.
size_t element_bytes(MPSDataType type, NSString* method);

// The descriptor's view of an array with these lengths, from the slowest to the fastest, in the array's order.
struct ViewOfDescriptor {
  size_t rank;
  size_t lengths[device::kMaxRank];            // of the array, from the fastest to the slowest
  MPSDimensionSlice slices[device::kMaxRank];  // of each dimension of the view
  size_t order[device::kMaxRank];              // for each dimension of the view its number in the array
};
ViewOfDescriptor view_of(MPSNDArrayDescriptor* descriptor);
// The lengths of an array made with the descriptor: those of its slices, from the slowest to the fastest.
MPSShape* sliced_shape(MPSNDArrayDescriptor* descriptor);

// Places the elements `offset` bytes from the start of a buffer; raises if they are not all inside.
void place_in(device::ArrayLayout& layout, const BufferBytes& bytes, NSUInteger offset, NSString* method);

// Raises the error for everything that needs images.
[[noreturn]] void refuse_images(NSString* method);

// An allocator of arrays, or of temporary ones, retained for the caller.
id<MPSNDArrayAllocator> new_array_allocator(BOOL temporary) NS_RETURNS_RETAINED;

// A temporary array of the class, retained for the caller, with its count of reads.
MPSNDArray* new_temporary_array(Class made, id<MTLCommandBuffer> buffer,
                                MPSNDArrayDescriptor* descriptor) NS_RETURNS_RETAINED;
NSUInteger& reads_left(MPSNDArray* array);

// Counts a read of a temporary object; raises if its readCount is 0. Does nothing for other objects.
void count_read(MPSNDArray* array, NSString* method);

// Implements setting a readCount; raises if it was 0.
void set_reads_left(NSUInteger& present, NSUInteger reads);

// A new buffer, autoreleased; raises, naming `what`, if memory is short.
id<MTLBuffer> room_on(id<MTLDevice> device, size_t bytes, MTLResourceOptions options, NSString* what);
// A buffer for a command buffer's work, autoreleased, from a heap of its heap provider if there is one. Its memory
// lives until the command buffer is done.
id<MTLBuffer> temporary_buffer(id<MTLCommandBuffer> buffer, size_t bytes);
// Keeps an object until the command buffer is done.
void keep_until_done(id<MTLCommandBuffer> buffer, id object);

// The array with its element type; raises for a type that ir does not know.
runtime::TypedArray typed(const device::ArrayMemory& memory, MPSDataType type);
// Encodes work that writes `formula` of the inputs to the result if the buffer's predicate is true. Raises if the
// formula cannot be compiled.
void encode_formula(id<MTLCommandBuffer> buffer, runtime::Formulas& formulas,
                    const runtime::Formulas::Settings& settings, const runtime::Formulas::Formula& formula,
                    const std::vector<runtime::TypedArray>& inputs, const runtime::TypedArray& result);
// Encodes a copy of all elements to an array of the same shape, which may have another element type.
void encode_copy(id<MTLCommandBuffer> buffer, const device::ArrayMemory& from, MPSDataType from_type,
                 const device::ArrayMemory& to, MPSDataType to_type);

}  // namespace alloy::facade
