// An imitation of NVIDIA's compiler, libnvrtc.so.13: g++ compiles the text to a shared library for driver.cpp.
// If IMITATED_CUDA_TEXTS names a folder, it keeps the texts there and compiles nothing: functions then do nothing.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>

namespace {

constexpr char kBegin[] = R"text(
#include <math.h>
#include <string.h>

#define __device__
#define __noinline__ __attribute__((noinline))
#define __global__
#define __grid_constant__
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

struct Index { unsigned x, y, z; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
static inline float2 make_float2(float x, float y) { return float2{x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
extern "C" {
struct Running { Index thread, block, block_size, grid; void (*barrier)(int number, unsigned threads); } running;
}
#define threadIdx running.thread
#define blockIdx running.block
#define blockDim running.block_size
#define gridDim running.grid

static int block_or;
// Waits until so many threads have come to this barrier.
static inline void wait_at(int number, unsigned threads) {
  // The thread is another one meanwhile.
  const Index own = running.thread;
  running.barrier(number, threads);
  running.thread = own;
}
static inline void __syncthreads() { wait_at(0, blockDim.x); }
static inline void __threadfence() {}
static inline void __threadfence_system() {}
// Blocks run one after the other.
static inline unsigned atomicInc(unsigned* number, unsigned most) {
  const unsigned before = *number;
  *number = before >= most ? 0 : before + 1;
  return before;
}
static inline void __syncwarp() { wait_at(1 + threadIdx.x / 32, blockDim.x < 32 ? blockDim.x : 32); }
// The value of the thread of this warp with a number. Calls use two places in turn, so one barrier is enough.
static inline unsigned from_thread(unsigned value, int number) {
  static unsigned all[2][256];
  static int calls[256];
  const int thread = threadIdx.x;
  unsigned* const own = all[calls[thread]++ % 2];
  own[thread] = value;
  __syncwarp();
  return number < 32 ? own[thread / 32 * 32 + number] : value;
}
static inline unsigned __shfl_down_sync(unsigned, unsigned value, int by) {
  return from_thread(value, threadIdx.x % 32 + by);
}
static inline unsigned __shfl_sync(unsigned, unsigned value, int number) { return from_thread(value, number); }
static inline unsigned __shfl_xor_sync(unsigned, unsigned value, int by) {
  return from_thread(value, threadIdx.x % 32 ^ by);
}
static inline int __syncthreads_or(int value) {
  block_or |= value != 0;
  __syncthreads();
  const int any = block_or;
  __syncthreads();
  block_or = 0;
  __syncthreads();
  return any;
}

template <class To, class From>
static inline To same_bits(From from) {
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline float __fdividef(float a, float b) { return a / b; }

static inline void sincospi(double x, double* s, double* c) {
  *s = sin(x * M_PI);
  *c = cos(x * M_PI);
}
static inline double normcdfinv(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 120; ++i) {
    const double middle = (low + high) / 2;
    const bool is_above =
        p < 0.5 ? erfc(-middle / sqrt(2.0)) / 2 < p : erfc(middle / sqrt(2.0)) / 2 > 1 - p;
    (is_above ? low : high) = middle;
  }
  return (low + high) / 2;
}
)text";

// What the texts of products have instructions for, on which all threads of a block come as often.
constexpr char kInstructions[] = R"text(
typedef unsigned long Address;
static inline Address address_of(const char* shared) { return (Address)shared; }
static inline float4 read_four(Address from) { return *(const float4*)from; }
// The threads of each warp exchange their addresses, in two places in turn.
template <bool ACROSS>
static inline void read_matrices(unsigned (&x)[4], Address from) {
  static Address all[2][512];
  static int calls[512];
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, call = calls[threadIdx.x]++ % 2;
  all[call][threadIdx.x] = from;
  __syncthreads();
  for (int j = 0; j < 4; ++j) {
    const Address* const rows = all[call] + 32 * warp + 8 * j;
    const auto element = [&](int row, int column) { return (unsigned)((const unsigned short*)rows[row])[column]; };
    x[j] = ACROSS ? element(2 * t, g) | element(2 * t + 1, g) << 16 : element(g, 2 * t) | element(g, 2 * t + 1) << 16;
  }
}
static inline void write_four(Address to, const unsigned (&x)[4]) { memcpy((char*)to, x, 16); }
template <int BYTES>
static inline void copy_later(Address to, const void* from, bool is_there) {
  if (((unsigned long)from % BYTES != 0 && is_there) || to % BYTES != 0) __builtin_trap();
  if (is_there) memcpy((char*)to, from, BYTES);
  else memset((char*)to, 0, BYTES);
}
static inline void end_copies() {}
template <int BUT>
static inline void wait_for_copies() {}

static inline float in_tf32(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }
// The threads of each warp exchange their fragments. Calls use two places in turn, so one barrier is enough.
static inline void multiply(float (&sums)[4][8], const Fragment& a, const Fragment& b) {
  static float of_left[2][16][32][16], of_right[2][16][16][32];
  static int calls[512];
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, call = calls[threadIdx.x]++ % 2;
  float(&left)[32][16] = of_left[call][warp], (&right)[16][32] = of_right[call][warp];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      left[4 * g + i][4 * t + j] = in_tf32(a.x[i][j]);
      right[4 * t + j][4 * g + i] = in_tf32(b.x[i][j]);
    }
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 16; ++k) {
      const float x = left[4 * g + i][k];
      for (int j = 0; j < 8; ++j) sums[i][j] += x * right[k][8 * t + j];
    }
  }
}
static inline void multiply(float (&sums)[2][2], const float (&a)[2][2], const float (&b)[2]) {
  static float of_left[2][16][16][8], of_right[2][16][8][8];
  static int calls[512];
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, call = calls[threadIdx.x]++ % 2;
  float(&left)[16][8] = of_left[call][warp], (&right)[8][8] = of_right[call][warp];
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 2; ++i) left[g + 8 * i][2 * t + j] = in_tf32(a[i][j]);
    right[2 * t + j][g] = in_tf32(b[j]);
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 8; ++k) {
      for (int j = 0; j < 2; ++j) sums[i][j] += left[g + 8 * i][k] * right[k][2 * t + j];
    }
  }
}
template <class T>
static inline void multiply(float (&sums)[4][8], const Pairs& a, const Pairs& b, T) {
  static float of_left[2][16][32][32], of_right[2][16][32][32];
  static int calls[512];
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, call = calls[threadIdx.x]++ % 2;
  float(&left)[32][32] = of_left[call][warp], (&right)[32][32] = of_right[call][warp];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int line = 8 * i + g, term = 8 * (j / 2) + 2 * t + j % 2, by = 16 * (j % 2), k = j / 2;
      left[line][term] = number(T{(unsigned short)(a.x[k / 2 * 2 + i / 2][k % 2 * 2 + i % 2] >> by)});
      right[term][line] = number(T{(unsigned short)(b.x[i][k] >> by)});
    }
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 32; ++k) {
      const float x = left[8 * i + g][k];
      for (int j = 0; j < 8; ++j) sums[i][j] += x * right[k][8 * (j / 2) + 2 * t + j % 2];
    }
  }
}
)text";

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Program {
  std::string source, log, code;
};

// As std::system, which would keep the process from hearing a Ctrl-C meanwhile.
int shell(std::string command) {
  char name[] = "sh", option[] = "-c";
  char* const arguments[] = {name, option, command.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ) != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 0;  // no version of NVIDIA's
  *minor = 8;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "g++ failed"; }

int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source, {}, {}};
  return 0;
}

int nvrtcCompileProgram(Program* program, int, const char* const*) {
  const std::regex function(R"((alloy_\w+)\(const __grid_constant__ (Arguments<\d+, \d+>) a\))");
  std::string source = kBegin + program->source;
  // The instructions are defined where the text defines them for the real compiler.
  constexpr std::string_view kReal = "#ifdef __CUDACC__\n";
  if (const size_t place = source.find(kReal); place != std::string::npos) source.insert(place, kInstructions);
  // Without an architecture the text has nothing to wait for where a launch begins. 33 is kBegin of driver.cpp.
  constexpr std::string_view kBegins = "void begin_launch() {}";
  constexpr std::string_view kWaits = "void begin_launch() { wait_at(33, blockDim.x); }";
  if (const size_t place = source.find(kBegins); place != std::string::npos) {
    source.replace(place, kBegins.size(), kWaits);
  }
  for (std::sregex_iterator i(program->source.begin(), program->source.end(), function), end; i != end; ++i) {
    const std::string name = (*i)[1], arguments = (*i)[2];
    source += "extern \"C\" void call_" + name + "(const void* a) { " + name + "(*(const " + arguments + "*)a); }\n" +
              "extern \"C\" const unsigned long bytes_" + name + " = sizeof(" + arguments + ");\n";
  }
  if (const char* const folder = std::getenv("IMITATED_CUDA_TEXTS")) {
    const size_t hash = std::hash<std::string>()(program->source), nothing = 0;
    std::ofstream(std::string(folder) + "/" + std::to_string(hash) + ".cu") << program->source;
    program->code.assign(reinterpret_cast<const char*>(&nothing), sizeof nothing);
    return 0;
  }
  char folder[] = "/tmp/imitated_nvrtc_XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string base = std::string(folder) + "/text";
  std::ofstream(base + ".cpp") << source;
  const std::string command = "g++ -std=c++17 -O1 -w -fno-strict-aliasing -fPIC -shared -o " + base + ".so " + base +
                              ".cpp 2> " + base + ".log";
  const bool done = shell(command) == 0;
  program->log = read_all(base + ".log");
  const std::string code = read_all(base + ".so");
  const size_t size = code.size();
  program->code = std::string(reinterpret_cast<const char*>(&size), sizeof size) + code;
  static_cast<void>(shell(std::string("rm -r ") + folder));
  return done ? 0 : 6;
}

int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
int nvrtcGetProgramLogSize(Program* program, size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* log) {
  std::strcpy(log, program->log.c_str());
  return 0;
}
int nvrtcGetCUBINSize(Program* program, size_t* size) {
  *size = program->code.size();
  return 0;
}
int nvrtcGetCUBIN(Program* program, char* code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return 0;
}

}  // extern "C"
