#include "cuda/codegen/windows.h"

namespace alloy::cuda {

const char* const kWindows = R"cuda(
// An axis along which a window moves: its extent, positions and taps, and the steps of arrays along it.
struct Moving {
  i64 extent, positions, taps, stride, dilation, before, after, source_step, result_step, tap_step;
  __device__ i64 place(i64 position, i64 tap) const { return position * stride - before + tap * dilation; }
  __device__ bool holds(i64 place) const { return place >= 0 && place < extent; }
  // The position whose tap lies at a place, or -1.
  __device__ i64 position(i64 place, i64 tap) const {
    const i64 at = place + before - tap * dilation;
    if (at < 0) return -1;
    const i64 found = quotient(at, stride);
    return found * stride == at && found < positions ? found : -1;
  }
};
)cuda";

void append_axis(std::vector<int64_t>& numbers, const ir::Window& window, int64_t extent, int64_t positions,
                 int64_t source_step, int64_t result_step, int64_t tap_step) {
  numbers.insert(numbers.end(), {extent, positions, window.size, window.stride, window.dilation, window.before,
                                 window.after, source_step, result_step, tap_step});
}

void append_still_axes(std::vector<int64_t>& numbers, int64_t count) {
  for (; count > 0; --count) append_axis(numbers, {1, 1, 1, 0, 0}, 1, 1, 0, 0, 0);
}

}  // namespace alloy::cuda
