// The instruction sets for which SIMD kernels are compiled. Include this before Highway. x86-64: AVX-512, AVX2, SSE4
// and Highway's baseline; Arm: NEON alone, since values of SVE's vectors cannot be members of classes. Others cost
// compile time without a gain here.
#pragma once

#ifdef __aarch64__
#define HWY_COMPILE_ONLY_STATIC
#elif !defined(HWY_DISABLED_TARGETS)
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
