// A plan tells a device what to execute: the kernels of a graph in their order, and the place of every value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device/kernel.h"
#include "ir/graph.h"

namespace alloy::device {

// A place in memory. Each run has its own feeds, variables and results.
struct Place {
  enum class Kind : uint8_t { kNowhere, kFeed, kVariable, kResult, kConstant, kArena };
  Kind kind = Kind::kNowhere;
  size_t index = 0;  // of the feed, variable (in Plan::variables), result or constant; byte offset in the arena
  bool operator==(const Place&) const = default;
};

struct Step {
  enum class Kind : uint8_t {
    kCall,      // run the kernel
    kHostCall,  // run the kernel, a HostKernel
    kCopy,      // copy `bytes` bytes of the operand to the result
    kIf,        // run the first region if the predicate is true, else the second one
    kLoop       // run the first region; if the predicate is true then, run the second one and begin again
  };
  Kind kind = Kind::kCall;
  std::unique_ptr<Kernel> kernel = {};
  std::vector<Place> operands = {};  // the predicate of kIf and kLoop: `bytes` bytes, false if they are all zero
  std::vector<Place> results = {};
  size_t bytes = 0;
  size_t scratch = 0;          // offset in the arena of the kernel's scratch, or for kIf, of what the device puts there
  const ir::Op* op = nullptr;  // the op of a call, or of one by the host
  std::array<std::vector<Step>, 2> regions = {};
  std::optional<size_t> trip_count = {};  // of kLoop: how often the second region runs, if that is known before a run
  // Positions, ascending, of the earlier steps beside this one that must end before it begins; whatever else it must
  // follow, those follow. Empty on a device with one lane, which runs steps in their order.
  std::vector<size_t> follows = {};
};

// Calls f for all calls and copies, depth first. Profiles are in this order.
template <class F>
void for_each_action(const std::vector<Step>& steps, const F& f) {
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::kIf && step.kind != Step::Kind::kLoop) f(step);
    for (const std::vector<Step>& region : step.regions) for_each_action(region, f);
  }
}

// True if the step writes a variable.
inline bool writes_variable(const Step& step) {
  return std::any_of(step.results.begin(), step.results.end(),
                     [](const Place& place) { return place.kind == Place::Kind::kVariable; });
}

// Weights that no run changes, packed in the order that their kernel wants (Kernel::prepacked_operand).
struct PackedWeights {
  const Kernel* kernel;
  size_t operand;  // of the kernel: the weights
  Place source;    // a variable or a constant
  size_t offset;   // of the packed weights in the arena
};

// The bytes of a constant: the literal's own bytes, shared by all programs; or, if one element stands for all, a copy
// with every element.
class ConstantBytes {
 public:
  explicit ConstantBytes(ir::LiteralRef literal);
  const ir::Literal& literal() const { return *literal_; }
  const std::byte* data() const { return written_.empty() ? literal_->bytes().data() : written_.data(); }
  size_t size() const { return literal_->type().byte_count(); }

 private:
  ir::LiteralRef literal_;
  std::vector<std::byte> written_;
};

// The ops and values belong to the planned graph, which must outlive the plan.
struct Plan {
  std::vector<Step> steps;
  std::vector<PackedWeights> packed_weights;
  std::vector<ConstantBytes> constants;
  std::vector<int64_t> variables;  // slots, ascending
  size_t arena_bytes = 0;          // values, scratch, and packed weights
  // The scratch that all kernels share is between the two; with several lanes it is among the values instead.
  size_t scratch_offset = 0, packed_weights_offset = 0;
  std::vector<ir::Value> at_peak;  // the values in the arena at the step that needs the most memory
};

}  // namespace alloy::device
