// Whether there are AMX tiles.
#pragma once

#include "cpu/simd/targets.h"

#include <hwy/base.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#define ALLOY_HAS_AMX 1
#else
#define ALLOY_HAS_AMX 0
#endif
// What functions that use them are compiled for.
#define ALLOY_AMX_TARGETS "avx512f,avx512bw,avx512dq,amx-tile,amx-bf16"

namespace alloy::cpu {

// Whether this process may use them. Not where Highway is told to do without what comes with them.
bool has_amx();

}  // namespace alloy::cpu
