// matmul: a product of two matrices, computed as choice.h says, or of stacks of matrices, computed by oneDNN. A
// transposition only changes strides.
#include "cpu/families.h"
#include "cpu/onednn/divided.h"
#include "cpu/product/choice.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::Shape;

// An operand as a stack of matrices: with leading axes of length 1 up to the rank, and with the last two axes swapped
// if `transposed`.
Matrices matrices_of(const Shape& shape, int64_t rank, bool transposed) {
  Matrices m{Dims(rank - shape.rank(), 1), Dims(rank)};
  m.dims.insert(m.dims.end(), shape.dims().begin(), shape.dims().end());
  int64_t stride = 1;
  for (int64_t i = rank; i-- > 0; stride *= m.dims[i]) m.strides[i] = stride;
  if (transposed) {
    std::swap(m.dims[rank - 1], m.dims[rank - 2]);
    std::swap(m.strides[rank - 1], m.strides[rank - 2]);
  }
  return m;
}

// Merges leading axes `i` and `i + 1`.
void merge(Matrices& m, int64_t i) {
  m.dims[i] *= m.dims[i + 1];
  m.strides[i] = m.strides[i + 1];
  m.dims.erase(m.dims.begin() + i + 1);
  m.strides.erase(m.strides.begin() + i + 1);
}

// Merges leading axes that broadcast alike. If there is a single matrix on the right, all matrices on the left become
// one tall matrix.
void simplify(Matrices& a, Matrices& b, Matrices& y, bool a_transposed) {
  for (int64_t i = y.rank() - 2; i-- > 1;) {
    const int64_t outer = i - 1;
    const bool alike =
        (a.is_one(outer) == a.is_one(i) && b.is_one(outer) == b.is_one(i)) || y.is_one(outer) || y.is_one(i);
    if (!alike) continue;
    // The stride of an axis of length 1 does not matter.
    merge(a, outer);
    merge(b, outer);
    merge(y, outer);
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
  merge(a, 0);
  merge(y, 0);
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
  Matrices a = matrices_of(a_type.shape, rank, a_transposed),
           b = matrices_of(b_type.shape, rank, op.attributes.flag(Attr::kTransposeB)),
           y = matrices_of(y_type.shape, rank, false);
  simplify(a, b, y, a_transposed);
  try {
    if (y.rank() == 2 && dtype == ir::DType::float32) {
      return make_product({y.dims[0], a.dims[1], y.dims[1], a.strides[0], a.strides[1], b.strides[0], b.strides[1]});
    }
    return matrix_product(a, b, y, dtype);
  } catch (const dnnl::error& error) {
    op.fail(std::string("oneDNN has no kernel for this product: ") + error.what());
  }
}

}  // namespace alloy::cpu
