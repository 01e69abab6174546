// What computes one op on a GPU: CUDA C++ functions, and how each is launched. Nothing here needs a driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace alloy::cuda {

// An address that a function gets.
struct Pointer {
  enum class Kind : uint8_t { kOperand, kResult, kScratch, kCounters };
  Kind kind;
  size_t index;  // of the operand or result; byte offset in the scratch; 0 of the counters
};

inline Pointer operand(size_t i) { return {Pointer::Kind::kOperand, i}; }
inline Pointer result(size_t i) { return {Pointer::Kind::kResult, i}; }
inline Pointer scratch(size_t offset) { return {Pointer::Kind::kScratch, offset}; }
inline Pointer counters() { return {Pointer::Kind::kCounters, 0}; }

// One launch of a function. Shapes are numbers that it gets, not part of its text: so ops of other shapes share it.
struct Launch {
  // Texts that `body` uses besides the vocabulary, in this order.
  std::vector<const char*> libraries = {};
  // The statements of the function, which finds its addresses in p and its numbers in n.
  std::string body;
  std::vector<Pointer> pointers;
  std::vector<int64_t> numbers;
  unsigned blocks = 1, rows = 1;            // of the grid
  unsigned threads = 256;                   // of each block
  unsigned resident = 1;                    // blocks for which a processor shall have registers at once
  bool is_fresh = false;                    // the numbers are a new random state in each run
  bool takes_any_grid = true;               // it may have fewer blocks, more that do nothing, and 256 threads
  bool is_cluster = false;                  // the blocks are a cluster, on GPUs that have them; else there is one block
  bool waits_itself = false;                // the body calls begin_launch(), before it reads memory
  bool by_each_block = false;               // each block of the grid does all of it
  bool has_clusters = false;                // the blocks of each column of the grid are a cluster, on such GPUs
  std::optional<size_t> first_block = {};   // the number that says which block has the first part of the work
  std::vector<std::string> functions = {};  // that the body calls, behind the libraries
};

// The launches of an op, in their order.
struct Code {
  std::vector<Launch> launches;
  size_t scratch = 0;                // bytes
  size_t counters = 0;               // numbers of 32 bits, which each launch finds and leaves as zeros
  bool in_place = false;             // each result may be written over each operand of its size, except
  std::vector<size_t> lasting = {};  // these operands, by number
};

// Thrown for an op without code, or without code for its types: another device computes it.
struct Lacking {};

// Makes the code of an op whose operands and results have static types. Throws Lacking.
Code code_of(const ir::Op& op);

uint64_t hash_of(std::string_view bytes);
// The name of a launch's function, by its text: equal functions have equal names.
std::string name_of(const Launch& launch);
// The source of the launches' functions, each once.
std::string source_of(const std::vector<const Launch*>& launches);

}  // namespace alloy::cuda
