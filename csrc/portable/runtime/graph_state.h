// What a graph of the facade shares with its tensors and executables: the ir, the memory of the variables, and the programs compiled so
// far. Lives as long as any of them. One thread builds; runs are serialised here.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/program.h"
#include "runtime/strided_copy.h"

namespace alloy::portable {

class GraphState {
 public:
  explicit GraphState(Device& device) : device(device) {}

  // The program for these feeds, results and effects: compiled when first asked for, then the same one. Throws ir::Error.
  std::shared_ptr<Program> program(const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& results,
                                   const std::vector<ir::Op*>& effects);
  // Gives the newest variable of the graph its memory and its initial value.
  void allocate_variable(std::span<const std::byte> initial);
  // Bytes of the variables that the program uses.
  size_t variable_bytes(const Program& program) const;
  // Program's functions of these names, between runs.
  void set_profiling(Program& program, bool on);
  std::vector<Program::StepTime> times(const Program& program);

  Device& device;
  ir::Graph graph;

 private:
  friend class Run;
  using Key = std::vector<uint64_t>;

  std::vector<std::shared_ptr<Storage>> variables_;  // by slot
  std::vector<uint64_t> versions_;                   // of their contents, by slot
  std::mutex compiling_;
  std::map<Key, std::shared_ptr<Program>> programs_;
  std::mutex running_;
};

// One run of a program with its feeds and results; a copyable item of work for a stream.
class Run {
 public:
  // Arrays in the program's order; each must have the elements of the program's type. Gaps between rows are allowed. `overwritten`: the
  // positions of feeds whose memory a result shares; the run computes as if it did not.
  Run(std::shared_ptr<GraphState> state, std::shared_ptr<Program> program, std::vector<ArrayMemory> feeds, std::vector<ArrayMemory> results,
      std::vector<size_t> overwritten)
      : state_(std::move(state)), program_(std::move(program)), feeds_(std::move(feeds)), results_(std::move(results)),
        overwritten_(std::move(overwritten)) {}

  Status operator()() const;

 private:
  std::shared_ptr<GraphState> state_;
  std::shared_ptr<Program> program_;
  std::vector<ArrayMemory> feeds_, results_;
  std::vector<size_t> overwritten_;
};

}  // namespace alloy::portable
