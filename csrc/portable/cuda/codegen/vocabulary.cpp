#include "cuda/codegen/vocabulary.h"

namespace alloy::cuda {

const char* const kVocabulary = R"cuda(
typedef long long i64;
typedef unsigned long long u64;

template <int P, int N>
struct Arguments {
  char* p[P];
  i64 n[N];
};

// ---- loops ----

__device__ inline i64 first_index() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline i64 index_step() { return (i64)gridDim.x * blockDim.x; }
// The part of a launch's work with which this block begins, if block `later` has the first part.
__device__ inline unsigned first_part(unsigned later) {
  if (later >= gridDim.x) later = 0;
  return blockIdx.x >= later ? blockIdx.x - later : blockIdx.x + gridDim.x - later;
}

// Most numbers fit into 32 bits, and dividing those is several times as fast. The other way is a function of its own,
// because its many instructions in many places would take long to compile.
__device__ __noinline__ i64 long_quotient(i64 a, i64 b) { return a / b; }
__device__ inline i64 quotient(i64 a, i64 b) {
  return ((a | b) >> 32) == 0 ? (i64)((unsigned)a / (unsigned)b) : long_quotient(a, b);
}

// A quotient of a number below 2^31, by the divisor's reciprocal: a multiplier, and above its 32 bits, a shift.
__device__ inline int divided(int a, i64 reciprocal) {
  return (int)((u64)(unsigned)a * (unsigned)reciprocal >> (int)(reciprocal >> 32));
}

// The place of element `i` of an array with R axes of these lengths, by the steps along each axis.
template <int R>
__device__ inline i64 place(i64 i, const i64* lengths, const i64* steps) {
  i64 at = 0;
#pragma unroll
  for (int axis = R - 1; axis > 0; --axis) {
    const i64 rest = quotient(i, lengths[axis]);
    at += (i - rest * lengths[axis]) * steps[axis];
    i = rest;
  }
  return R > 0 ? at + i * steps[0] : 0;
}

// ---- elements: what arrays hold; numbers: what computes ----

struct Half { unsigned short bits; };
struct BFloat { unsigned short bits; };
struct Bool { unsigned char byte; };

template <class T> struct Element { typedef int Number; };  // integers of less than 32 bits, and int
template <> struct Element<float> { typedef float Number; };
template <> struct Element<Half> { typedef float Number; };
template <> struct Element<BFloat> { typedef float Number; };
template <> struct Element<unsigned int> { typedef i64 Number; };
template <> struct Element<i64> { typedef i64 Number; };
template <> struct Element<u64> { typedef u64 Number; };
template <class T> using NumberOf = typename Element<T>::Number;

template <class N> struct Properties { static const bool kFloats = false; typedef unsigned int Unsigned; };
template <> struct Properties<float> { static const bool kFloats = true; typedef float Unsigned; };
template <> struct Properties<double> { static const bool kFloats = true; typedef double Unsigned; };
template <> struct Properties<i64> { static const bool kFloats = false; typedef u64 Unsigned; };
template <> struct Properties<u64> { static const bool kFloats = false; typedef u64 Unsigned; };
template <class N> using UnsignedOf = typename Properties<N>::Unsigned;

__device__ inline float infinity() { return __int_as_float(0x7f800000); }
__device__ inline float not_a_number() { return __int_as_float(0x7fc00000); }

template <class T>
__device__ inline NumberOf<T> number(T x) { return (NumberOf<T>)x; }
__device__ inline float number(BFloat x) { return __uint_as_float((unsigned)x.bits << 16); }
__device__ inline float number(Half x) {
  const unsigned sign = (unsigned)x.bits << 16 & 0x80000000u, rest = x.bits & 0x7fffu;
  if (rest < 0x400u) return __uint_as_float(sign | __float_as_uint((float)rest * 5.9604644775390625e-8f));
  return __uint_as_float(sign | ((rest << 13) + (rest < 0x7c00u ? 0x38000000u : 0x70000000u)));
}
__device__ inline int number(Bool x) { return x.byte; }

template <class T>
struct Convert {
  template <class N>
  __device__ static T from(N x) { return (T)x; }
};
// Rounds to nearest, ties to even.
template <>
struct Convert<BFloat> {
  __device__ static BFloat from(float number) {
    const unsigned x = __float_as_uint(number);
    const unsigned bits = (x & 0x7fffffffu) > 0x7f800000u ? x >> 16 | 0x40u : (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
    return BFloat{(unsigned short)bits};
  }
};
template <>
struct Convert<Half> {
  __device__ static Half from(float number) {
    const unsigned all = __float_as_uint(number), sign = all >> 16 & 0x8000u, x = all & 0x7fffffffu;
    unsigned y = 0x7c00u;
    if (x > 0x7f800000u) y = 0x7e00u;
    else if (x < 0x38800000u) y = __float_as_uint(__uint_as_float(x) + 0.5f) - 0x3f000000u;
    else if (x < 0x477ff000u) y = (x - 0x38000000u + 0xfffu + (x >> 13 & 1u)) >> 13;
    return Half{(unsigned short)(sign | y)};
  }
};
template <>
struct Convert<Bool> {
  template <class N>
  __device__ static Bool from(N x) { return Bool{(unsigned char)(x != 0)}; }
};
template <class T, class N>
__device__ inline T element(N x) { return Convert<T>::from(x); }

template <class T>
__device__ inline NumberOf<T> load(const T* from, i64 at) { return number(from[at]); }
template <class T, class N>
__device__ inline void store(T* to, i64 at, N x) { to[at] = element<T>(x); }
// Four neighbours in memory, the first of which is a multiple of 4: at most 16 bytes are read or written at once.
template <class N> struct Four { N x[4]; };
// Neighbours in memory that are read or written at once.
template <class T, int COUNT>
struct __align__(COUNT * sizeof(T) < 16 ? COUNT * sizeof(T) : 16) Adjacent { T x[COUNT]; };
template <class N>
__device__ inline Four<N> four_times(N x) { return {x, x, x, x}; }
template <class F>
__device__ inline auto each_of_four(const F& f, i64 at) {
  return Four<decltype(f(at))>{f(at), f(at + 1), f(at + 2), f(at + 3)};
}
template <class T>
__device__ inline Four<NumberOf<T>> load_four(const T* from, i64 at) {
  const Adjacent<T, 4> four = *(const Adjacent<T, 4>*)(from + at);
  return {number(four.x[0]), number(four.x[1]), number(four.x[2]), number(four.x[3])};
}
template <class T, class N>
__device__ inline void store_four(T* to, i64 at, const Four<N>& four) {
  const Adjacent<T, 4> elements = {element<T>(four.x[0]), element<T>(four.x[1]), element<T>(four.x[2]),
                                   element<T>(four.x[3])};
  *(Adjacent<T, 4>*)(to + at) = elements;
}
// The same number. The compiler would move the read of a float to where it is used, perhaps behind a branch, and then
// one read would wait for the other.
template <class N>
__device__ inline N read_now(N x) { return x; }
#if defined(__CUDACC__)
__device__ inline float read_now(float x) {
  asm volatile("" : "+f"(x));
  return x;
}
#endif
// The number that an element of this type keeps.
template <class T, class N>
__device__ inline NumberOf<T> kept(N x) { return number(element<T>(x)); }

// Floats become integers by truncation, clamped to the type's range, and NaN becomes 0.
template <class T>
__device__ inline NumberOf<T> clamped(float x, double low, double behind, T least, T most) {
  if (x != x) return 0;
  return x >= behind ? number(most) : x < low ? number(least) : number((T)x);
}
template <class T>
struct Cast {
  template <class N>
  __device__ static NumberOf<T> from(N x) { return kept<T>(x); }
};
#define ALLOY_CAST(type, low, behind, least, most)                                                              \
  template <>                                                                                                   \
  struct Cast<type> {                                                                                           \
    template <class N>                                                                                          \
    __device__ static NumberOf<type> from(N x) { return number((type)x); }                                      \
    __device__ static NumberOf<type> from(float x) { return clamped<type>(x, low, behind, (type)least, (type)most); } \
  };
ALLOY_CAST(signed char, -128.0, 128.0, -128, 127)
ALLOY_CAST(short, -32768.0, 32768.0, -32768, 32767)
ALLOY_CAST(int, -2147483648.0, 2147483648.0, (-2147483647 - 1), 2147483647)
ALLOY_CAST(i64, -9223372036854775808.0, 9223372036854775808.0, (-9223372036854775807LL - 1), 9223372036854775807LL)
ALLOY_CAST(unsigned char, 0.0, 256.0, 0, 255)
ALLOY_CAST(unsigned short, 0.0, 65536.0, 0, 65535)
ALLOY_CAST(unsigned int, 0.0, 4294967296.0, 0, 4294967295u)
ALLOY_CAST(u64, 0.0, 18446744073709551616.0, 0, 18446744073709551615ULL)

// ---- the functions of ops.def; d is a value of the number's type; integers wrap around ----

template <class N> __device__ inline N Zero(N) { return 0; }
template <class N> __device__ inline N One(N) { return 1; }
__device__ inline float Lowest(float) { return -infinity(); }
__device__ inline double Lowest(double) { return -infinity(); }
__device__ inline int Lowest(int) { return -2147483647 - 1; }
__device__ inline i64 Lowest(i64) { return -9223372036854775807LL - 1; }
__device__ inline u64 Lowest(u64) { return 0; }
__device__ inline float Highest(float) { return infinity(); }
__device__ inline double Highest(double) { return infinity(); }
__device__ inline int Highest(int) { return 2147483647; }
__device__ inline i64 Highest(i64) { return 9223372036854775807LL; }
__device__ inline u64 Highest(u64) { return 18446744073709551615ULL; }

template <class N> __device__ inline bool Eq(N, N a, N b) { return a == b; }
template <class N> __device__ inline bool Ne(N, N a, N b) { return a != b; }
template <class N> __device__ inline bool Lt(N, N a, N b) { return a < b; }
template <class N> __device__ inline bool Gt(N, N a, N b) { return a > b; }
template <class N> __device__ inline bool Le(N, N a, N b) { return a <= b; }
template <class N> __device__ inline bool Ge(N, N a, N b) { return a >= b; }
template <class N, class P> __device__ inline N IfThenElse(N, P p, N yes, N no) { return p ? yes : no; }

// Min and Max skip NaN.
template <class N> __device__ inline N Min(N, N a, N b) { return a < b ? a : b; }
template <class N> __device__ inline N Max(N, N a, N b) { return a > b ? a : b; }
__device__ inline float Min(float, float a, float b) { return fminf(a, b); }
__device__ inline float Max(float, float a, float b) { return fmaxf(a, b); }
__device__ inline float MinOrNaN(float, float a, float b) { return a != a || b != b ? not_a_number() : fminf(a, b); }
__device__ inline float MaxOrNaN(float, float a, float b) { return a != a || b != b ? not_a_number() : fmaxf(a, b); }

template <class N> __device__ inline N Add(N, N a, N b) { return (N)((UnsignedOf<N>)a + (UnsignedOf<N>)b); }
template <class N> __device__ inline N Sub(N, N a, N b) { return (N)((UnsignedOf<N>)a - (UnsignedOf<N>)b); }
template <class N> __device__ inline N Mul(N, N a, N b) { return (N)((UnsignedOf<N>)a * (UnsignedOf<N>)b); }
// Dividing an integer by 0 gives 0.
template <class N> __device__ inline N Div(N d, N a, N b) {
  return b == 0 ? 0 : (N)-1 < 0 && b == (N)-1 ? Sub(d, (N)0, a) : a / b;
}
__device__ inline float Div(float, float a, float b) { return a / b; }
__device__ inline float DivNoNan(float, float a, float b) { return b == 0 ? 0 : a / b; }
template <class N> __device__ inline N Pow(N d, N a, N b) {
  if ((N)-1 < 0 && b < 0) return a == 1 ? 1 : a == (N)-1 ? (b % 2 == 0 ? 1 : (N)-1) : 0;
  N power = 1;
  for (; b > 0; b >>= 1, a = Mul(d, a, a)) {
    if (b % 2 == 1) power = Mul(d, power, a);
  }
  return power;
}
__device__ inline float Pow(float, float a, float b) { return powf(a, b); }
template <class N> __device__ inline N Neg(N d, N x) { return Sub(d, (N)0, x); }
__device__ inline float Neg(float, float x) { return -x; }
template <class N> __device__ inline N Abs(N d, N x) { return x < 0 ? Neg(d, x) : x; }
__device__ inline float Abs(float, float x) { return fabsf(x); }
// x itself if it is zero; 0 for NaN.
template <class N> __device__ inline N Sign(N, N x) { return x > 0 ? (N)1 : x < 0 ? (N)-1 : x == 0 ? x : (N)0; }

template <class N> __device__ inline N Truth(N, N x) { return x != 0; }
template <class N> __device__ inline N Not(N, N x) { return x == 0; }
template <class N> __device__ inline N And(N, N a, N b) { return a != 0 && b != 0; }
template <class N> __device__ inline N Or(N, N a, N b) { return a != 0 || b != 0; }
template <class N> __device__ inline N Xor(N, N a, N b) { return (a != 0) != (b != 0); }

__device__ inline bool IsNaN(float, float x) { return x != x; }
__device__ inline bool IsInf(float, float x) { return fabsf(x) == infinity(); }
__device__ inline bool IsFinite(float, float x) { return fabsf(x) < infinity(); }
__device__ inline float Sqrt(float, float x) { return sqrtf(x); }
__device__ inline float Exp(float, float x) { return expf(x); }
__device__ inline float Log(float, float x) { return logf(x); }
__device__ inline float Log2(float, float x) { return log2f(x); }
__device__ inline float Log10(float, float x) { return log10f(x); }
__device__ inline float Exp2(float, float x) { return exp2f(x); }
__device__ inline float Exp10(float, float x) { return exp10f(x); }
__device__ inline float Tanh(float, float x) { return tanhf(x); }
__device__ inline float Sigmoid(float, float x) { return 1 / (1 + expf(-x)); }
__device__ inline float Erf(float, float x) { return erff(x); }
__device__ inline float Sin(float, float x) { return sinf(x); }
__device__ inline float Cos(float, float x) { return cosf(x); }
__device__ inline float Tan(float, float x) { return tanf(x); }
__device__ inline float Sinh(float, float x) { return sinhf(x); }
__device__ inline float Cosh(float, float x) { return coshf(x); }
__device__ inline float Asin(float, float x) { return asinf(x); }
__device__ inline float Acos(float, float x) { return acosf(x); }
__device__ inline float Atan(float, float x) { return atanf(x); }
__device__ inline float Asinh(float, float x) { return asinhf(x); }
__device__ inline float Acosh(float, float x) { return acoshf(x); }
__device__ inline float Atanh(float, float x) { return atanhf(x); }
__device__ inline float Atan2(float, float a, float b) { return atan2f(a, b); }

// Integers are unchanged.
template <class N> __device__ inline N Floor(N, N x) { return x; }
template <class N> __device__ inline N Ceil(N, N x) { return x; }
template <class N> __device__ inline N Round(N, N x) { return x; }
template <class N> __device__ inline N Rint(N, N x) { return x; }
template <class N> __device__ inline N Trunc(N, N x) { return x; }
__device__ inline float Floor(float, float x) { return floorf(x); }
__device__ inline float Ceil(float, float x) { return ceilf(x); }
__device__ inline float Round(float, float x) { return roundf(x); }
__device__ inline float Rint(float, float x) { return rintf(x); }
__device__ inline float Trunc(float, float x) { return truncf(x); }

template <class N> __device__ inline N SignBit(N, N x) { return x < 0; }
__device__ inline float SignBit(float, float x) { return __float_as_int(x) < 0; }
template <class N> __device__ inline N Mod(N d, N a, N b) { return Sub(d, a, Mul(d, Div(d, a, b), b)); }
__device__ inline float Mod(float, float a, float b) { return fmodf(a, b); }
template <class N> __device__ inline N FloorMod(N d, N a, N b) {
  if (b == 0) return 0;
  const N rest = Mod(d, a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? Add(d, rest, b) : rest;
}
template <class N> __device__ inline N BitNot(N, N x) { return ~x; }
template <class N> __device__ inline N BitAnd(N, N a, N b) { return a & b; }
template <class N> __device__ inline N BitOr(N, N a, N b) { return a | b; }
template <class N> __device__ inline N BitXor(N, N a, N b) { return a ^ b; }
template <class N> __device__ inline N PopulationCount(N, N x) {
  N count = 0;
  for (UnsignedOf<N> bits = (UnsignedOf<N>)x; bits != 0; bits &= bits - 1) ++count;
  return count;
}
template <class N> __device__ inline N ShiftLeft(N, N a, N b) {
  return b < 0 || b >= (N)(8 * sizeof(N)) ? 0 : (N)((UnsignedOf<N>)a << b);
}
template <class N> __device__ inline N ShiftRight(N, N a, N b) {
  return b < 0 || b >= (N)(8 * sizeof(N)) ? (a < 0 ? (N)-1 : (N)0) : a >> b;
}

// ---- threads of a block ----

// Memory of a block. Functions that a merged launch calls share it: they use it behind a barrier.
template <int BYTES>
__device__ inline char* shared_memory() {
  __shared__ __align__(16) char bytes[BYTES];
  return bytes;
}

// What the threads of this warp get of each other's value, 32 bits after the other.
template <class A, class Exchange>
__device__ inline A exchanged(A own, const Exchange& exchange) {
  const int kWords = (sizeof(A) + 3) / 4;
  unsigned words[kWords] = {};
  memcpy(words, &own, sizeof(A));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = exchange(words[i]);
  memcpy(&own, words, sizeof(A));
  return own;
}
// The value of the thread of this warp whose number is higher by `by`.
template <class A>
__device__ inline A from_neighbour(A own, int by) {
  return exchanged(own, [&](unsigned word) { return __shfl_down_sync(0xffffffffu, word, by); });
}
// The value of the thread of this warp whose number differs by `by`, a power of two.
template <class A>
__device__ inline A from_partner(A own, int by) {
  return exchanged(own, [&](unsigned word) { return __shfl_xor_sync(0xffffffffu, word, by); });
}
// The value of the first thread of this warp, or of so many neighbours.
template <int COUNT = 32, class A>
__device__ inline A from_first(A own) {
  return exchanged(own, [&](unsigned word) {
    return __shfl_sync(0xffffffffu, word, threadIdx.x % 32 / COUNT * COUNT);
  });
}

// Merges the values of each ACROSSth thread, always in the same order: in a warp by a tree, then one warp after the
// other. All of these threads get the result. ACROSS is a power of two, blockDim.x a multiple of it and of 32.
template <int ACROSS = 1, class A, class Merge>
__device__ inline A merged_in_block(A own, A* shared, const Merge& merge) {
  const unsigned kKept = ACROSS < 32 ? ACROSS : 32, lane = threadIdx.x % 32, column = threadIdx.x % ACROSS;
#pragma unroll
  for (int by = 16; by >= ACROSS; by /= 2) own = merge(own, from_neighbour(own, by));
  __syncthreads();
  if (lane < kKept) shared[threadIdx.x / 32 * kKept + lane] = own;
  __syncthreads();
  A all = shared[column];
  for (unsigned i = column + ACROSS; i < blockDim.x / 32 * kKept; i += ACROSS) all = merge(all, shared[i]);
  return all;
}

// Orders what this thread, and those that it waited for, have read and written before what it does later, for the GPU.
#if defined(__CUDACC__)
__device__ inline void fence_of_memory() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
#else
inline void fence_of_memory() {}
#endif

// Counts a block that has written what the last one of `count` reads, and is true in that one, for all threads. The
// counter is zero before the first block comes and behind the last one.
__device__ inline bool comes_last(unsigned* counter, unsigned count) {
  __syncthreads();
  unsigned before = 0;
  if (threadIdx.x == 0) {
    fence_of_memory();
    before = atomicInc(counter, count - 1);
    fence_of_memory();
  }
  return __syncthreads_or(threadIdx.x == 0 && before == count - 1);
}

// ---- blocks of a cluster, or where there are none, one block: all threads see what the others wrote before ----

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define ALLOY_CLUSTER(blocks, rows) __cluster_dims__(blocks, rows, 1)
const bool kHasClusters = true;
// Waits for all threads; they may still write.
__device__ inline void wait_for_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// One thread waits until what the block wrote can be seen, which takes less time than if all did.
__device__ inline void cluster_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  __syncwarp();
  wait_for_cluster();
}
// Waits for the launches that this one follows. Those that follow it may begin, and wait, when all of its blocks have
// waited: if several in a row began before, they would slow down the one that works.
__device__ inline void begin_launch() {
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;" ::: "memory");
}
#else
#define ALLOY_CLUSTER(blocks, rows)
const bool kHasClusters = false;
__device__ inline void wait_for_cluster() { __syncthreads(); }
__device__ inline void cluster_barrier() { __syncthreads(); }
__device__ inline void begin_launch() {}
#endif
__device__ inline bool is_true(const char* predicate, int bytes) {
  bool any = false;
  for (int i = 0; i < bytes; ++i) any = any || predicate[i] != 0;
  return any;
}
// The host, too, sees what the threads wrote before.
__device__ inline void barrier_for_host() {
  __syncthreads();
  if (threadIdx.x == 0) __threadfence_system();
  __syncwarp();
  wait_for_cluster();
}
)cuda";

}  // namespace alloy::cuda
