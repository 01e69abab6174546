#include "cpu/amx/amx.h"

#include <hwy/targets.h>

#if ALLOY_HAS_AMX
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace alloy::cpu {

#if ALLOY_HAS_AMX
namespace {

bool may_use_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAvx512f = 1U << 16, kAvx512dq = 1U << 17, kAvx512bw = 1U << 30, kAmxBf16 = 1U << 22,
                     kAmxTile = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((b & kAvx512f) == 0 || (b & kAvx512dq) == 0 || (b & kAvx512bw) == 0 || (d & kAmxBf16) == 0 ||
      (d & kAmxTile) == 0) {
    return false;
  }
  // Linux saves the tiles of a process that has asked for them, and refuses where it does not know them.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool has_amx() {
  static const bool has = may_use_tiles();
  return has && (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
}
#else
bool has_amx() { return false; }
#endif

}  // namespace alloy::cpu
