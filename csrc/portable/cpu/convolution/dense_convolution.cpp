// conv2d and its gradients on images so small that every position of the result sees the whole source. Such a
// convolution is a linear map of whole images. Its matrix has no zeros and is written out for one product. oneDNN would
// mostly multiply by padding.
#include <cstring>

#include "cpu/convolution/convolution.h"
#include "cpu/families.h"
#include "cpu/product/choice.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"
#include "ir/rules/windows.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;
using ir::Shape;

// With fewer images, writing the matrix costs more than the product saves.
constexpr int64_t kFewestImages = 16;

// True if every window covers the whole image along one axis. Otherwise the matrix would have zeros, and 0 times an
// infinity outside a window would be NaN.
bool sees_all(const ir::Window& window, int64_t source, int64_t result) {
  return window.dilation == 1 && (result - 1) * window.stride <= window.before && source + window.before <= window.size;
}

// The matrix of the map: a row for each position and channel of the source, a column for each of the result. Each
// element is a weight, of the tap through which the result's position sees the source's position.
class ImageMatrix {
 public:
  ImageMatrix(const ir::Window& rows, const ir::Window& columns, const Shape& source, const Shape& weights,
              const Shape& result)
      : taps_(weights[0] * weights[1]),
        in_(weights[2]),
        out_(weights[3]),
        sources_(source[1] * source[2]),
        results_(result[1] * result[2]) {
    for (int64_t s = 0; s < sources_; ++s) {
      for (int64_t r = 0; r < results_; ++r) {
        tap_of_.push_back(tap(rows, r / result[2], s / source[2]) * weights[1] +
                          tap(columns, r % result[2], s % source[2]));
      }
    }
  }

  int64_t rows() const { return sources_ * in_; }
  int64_t columns() const { return results_ * out_; }

  void write(const float* weights, float* matrix) const {
    parallel_for(rows(), columns() / 8, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        for (int64_t r = 0; r < results_; ++r) {
          float* to = matrix + row * columns() + r * out_;
          const int64_t tap = tap_of_[row / in_ * results_ + r];
          std::memcpy(to, weights + (tap * in_ + row % in_) * out_, bytes_of(out_));
        }
      }
    });
  }

  // The transpose of write: each weight becomes the sum of the elements to which it was written.
  void gather(const float* matrix, float* weights) const {
    parallel_for(taps_ * in_, rows() * columns() / (taps_ * in_), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        float* to = weights + line * out_;
        bool first = true;
        for (int64_t place = 0; place < sources_ * results_; ++place) {
          if (tap_of_[place] != line / in_) continue;
          const float* from = matrix + (place / results_ * in_ + line % in_) * columns() + place % results_ * out_;
          if (first) std::memcpy(to, from, bytes_of(out_));
          else {
            for (int64_t i = 0; i < out_; ++i) {
              to[i] += from[i];
            }
          }
          first = false;
        }
        if (first) std::memset(to, 0, bytes_of(out_));
      }
    });
  }

 private:
  // The tap through which a position of the result sees a position of the source.
  static int64_t tap(const ir::Window& window, int64_t result, int64_t source) {
    return source + window.before - result * window.stride;
  }
  static size_t bytes_of(int64_t floats) { return floats * sizeof(float); }

  int64_t taps_, in_, out_, sources_, results_;  // in_, out_ are channels
  std::vector<int64_t> tap_of_;
};

class DenseConvolution final : public Kernel {
 public:
  DenseConvolution(OpCode code, ImageMatrix matrix, int64_t images)
      : code_(code),
        matrix_(std::move(matrix)),
        product_(make_product(product_shape(code, matrix_, images), large_product_ways())),
        matrix_bytes_(matrix_.rows() * matrix_.columns() * sizeof(float)) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    auto* matrix = reinterpret_cast<float*>(scratch);
    std::byte* const rest = is_laid_out_ ? scratch : scratch + ir::round_up(matrix_bytes_, kCacheLine);
    if (is_laid_out_) {
      product_->run(operands, results, rest);
    } else if (code_ == OpCode::conv2d_weights_gradient) {
      const std::byte* factors[] = {operands[1], operands[0]};
      product_->run(factors, &scratch, rest);
      matrix_.gather(matrix, reinterpret_cast<float*>(results[0]));
    } else {
      matrix_.write(reinterpret_cast<const float*>(operands[1]), matrix);
      const std::byte* factors[] = {operands[0], scratch};
      product_->run(factors, results, rest);
    }
  }
  size_t scratch_bytes() const override { return (is_laid_out_ ? 0 : matrix_bytes_ + 63) + product_->scratch_bytes(); }
  std::optional<size_t> prepacked_operand() const override {
    if (code_ == OpCode::conv2d_weights_gradient) return std::nullopt;
    return 1;
  }
  size_t take_prepacked() override {
    is_laid_out_ = true;
    return matrix_bytes_;
  }
  void prepack(const std::byte* weights, std::byte* to) const override {
    matrix_.write(reinterpret_cast<const float*>(weights), reinterpret_cast<float*>(to));
  }

 private:
  static ProductShape product_shape(OpCode code, const ImageMatrix& matrix, int64_t images) {
    const int64_t k = matrix.rows(), n = matrix.columns();
    if (code == OpCode::conv2d) return {images, k, n, k, 1, n, 1};
    if (code == OpCode::conv2d_data_gradient) return {images, n, k, n, 1, 1, n};
    return {k, images, n, 1, k, n, 1};
  }

  OpCode code_;
  ImageMatrix matrix_;
  std::unique_ptr<Kernel> product_;
  size_t matrix_bytes_;
  bool is_laid_out_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_dense_convolution(const Op& op) {
  const bool plain = op.attributes.word(Attr::kDataLayout) == "NHWC" &&
                     op.attributes.word(Attr::kWeightsLayout) == "HWIO" && op.attributes.integer(Attr::kGroups) == 1;
  const auto& [source, weights, result] = ConvolutionShapes(op);
  if (!plain || source[0] < kFewestImages || !has_small_images(op)) return nullptr;
  const ir::Window rows = ir::window_of(op.attributes, 0, weights[0], source[1]),
                   columns = ir::window_of(op.attributes, 1, weights[1], source[2]);
  if (!sees_all(rows, source[1], result[1]) || !sees_all(columns, source[2], result[2])) return nullptr;
  return std::make_unique<DenseConvolution>(op.code, ImageMatrix(rows, columns, source, weights, result), source[0]);
}

}  // namespace alloy::cpu
