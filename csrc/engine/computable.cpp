#include "engine/computable.h"

#include <algorithm>
#include <limits>

#include "ir/rules/windows.h"

namespace alloy::engine {
namespace {

bool has_no_elements(const ir::Type& type) { return type.is_static() && type.shape.element_count() == 0; }

// The framework counts an array's elements in an int (MPSNDArray.h).
bool has_too_many_elements(const ir::Type& type) {
  return type.is_static() && type.shape.element_count() > std::numeric_limits<int32_t>::max();
}

// Refuses an op that the system cannot compute and that has no substitute.
void require_capable(const ir::Op& op, ir::System system) {
  const auto refuse = [&](ir::Quirk quirk) {
    if (ir::has(system, quirk)) op.fail(ir::describe(system, quirk), ir::Error::Kind::kType);
  };
  for (const ir::Type& type : op.results) {
    if (type.dtype == ir::DType::bfloat16) refuse(ir::Quirk::bfloat16);
    if (kind(type.dtype) == ir::DTypeKind::kComplex) refuse(ir::Quirk::complex);
  }
  if (op.code == ir::OpCode::fourier_transform) refuse(ir::Quirk::complex);  // Apple's transform is of complex numbers
  if (op.code == ir::OpCode::conv2d && op.operands[1].shape().ranked()) {
    const ir::Shape& weights = op.operands[1].shape();
    const int64_t channels = weights[ir::WeightsAxes::of_weights(op.attributes.word(ir::Attr::kWeightsLayout)).out];
    if (channels > ir::kMostChannels) refuse(ir::Quirk::convolution_to_many_channels);
  }
}

}  // namespace

void require_computable(const ir::Op& op, ir::System system) {
  require_capable(op, system);
  if (!op.info().facts.every_type) {
    for (const ir::Value& v : op.operands) {
      if (kind(v.dtype()) == ir::DTypeKind::kComplex) {
        op.fail("Computing with " + to_string(v.type()) + " is not available", ir::Error::Kind::kType);
      }
    }
    for (const ir::Type& type : op.results) {
      if (kind(type.dtype) == ir::DTypeKind::kComplex) {
        op.fail("Computing " + to_string(type) + " is not available", ir::Error::Kind::kType);
      }
    }
  }
  for (const ir::Type& type : op.results) {
    if (has_too_many_elements(type)) {
      op.fail("The shape " + to_string(type.shape) + " has " + std::to_string(type.shape.element_count()) +
              " elements; at most " + std::to_string(std::numeric_limits<int32_t>::max()) + " were expected");
    }
  }
  if (std::any_of(op.operands.begin(), op.operands.end(),
                  [](const ir::Value& v) { return has_no_elements(v.type()); })) {
    return;
  }
  for (const ir::Type& type : op.results) {
    if (has_no_elements(type)) {
      op.fail("The shape " + to_string(type.shape) + " has no elements; at least one was expected");
    }
  }
}

}  // namespace alloy::engine
