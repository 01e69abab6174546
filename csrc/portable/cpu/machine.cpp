#include "cpu/machine.h"

#include "cpu/simd/targets.h"

#include <hwy/targets.h>

#include <fstream>
#include <optional>
#include <string>

#include "cpu/amx/targets.h"
#include "cpu/onednn/onednn.h"

#if ALLOY_HAS_AMX
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace alloy::cpu {
namespace {

template <class T>
std::optional<T> read_file(const std::string& path) {
  T value{};
  std::ifstream file(path);
  return file >> value ? std::optional<T>(value) : std::nullopt;
}

// Bytes from a text such as "48K" or "2M"; 0 for other texts.
int64_t bytes_of(const std::string& size) {
  int64_t bytes = 0;
  size_t i = 0;
  for (; i < size.size() && size[i] >= '0' && size[i] <= '9' && i < 10; ++i) bytes = 10 * bytes + (size[i] - '0');
  const std::string unit = size.substr(i);
  return unit == "K" ? bytes << 10 : unit == "M" ? bytes << 20 : 0;
}

#if ALLOY_HAS_AMX
bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAvx512f = 1U << 16, kAvx512dq = 1U << 17, kAvx512bw = 1U << 30, kAmxBf16 = 1U << 22,
                     kAmxTile = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((b & kAvx512f) == 0 || (b & kAvx512dq) == 0 || (b & kAvx512bw) == 0 || (d & kAmxBf16) == 0 ||
      (d & kAmxTile) == 0) {
    return false;
  }
  // Linux saves the tiles of a process that asks for them, and refuses if it does not know tiles.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool may_use_tiles() { return false; }
#endif

Machine without_tiles(Machine machine) {
  machine.tiles = false;
  return machine;
}

}  // namespace

Machine machine_with_caches(const char* folder) {
  Machine machine;
  for (int i = 0;; ++i) {
    const std::string cache = std::string(folder) + "/index" + std::to_string(i) + "/";
    const auto level = read_file<int>(cache + "level");
    if (!level) return machine;
    if (read_file<std::string>(cache + "type").value_or("") == "Instruction" || *level > 2) continue;
    const int64_t bytes = bytes_of(read_file<std::string>(cache + "size").value_or("")),
                  ways = read_file<int64_t>(cache + "ways_of_associativity").value_or(0);
    if (ways > 0 && bytes >= ways) (*level == 1 ? machine.l1 : machine.l2) = {bytes / ways, ways};
  }
}

const Machine& machine() {
  static const Machine all = [] {
    Machine read = machine_with_caches("/sys/devices/system/cpu/cpu0/cache");
    read.tiles = may_use_tiles();
    read.onednn_has_avx512 = onednn_has_avx512();
    return read;
  }();
  static const Machine rest = without_tiles(all);
  const bool allowed = (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
  return allowed ? all : rest;
}

}  // namespace alloy::cpu
