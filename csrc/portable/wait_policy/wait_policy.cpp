// How long OpenMP's threads spin before they sleep: a library of its own, whose constructor runs before that of libgomp, which reads the
// environment when it is loaded. libgomp's own default spins for milliseconds, which beside one busy neighbour slows small kernels a
// hundred times; this count is about ten microseconds, at which they were as fast as ever on a quiet machine. Whoever sets OpenMP's
// variables has the last word.
#include <cstdlib>

namespace {

[[gnu::constructor]] void choose_wait_policy() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "10000", /*overwrite=*/0);
}

}  // namespace
