// matmul: a product of two matrices, computed as choice.h says, or of stacks of matrices, computed by oneDNN. A
// transposition only changes strides.
#include "cpu/families.h"
#include "cpu/onednn/onednn.h"
#include "cpu/product/choice.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::Shape;

// An operand as a stack of matrices.
struct Matrices {
  Dims dims, strides;

  // The shape with leading axes of length 1 up to the rank; the last two axes are swapped if `transposed`.
  Matrices(const Shape& shape, int64_t rank, bool transposed) : dims(rank - shape.rank(), 1), strides(rank) {
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    int64_t stride = 1;
    for (int64_t i = rank; i-- > 0; stride *= dims[i]) strides[i] = stride;
    if (!transposed) return;
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }

  // Merges leading axes `i` and `i + 1`.
  void merge(int64_t i) {
    dims[i] *= dims[i + 1];
    strides[i] = strides[i + 1];
    dims.erase(dims.begin() + i + 1);
    strides.erase(strides.begin() + i + 1);
  }
  int64_t rank() const { return dims.size(); }
  bool is_one(int64_t i) const { return dims[i] == 1; }
};

// Merges leading axes that broadcast alike. If there is a single matrix on the right, all matrices on the left become
// one tall matrix.
void simplify(Matrices& a, Matrices& b, Matrices& y, bool a_transposed) {
  for (int64_t i = y.rank() - 2; i-- > 1;) {
    const int64_t outer = i - 1;
    const bool alike =
        (a.is_one(outer) == a.is_one(i) && b.is_one(outer) == b.is_one(i)) || y.is_one(outer) || y.is_one(i);
    if (!alike) continue;
    // The stride of an axis of length 1 does not matter.
    a.merge(outer);
    b.merge(outer);
    y.merge(outer);
  }
  const bool shared = y.rank() == 3 && b.is_one(0) && !a_transposed && a.dims[0] == y.dims[0];
  if (y.rank() != 3 || !(shared || y.is_one(0))) return;
  if (y.is_one(0)) {
    for (Matrices* m : {&a, &b, &y}) {
      m->dims.erase(m->dims.begin());
      m->strides.erase(m->strides.begin());
    }
    return;
  }
  a.merge(0);
  y.merge(0);
  b.dims.erase(b.dims.begin());
  b.strides.erase(b.strides.begin());
}

}  // namespace

std::unique_ptr<Kernel> make_matmul(const Op& op) {
  const ir::Type &a_type = op.operands[0].type(), &b_type = op.operands[1].type(), &y_type = op.results[0];
  const ir::DType dtype = y_type.dtype;
  if (!onednn_multiplies(dtype)) refuse(op, a_type);
  if (a_type.shape.element_count() == 0 || b_type.shape.element_count() == 0) return make_zeros(op);

  const bool a_transposed = op.attributes.flag(Attr::kTransposeA);
  const int64_t rank = y_type.shape.rank();
  Matrices a(a_type.shape, rank, a_transposed), b(b_type.shape, rank, op.attributes.flag(Attr::kTransposeB)),
      y(y_type.shape, rank, false);
  simplify(a, b, y, a_transposed);
  try {
    if (y.rank() == 2 && dtype == ir::DType::float32) {
      return make_product({y.dims[0], a.dims[1], y.dims[1], a.strides[0], a.strides[1], b.strides[0], b.strides[1]});
    }
    return std::make_unique<PrimitiveKernel>(matrix_product(
        strided(a.dims, a.strides, dtype), strided(b.dims, b.strides, dtype), strided(y.dims, y.strides, dtype)));
  } catch (const dnnl::error& error) {
    op.fail(std::string("oneDNN has no kernel for this product: ") + error.what());
  }
}

}  // namespace alloy::cpu
