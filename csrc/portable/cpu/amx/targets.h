// ALLOY_HAS_AMX says if kernels on AMX tiles can be compiled; machine().tiles says if the processor has tiles.
#pragma once

#include <hwy/base.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#define ALLOY_HAS_AMX 1
#else
#define ALLOY_HAS_AMX 0
#endif
// The instruction sets of functions that use tiles.
#define ALLOY_AMX_TARGETS "avx512f,avx512bw,avx512dq,amx-tile,amx-bf16"
