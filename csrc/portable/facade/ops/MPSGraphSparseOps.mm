// Matrices given by some of their elements; these are put into zeros.

#include "facade/ops/descriptor.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Expr;
using ir::OpCode;

namespace {

struct SparseFields {
  MPSGraphSparseStorageType sparseStorageType = MPSGraphSparseStorageCOO;
  MPSDataType dataType = MPSDataTypeFloat32;
};

// Zeros of the shape of `like`, plus the elements at tuples of positions.
Expr scattered(Expr elements, Expr tuples, Expr like) {
  return ir::apply(OpCode::scatter_nd, {elements, tuples, like}, {{Attr::kBatchDims, int64_t{0}}});
}

// The line (row or column) of each element, from the index of each line's first element: the number of other lines that
// begin before it or with it.
Expr lines_of(Expr starts, int64_t count, Expr like) {
  if (count == 1) return broadcast_like(starts.scalar(0), like);
  const Expr others = slice(starts, 0, 1, count);
  const Expr begun = scattered(broadcast_like(others.scalar(1), others), expand_dims(others, {-1}), like);
  return ir::apply(OpCode::accumulate, {begun},
                   {{Attr::kAxis, int64_t{0}}, {Attr::kOperation, std::string("sum")}, {Attr::kReverse, false}});
}

bool agree(int64_t a, int64_t b) { return a == b || a == ir::kUnknown || b == ir::kUnknown; }

MPSGraphTensor* sparse(MPSGraph* graph, MPSGraphSparseStorageType storage, NSArray<MPSGraphTensor*>* tensors,
                       MPSShape* shape, MPSDataType data_type, NSString* name) {
  if (storage > MPSGraphSparseStorageCSR) {
    raise_invalid(@"[sparseTensor] The storage type %lu does not exist.", static_cast<unsigned long>(storage));
  }
  const std::vector<ir::Value> values = values_of(graph, tensors);
  const ir::Shape dims = shape_of(shape);
  if (values.size() != 3 || !dims.is_static() || dims.rank() != 2) {
    raise_invalid(@"[sparseTensor] Three tensors and the shape of a matrix were expected, got %zu and %s.",
                  values.size(), to_string(dims).c_str());
  }
  const auto is_index = [](ir::Value v) { return v.dtype() == ir::DType::int32 || v.dtype() == ir::DType::int64; };
  const ir::Type type{facade::dtype_of(data_type), dims};
  if (values[0].dtype() != type.dtype || !is_index(values[1]) || values[1].dtype() != values[2].dtype()) {
    raise_invalid(
        @"[sparseTensor] Elements of the data type and places of Int32 or Int64 were expected, got %s, %s and "
        @"%s.",
        to_string(values[0].type()).c_str(), to_string(values[1].type()).c_str(), to_string(values[2].type()).c_str());
  }
  bool are_vectors = true;
  for (const ir::Value& v : values) are_vectors &= v.shape().ranked() && v.shape().rank() == 1;
  const bool by_rows = storage == MPSGraphSparseStorageCSR, is_compressed = storage != MPSGraphSparseStorageCOO;
  const int64_t lines = dims[by_rows ? 0 : 1];
  if (!are_vectors || !agree(values[0].shape()[0], values[1].shape()[0]) ||
      !agree(is_compressed ? lines + 1 : values[0].shape()[0], values[2].shape()[0])) {
    raise_invalid(
        @"[sparseTensor] Vectors were expected, a place for each element, and if compressed %lld places where "
        @"lines begin and the last one ends; got %s, %s and %s.",
        static_cast<long long>(lines + 1), to_string(values[0].shape()).c_str(), to_string(values[1].shape()).c_str(),
        to_string(values[2].shape()).c_str());
  }
  const ir::Value zeros = unspecified(graph, shape, type.dtype);
  ir::Graph& ir = graph_of(graph)->graph;
  return compose(graph, name, [&] {
    const Expr first(ir, values[1]), second(ir, values[2]);
    const Expr line = is_compressed ? lines_of(second, lines, first) : second;
    const Expr row = by_rows ? line : first, column = by_rows ? first : line;
    const Expr tuples = ir::concat({expand_dims(row, {-1}), expand_dims(column, {-1})}, 1);
    return scattered(Expr(ir, values[0]), tuples, Expr(ir, zeros));
  });
}

}  // namespace

@implementation MPSGraphCreateSparseOpDescriptor

DESCRIPTOR_WITH(MPSGraphCreateSparseOpDescriptor, descriptorWithStorageType,
                takes(sparseStorageType, MPSGraphSparseStorageType), takes(dataType, MPSDataType))

DESCRIPTOR_LIFE(SparseFields, {})
DESCRIPTOR_FIELD(SparseFields, MPSGraphSparseStorageType, sparseStorageType, setSparseStorageType)
DESCRIPTOR_FIELD(SparseFields, MPSDataType, dataType, setDataType)

@end

@implementation MPSGraph (MPSGraphSparseOps)

- (MPSGraphTensor*)sparseTensorWithType:(MPSGraphSparseStorageType)sparseStorageType
                                tensors:(NSArray<MPSGraphTensor*>*)inputTensorArray
                                  shape:(MPSShape*)shape
                               dataType:(MPSDataType)dataType
                                   name:(NSString*)name {
  return sparse(self, sparseStorageType, inputTensorArray, shape, dataType, name);
}

- (MPSGraphTensor*)sparseTensorWithDescriptor:(MPSGraphCreateSparseOpDescriptor*)sparseDescriptor
                                      tensors:(NSArray<MPSGraphTensor*>*)inputTensorArray
                                        shape:(MPSShape*)shape
                                         name:(NSString*)name {
  static const Class our_class = [MPSGraphCreateSparseOpDescriptor class];
  require_kind(sparseDescriptor, our_class);
  return sparse(self, [sparseDescriptor sparseStorageType], inputTensorArray, shape, [sparseDescriptor dataType], name);
}

@end
