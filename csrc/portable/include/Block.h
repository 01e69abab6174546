// The C entry points of the blocks runtime.

#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// A block that outlives its scope: a copy on the heap, or the same block retained; released with
/// _Block_release. Safe from every thread.
void *_Block_copy(const void *block);

/// Gives back one copy; the last one disposes of what the block captured.
void _Block_release(const void *block);

#ifdef __cplusplus
}
#endif

#ifndef Block_copy
#define Block_copy(block) ((__typeof__(block))_Block_copy((const void *)(block)))
#endif
#ifndef Block_release
#define Block_release(block) _Block_release((const void *)(block))
#endif
