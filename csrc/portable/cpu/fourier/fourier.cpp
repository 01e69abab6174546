// Fourier transforms over axes of tensors.
#include <algorithm>
#include <bit>
#include <cmath>

#include "cpu/families.h"
#include "cpu/fourier/transform.h"
#include "cpu/threads/parallel.h"
#include "ir/shape.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;

// Transforms one axis after the other, each line in double precision. Between axes, numbers are float32.
class FourierTransform final : public Kernel {
 public:
  explicit FourierTransform(const Op& op) : total_(op.results[0].shape.element_count() / 2) {
    const Dims& dims = op.results[0].shape.dims();
    const std::string& scaling = op.attributes.word(Attr::kScaling);
    for (int64_t given : op.attributes.ints(Attr::kAxes)) {
      const int64_t axis = *ir::normalize_axis(given, dims.size() - 1), length = dims[axis];
      if (length == 0) continue;
      int64_t stride = 1;
      for (int64_t i = axis + 1; i < dims.size() - 1; ++i) stride *= dims[i];
      const double n = static_cast<double>(length), scale = scaling == "none"   ? 1
                                                            : scaling == "size" ? 1 / n
                                                                                : 1 / std::sqrt(n);
      axes_.push_back(
          {length, stride, scale, Transform(static_cast<size_t>(length), op.attributes.flag(Attr::kInverse))});
      numbers_ = std::max(numbers_, 2 * static_cast<size_t>(length) + axes_.back().transform.scratch());
    }
  }

  size_t scratch_bytes() const override { return threads() * numbers_ * sizeof(Complex); }
  bool in_place(size_t, size_t) const override { return true; }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto* from = reinterpret_cast<const float*>(operands[0]);
    auto* const to = reinterpret_cast<float*>(results[0]);
    for (const Axis& axis : axes_) {
      const int64_t work = axis.length * (std::bit_width(static_cast<uint64_t>(axis.length)) * 4 + 4);
      parallel_shares(total_ / axis.length, work, [&](int64_t share, int64_t begin, int64_t end) {
        Complex* const numbers = reinterpret_cast<Complex*>(scratch) + share * numbers_;
        for (int64_t line = begin; line < end; ++line) {
          const int64_t first = line / axis.stride * axis.stride * axis.length + line % axis.stride;
          transform(axis, from + 2 * first, to + 2 * first, numbers);
        }
      });
      from = to;
    }
  }

 private:
  struct Axis {
    int64_t length, stride;  // in complex numbers
    double scale;
    Transform transform;
  };

  static void transform(const Axis& axis, const float* from, float* to, Complex* numbers) {
    Complex* const out = numbers + axis.length;
    for (int64_t k = 0; k < axis.length; ++k) {
      numbers[k] = {from[2 * k * axis.stride], from[2 * k * axis.stride + 1]};
    }
    axis.transform.run(numbers, out, out + axis.length);
    for (int64_t k = 0; k < axis.length; ++k) {
      to[2 * k * axis.stride] = static_cast<float>(out[k].re * axis.scale);
      to[2 * k * axis.stride + 1] = static_cast<float>(out[k].im * axis.scale);
    }
  }

  int64_t total_;
  std::vector<Axis> axes_;
  size_t numbers_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_fourier_transform(const Op& op) {
  require_float(op);
  return std::make_unique<FourierTransform>(op);
}

}  // namespace alloy::cpu
