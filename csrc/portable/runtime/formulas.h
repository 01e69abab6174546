// Small graphs of one result, which replace kernels of other frameworks: compiled at the first use, and kept.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ir/rules/expr.h"
#include "runtime/graph_state.h"

namespace alloy::runtime {

// An array and the type of its elements.
struct TypedArray {
  device::ArrayMemory memory;
  ir::DType dtype;
};

// Every member may be called from every thread.
class Formulas {
 public:
  using Formula = std::function<ir::Expr(const std::vector<ir::Expr>& inputs)>;
  using Settings = std::vector<double>;

  // The run that writes `formula` of the inputs to the result, which has the number of elements and the type that the
  // formula gives. The result may share memory with inputs. Formulas whose inputs have the same types differ in
  // `settings`. Throws ir::Error and std::bad_alloc.
  Run run(const Settings& settings, const Formula& formula, const std::vector<TypedArray>& inputs,
          const TypedArray& result);

 private:
  struct Compiled {
    std::shared_ptr<GraphState> state;
    std::shared_ptr<Program> program;
  };
  using Key = std::vector<uint64_t>;

  std::mutex mutex_;
  std::map<Key, Compiled> compiled_;
};

}  // namespace alloy::runtime
