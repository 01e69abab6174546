#include "cuda/codegen/merged.h"

#include <algorithm>
#include <set>

namespace alloy::cuda {

bool is_small(const Launch& launch) {
  constexpr unsigned kRounds = 4;
  return launch.takes_any_grid && !launch.is_fresh && launch.rows == 1 && launch.blocks <= kRounds * kMergedBlocks;
}

// Numbers are constants of the text, which save the compiler most instructions for indices.
Launch merged(const std::vector<MergedPart>& parts) {
  Launch all;
  for (const MergedPart& part : parts) all.blocks = std::max(all.blocks, part.launch->blocks);
  const bool waits =
      std::any_of(parts.begin() + 1, parts.end(), [](const MergedPart& part) { return part.waiting == Waiting::kAll; });
  all.is_cluster = waits && all.blocks > 1;
  if (all.is_cluster) all.blocks = kMergedBlocks;
  std::set<std::string_view> libraries;
  std::set<std::string> functions;
  for (const auto& [launch, waiting] : parts) {
    for (const char* library : launch->libraries) {
      if (libraries.insert(library).second) all.libraries.push_back(library);
    }
    const std::string function = "inner_" + name_of(*launch);
    if (functions.insert(function).second) {
      all.functions.push_back("__device__ inline void " + function + "(char* const* p, const i64* n) {\n" +
                              launch->body + "}\n");
    }
    std::string numbers;
    for (const int64_t number : launch->numbers) numbers += std::to_string(number) + ", ";
    if (waiting != Waiting::kNone && !all.body.empty()) {
      all.body += waiting == Waiting::kAll && all.is_cluster ? "  cluster_barrier();\n" : "  __syncthreads();\n";
    }
    all.body += "  {\n    const i64 n[] = {" + numbers + "0};\n    " + function + "(p + " +
                std::to_string(all.pointers.size()) + ", n);\n  }\n";
    all.pointers.insert(all.pointers.end(), launch->pointers.begin(), launch->pointers.end());
  }
  return all;
}

}  // namespace alloy::cuda
