// The memory of arrays, and what kernels do with it.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <memory>

#include "device/array_layout.h"
#include "facade/metal/metal.h"
#include "runtime/formulas.h"

// Says whether what a subclass makes for kernels is temporary; an archive says it, too.
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

// A new array over `storage`, or over new storage with undefined contents when null; retained for the caller.
MPSNDArray* new_array(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, const device::ArrayLayout& layout,
                      MPSDataType type) NS_RETURNS_RETAINED;

// New arrays over the memory of (matrices, rows, columns) and of (vectors, length), retained for the caller.
MPSNDArray* new_array_of(MPSMatrix* matrix) NS_RETURNS_RETAINED;
MPSNDArray* new_array_of(MPSVector* vector) NS_RETURNS_RETAINED;
// The same elements with that many dimensions, retained for the caller: with lengths of 1 before them, or the first
// dimensions as one. Raises where these have gaps, and for a rank of 0 or above kMaxRank.
MPSNDArray* new_array_of_rank(MPSNDArray* array, NSUInteger rank) NS_RETURNS_RETAINED;

// The memory of `array`; valid while the array lives.
const device::ArrayMemory& memory_of(MPSNDArray* array);

// The distance of rows of so many bytes where nobody says another one.
inline size_t padded_bytes(size_t bytes) { return (bytes + 15) / 16 * 16; }

// Bytes of an element; raises for a type that is invalid or narrower than a byte.
size_t element_bytes(MPSDataType type, NSString* method);

// What a view with a descriptor is, of an array of these lengths, from slow to fast, in the array's order.
struct ViewOfDescriptor {
  size_t rank;
  size_t lengths[device::kMaxRank];            // of the array, from fast to slow
  MPSDimensionSlice slices[device::kMaxRank];  // of each dimension of the view
  size_t order[device::kMaxRank];              // of each dimension of the view the array's
};
ViewOfDescriptor view_of(MPSNDArrayDescriptor* descriptor);
// The lengths of an array made with the descriptor, from slow to fast: those of its slices.
MPSShape* sliced_shape(MPSNDArrayDescriptor* descriptor);

// Puts the elements `offset` bytes from the start of a buffer; raises where they are not all inside.
void place_in(device::ArrayLayout& layout, const BufferBytes& bytes, NSUInteger offset, NSString* method);

// Raises the sentence of what needs images.
[[noreturn]] void refuse_images(NSString* method);

// An allocator of arrays, or of temporary ones, retained for the caller.
id<MPSNDArrayAllocator> new_array_allocator(BOOL temporary) NS_RETURNS_RETAINED;

// A temporary array of the class, retained for the caller, and how often it may still be read.
MPSNDArray* new_temporary_array(Class made, id<MTLCommandBuffer> buffer,
                                MPSNDArrayDescriptor* descriptor) NS_RETURNS_RETAINED;
NSUInteger& reads_left(MPSNDArray* array);

// Counts down what readCount says of a temporary object; raises where it is 0. Nothing for other objects.
void count_read(MPSNDArray* array, NSString* method);

// What setting a readCount does; raises where it was 0.
void set_reads_left(NSUInteger& present, NSUInteger reads);

// A new buffer, autoreleased; raises, naming `what`, where memory is short.
id<MTLBuffer> room_on(id<MTLDevice> device, size_t bytes, MTLResourceOptions options, NSString* what);
// A buffer of a command buffer, from a heap of its heap provider if there is one; what it is made of lives until the
// command buffer is done. Autoreleased.
id<MTLBuffer> temporary_buffer(id<MTLCommandBuffer> buffer, size_t bytes);
// Keeps an object until the command buffer is done.
void keep_until_done(id<MTLCommandBuffer> buffer, id object);

// The array with the type of its elements; raises for one that ir does not know.
runtime::TypedArray typed(const device::ArrayMemory& memory, MPSDataType type);
// Encodes what writes `formula` of the inputs to the result, if the predicate of the buffer holds then. Raises for what
// cannot be compiled.
void encode_formula(id<MTLCommandBuffer> buffer, runtime::Formulas& formulas,
                    const runtime::Formulas::Settings& settings, const runtime::Formulas::Formula& formula,
                    const std::vector<runtime::TypedArray>& inputs, const runtime::TypedArray& result);
// Encodes a copy of all elements to an array of the same shape, which may have another type.
void encode_copy(id<MTLCommandBuffer> buffer, const device::ArrayMemory& from, MPSDataType from_type,
                 const device::ArrayMemory& to, MPSDataType to_type);

}  // namespace alloy::facade
