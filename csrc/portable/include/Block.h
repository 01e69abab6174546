// The C entry points of the blocks runtime.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// A block that outlives its scope: a copy on the heap, or the same block retained. Release it with _Block_release.
/// Safe from every thread.
void* _Block_copy(const void* block);

/// Releases one copy; releasing the last one also releases the objects that the block captured.
void _Block_release(const void* block);

#ifdef __cplusplus
}
#endif

#ifndef Block_copy
#define Block_copy(block) ((__typeof__(block))_Block_copy((const void*)(block)))
#endif
#ifndef Block_release
#define Block_release(block) _Block_release((const void*)(block))
#endif

// The GNUstep library exports incomplete functions under the names that compilers use for blocks, and the library that
// is loaded first wins. Code compiled with this header uses the functions of this framework under other names. A linker
// that drops libraries without strong references would drop this one, hence the strong reference.
#if defined(__BLOCKS__) && defined(__ELF__) && !defined(ALLOY_DEFINES_BLOCKS)
__asm__(
    ".globl alloy_Block_copy\n"
    ".weakref _Block_copy, alloy_Block_copy\n"
    ".weakref _Block_release, alloy_Block_release\n"
    ".weakref _Block_object_assign, alloy_Block_object_assign\n"
    ".weakref _Block_object_dispose, alloy_Block_object_dispose\n"
    ".weakref _NSConcreteStackBlock, _OBJC_CLASS_AlloyStackBlock\n"
    ".weakref _NSConcreteGlobalBlock, _OBJC_CLASS_AlloyGlobalBlock");
#endif
