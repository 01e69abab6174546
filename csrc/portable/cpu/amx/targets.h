// Whether kernels on AMX tiles can be compiled, and for what. Whether the processor has tiles is machine().tiles.
#pragma once

#include <hwy/base.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#define ALLOY_HAS_AMX 1
#else
#define ALLOY_HAS_AMX 0
#endif
// What functions that use tiles are compiled for.
#define ALLOY_AMX_TARGETS "avx512f,avx512bw,avx512dq,amx-tile,amx-bf16"
