// Attention, by Apple's method if the system has it.

#include <algorithm>
#include <limits>

#include "engine/device_info.h"
#import "engine/lowering/ops.h"

// Declared here, because older SDKs lack it.
@protocol AlloyAttention
- (MPSGraphTensor*)scaledDotProductAttentionWithQueryTensor:(MPSGraphTensor*)query
                                                  keyTensor:(MPSGraphTensor*)key
                                                valueTensor:(MPSGraphTensor*)value
                                                 maskTensor:(MPSGraphTensor*)mask
                                                      scale:(float)scale
                                                       name:(NSString*)name;
@end

namespace alloy::engine {
namespace {

using ir::Dims;
using ir::DType;
using ir::kMostRank;
using ir::Shape;

bool are_known(const ir::Op& op) {
  return std::all_of(op.operands.begin(), op.operands.end(), [](const ir::Value& v) { return v.type().is_static(); });
}

bool is_of_batch(const Shape& shape, const Shape& query) {
  return shape.rank() == kMostRank && shape[0] == query[0] && shape[1] == query[1];
}

// The sizes for which the formula's products are known to be right, with at most as many scores as an array can have
// elements.
bool has_right_sizes(const Shape& query, const Shape& key) {
  const int64_t steps = key[2], features = key[3];
  const bool is_long = std::max(steps, features) > ir::kMostOfMatrix;
  if (is_long && ir::has(device_system(), ir::Quirk::long_inner_product)) return false;
  return Shape({query[0], query[1], query[2], steps}).element_count() <= std::numeric_limits<int32_t>::max();
}

MPSGraphTensor* mask_of_scores(const Lowering& lowering, const ir::Op& op) {
  if (op.operands.size() < 4) return nil;
  const Shape& shape = op.operands[3].shape();
  Dims dims(kMostRank, 1);
  std::copy(shape.dims().begin(), shape.dims().end(), dims.end() - shape.rank());
  return [lowering.graph() reshapeTensor:lowering.x(op, 3) withShape:mps_numbers(dims) name:nil];
}

}  // namespace

// Apple documents its method for batches of heads. It is known that a mask broadcasts, but not if other operands do.
bool has_selector(const ir::Op& op) {
  const SEL selector = @selector(scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:maskTensor:scale:name:);
  if (![MPSGraph instancesRespondToSelector:selector] || !are_known(op)) return false;
  const Shape &query = op.operands[0].shape(), &key = op.operands[1].shape(), &value = op.operands[2].shape();
  return is_of_batch(query, query) && is_of_batch(key, query) && is_of_batch(value, query) &&
         is_of_batch(op.results[0].shape, query) && has_right_sizes(query, key);
}

// Two-byte floats are computed in float32: it is not known if Apple's framework adds up their products in float32.
Nodes lower_scaled_dot_product_attention(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const auto wide = [&](MPSGraphTensor* x, size_t i) {
    return x == nil ? nil : as_type(graph, x, op.operands[i].dtype(), DType::float32);
  };
  const DType dtype = op.results[0].dtype;
  const double scale = op.attributes.number(ir::Attr::kScale);
  MPSGraphTensor* y = [static_cast<id<AlloyAttention>>(static_cast<id>(graph))
      scaledDotProductAttentionWithQueryTensor:wide(lowering.x(op, 0), 0)
                                     keyTensor:wide(lowering.x(op, 1), 1)
                                   valueTensor:wide(lowering.x(op, 2), 2)
                                    maskTensor:wide(mask_of_scores(lowering, op), 3)
                                         scale:static_cast<float>(scale)
                                          name:dtype == DType::float32 ? name : nil];
  return as_type(graph, y, DType::float32, dtype, name);
}

}  // namespace alloy::engine
