// The blocks runtime: the published block ABI on GCC's Objective-C runtime. Blocks are objects that retain captured
// objects; counts are atomic. Refuses garbage collection and weak block variables.

#define ALLOY_DEFINES_BLOCKS
#import <Block.h>
#import <Foundation/Foundation.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

// Flags of a block literal.
enum : int32_t {
  kBlockNeedsFree = 1 << 24,
  kBlockHasCopyDispose = 1 << 25,
  kBlockIsGlobal = 1 << 28,
};

// The kinds of captured variables, for which the compiler's copy and dispose functions call the runtime.
enum : int {
  kFieldIsObject = 3,
  kFieldIsBlock = 7,
  kFieldIsByref = 8,
  kFieldIsWeak = 16,
  kFieldIsInByref = 128,
};

// Flags of a __block variable.
enum : int32_t {
  kByrefNeedsFree = 1 << 24,
  kByrefHasCopyDispose = 1 << 25,
};

struct BlockDescriptor {
  unsigned long reserved;
  unsigned long size;
  void (*copy)(void* to, const void* from);  // only with kBlockHasCopyDispose
  void (*dispose)(const void* block);
};

struct BlockLiteral {
  Class isa;
  int32_t flags;
  int32_t owners;  // reserved by the ABI for the runtime: the count of a block on the heap
  void (*invoke)(void*, ...);
  BlockDescriptor* descriptor;
};

struct Byref {
  void* isa;
  Byref* forwarding;
  int32_t flags;
  uint32_t size;
  void (*copy)(void* to, void* from);  // only with kByrefHasCopyDispose
  void (*dispose)(void* byref);
};

// A __block variable on the heap lies behind its count, because the ABI has no room for a wide count.
struct alignas(16) ByrefHeader {
  std::atomic<intptr_t> owners;
};

ByrefHeader* header_of(Byref* byref) { return reinterpret_cast<ByrefHeader*>(byref) - 1; }

// Moves the variable to the heap the first time and adds an owner; from then on its blocks and its scope share it.
Byref* copy_byref(Byref* source) {
  Byref* byref = source->forwarding;
  if (byref->flags & kByrefNeedsFree) {
    header_of(byref)->owners.fetch_add(1, std::memory_order_relaxed);
    return byref;
  }
  auto* header = static_cast<ByrefHeader*>(
      std::aligned_alloc(alignof(ByrefHeader), (sizeof(ByrefHeader) + byref->size + 15) / 16 * 16));
  if (!header) std::abort();
  new (header) ByrefHeader{2};  // the copying block and the scope of the variable
  auto* heap = reinterpret_cast<Byref*>(header + 1);
  std::memcpy(static_cast<void*>(heap), byref, byref->size);
  heap->flags |= kByrefNeedsFree;
  heap->forwarding = heap;
  byref->forwarding = heap;
  if (byref->flags & kByrefHasCopyDispose) byref->copy(heap, byref);
  return heap;
}

void release_byref(const void* variable) {
  Byref* byref = static_cast<const Byref*>(variable)->forwarding;
  if (!(byref->flags & kByrefNeedsFree)) return;
  if (header_of(byref)->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (byref->flags & kByrefHasCopyDispose) byref->dispose(byref);
  std::free(header_of(byref));
}

std::atomic_ref<int32_t> owners_of(BlockLiteral* block) { return std::atomic_ref<int32_t>(block->owners); }

}  // namespace

// The base of all blocks. Their memory and counts follow the block ABI, not NSObject.
@interface AlloyBlock : NSObject <NSCopying>
@end

// A block literal in its scope, on the stack.
@interface AlloyStackBlock : AlloyBlock
@end

// A block that captures nothing.
@interface AlloyGlobalBlock : AlloyBlock
@end

// A copy on the heap.
@interface AlloyMallocBlock : AlloyBlock
@end

// Compilers use other names for the classes of blocks. clang names the class object of a class _OBJC_CLASS_<name>, so
// the other names can be defined as aliases of it.
#define ALLOY_BLOCK_CLASS(abi_name, class_name) \
  asm(".globl " #abi_name "\n"                  \
      ".type " #abi_name ", @object\n"          \
      ".set " #abi_name ", _OBJC_CLASS_" #class_name)
ALLOY_BLOCK_CLASS(_NSConcreteStackBlock, AlloyStackBlock);
ALLOY_BLOCK_CLASS(_NSConcreteGlobalBlock, AlloyGlobalBlock);
ALLOY_BLOCK_CLASS(_NSConcreteMallocBlock, AlloyMallocBlock);

#define ALLOY_EXPORT __attribute__((visibility("default")))

extern "C" {

extern char alloy_malloc_block_class[] asm("_OBJC_CLASS_AlloyMallocBlock");

ALLOY_EXPORT void* alloy_Block_copy(const void* argument) {
  auto* block = static_cast<BlockLiteral*>(const_cast<void*>(argument));
  if (!block || (block->flags & kBlockIsGlobal)) return block;
  if (block->flags & kBlockNeedsFree) {
    owners_of(block).fetch_add(1, std::memory_order_relaxed);
    return block;
  }
  auto* heap = static_cast<BlockLiteral*>(std::malloc(block->descriptor->size));
  if (!heap) return nullptr;
  std::memcpy(static_cast<void*>(heap), block, block->descriptor->size);
  heap->isa = reinterpret_cast<Class>(alloy_malloc_block_class);
  heap->flags |= kBlockNeedsFree;
  heap->owners = 1;
  if (heap->flags & kBlockHasCopyDispose) heap->descriptor->copy(heap, block);
  return heap;
}

// Sends a message, because libAlloyObjC replaces this method to notice when the last owner releases a block.
ALLOY_EXPORT void alloy_Block_release(const void* argument) { [static_cast<id>(const_cast<void*>(argument)) release]; }

// The compiler's copy function of a block or a __block variable calls it for each captured value that needs it.
ALLOY_EXPORT void alloy_Block_object_assign(void* to, const void* value, const int kind) {
  const void* kept = value;
  // A __block variable of object type does not retain: manual counting breaks cycles in this way.
  if (kind & kFieldIsInByref) {
  } else if (kind & kFieldIsByref) {
    kept = copy_byref(static_cast<Byref*>(const_cast<void*>(value)));
  } else if ((kind & kFieldIsBlock) == kFieldIsBlock) {
    kept = alloy_Block_copy(value);
  } else if ((kind & kFieldIsObject) == kFieldIsObject) {
    [static_cast<id>(const_cast<void*>(value)) retain];
  }
  *static_cast<const void**>(to) = kept;
}

// The compiler's dispose function calls it, and so does the end of the scope of a __block variable.
ALLOY_EXPORT void alloy_Block_object_dispose(const void* value, const int kind) {
  if (kind & kFieldIsInByref) return;
  if (kind & kFieldIsByref) {
    release_byref(value);
  } else if ((kind & kFieldIsBlock) == kFieldIsBlock) {
    alloy_Block_release(value);
  } else if ((kind & kFieldIsObject) == kFieldIsObject) {
    [static_cast<id>(const_cast<void*>(value)) release];
  }
}

// The ABI's names, for code compiled without our Block.h.
ALLOY_EXPORT void* _Block_copy(const void* block) __attribute__((alias("alloy_Block_copy")));
ALLOY_EXPORT void _Block_release(const void* block) __attribute__((alias("alloy_Block_release")));
ALLOY_EXPORT void _Block_object_assign(void* to, const void* value, const int kind)
    __attribute__((alias("alloy_Block_object_assign")));
ALLOY_EXPORT void _Block_object_dispose(const void* value, const int kind)
    __attribute__((alias("alloy_Block_object_dispose")));

}  // extern "C"

@implementation AlloyBlock

- (id)copyWithZone:(NSZone*)zone {
  (void)zone;
  return static_cast<id>(alloy_Block_copy(self));
}

- (id)copy {
  return static_cast<id>(alloy_Block_copy(self));
}

// Retaining a block on the stack copies it to the heap: programs written for automatic counting expect that of
// collections.
- (id)retain {
  return static_cast<id>(alloy_Block_copy(self));
}

- (oneway void)release {
  auto* block = reinterpret_cast<BlockLiteral*>(self);
  if (!(block->flags & kBlockNeedsFree)) return;
  if (owners_of(block).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block->flags & kBlockHasCopyDispose) block->descriptor->dispose(block);
  std::free(block);
}

- (NSUInteger)retainCount {
  auto* block = reinterpret_cast<BlockLiteral*>(self);
  return block->flags & kBlockNeedsFree ? static_cast<NSUInteger>(owners_of(block).load()) : NSUIntegerMax;
}

@end

@implementation AlloyStackBlock
@end

@implementation AlloyGlobalBlock
@end

@implementation AlloyMallocBlock
@end
