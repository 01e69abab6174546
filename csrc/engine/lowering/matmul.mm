// Matrix products and inverses.

#include <limits>

#import "engine/lowering/ops.h"

namespace alloy::engine {

using ir::Attr;
using ir::Dims;
using ir::kMostOfMatrix;
using ir::kMostRank;
using ir::OpCode;
using ir::Quirk;
using ir::Shape;

Nodes lower_matmul(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  Shaped a = lowering.shaped_x(op, 0), b = lowering.shaped_x(op, 1);
  if (op.operands[0].op->code == OpCode::softmax && lowering.has(Quirk::product_of_softmax)) {
    a.tensor = [graph identityWithTensor:a.tensor name:nil];
  }
  const Shape& shape = op.results[0].shape;
  const bool is_flat = shape.rank() > kMostRank && lowering.has(Quirk::product_beyond_rank4);
  if (is_flat) {
    const Dims batch(shape.dims().begin(), shape.dims().end() - 2);
    a = flat_operand(graph, a, batch);
    b = flat_operand(graph, b, batch);
  }
  const auto transpose = [&](Shaped& x) {
    const size_t rank = x.dims.size();
    x.tensor = [graph transposeTensor:x.tensor dimension:rank - 2 withDimension:rank - 1 name:nil];
    std::swap(x.dims[rank - 2], x.dims[rank - 1]);
  };
  if (op.attributes.flag(Attr::kTransposeA)) transpose(a);
  if (op.attributes.flag(Attr::kTransposeB)) transpose(b);
  const int64_t any = std::numeric_limits<int64_t>::max();
  MPSGraphTensor* out =
      product_in_pieces(graph, a, b, lowering.has(Quirk::long_inner_product) ? kMostOfMatrix : any,
                        lowering.has(Quirk::large_matrix) ? kMostOfMatrix : any, is_flat ? nil : name);
  return is_flat ? [graph reshapeTensor:out withShape:mps_shape(shape) name:name] : out;
}

Nodes lower_inverse(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() inverseOfTensor:lowering.x(op) name:name];
}

}  // namespace alloy::engine
