#include "device/plan.h"

#include <utility>

namespace alloy::device {

ConstantBytes::ConstantBytes(ir::LiteralRef literal) : literal_(std::move(literal)) {
  if (!literal_->is_splat()) return;
  written_.resize(size());
  literal_->fill(written_.data());
}

}  // namespace alloy::device
