#include "cuda/codegen/merged.h"

#include <algorithm>
#include <set>

#include "cuda/codegen/copies.h"

namespace alloy::cuda {

bool is_small(const Launch& launch) {
  constexpr unsigned kRounds = 4;
  return launch.takes_any_grid && !launch.is_fresh && launch.rows == 1 && launch.blocks <= kRounds * kMergedBlocks;
}

namespace {

// The block that has the first part of the work of each. Those between two barriers begin where the ones before end,
// but launches of one block stay in the first one where some follow others.
std::vector<unsigned> first_blocks(const std::vector<MergedPart>& parts) {
  std::vector<unsigned> all(parts.size(), 0);
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    bool follow = false;
    for (end = begin + 1; end < parts.size() && parts[end].waiting != Waiting::kAll; ++end) {
      follow = follow || parts[end].waiting == Waiting::kBlock;
    }
    unsigned busy = 0;
    for (size_t i = begin; i < end; ++i) {
      const Launch& launch = *parts[i].launch;
      if (launch.first_block && !(follow && launch.blocks == 1)) {
        all[i] = busy % kMergedBlocks;
        busy += launch.blocks;
      } else {
        busy = std::max(busy, launch.blocks);
      }
    }
  }
  return all;
}

}  // namespace

// Numbers are constants of the text, which save the compiler most instructions for indices.
Launch merged(const std::vector<MergedPart>& parts) {
  Launch all;
  for (const MergedPart& part : parts) all.blocks = std::max(all.blocks, part.launch->blocks);
  const bool waits =
      std::any_of(parts.begin() + 1, parts.end(), [](const MergedPart& part) { return part.waiting == Waiting::kAll; });
  all.is_cluster = waits && all.blocks > 1;
  const bool has_copies =
      std::any_of(parts.begin(), parts.end(), [](const MergedPart& part) { return part.launch->by_each_block; });
  if (all.is_cluster) all.blocks = kMergedBlocks;
  else if (has_copies) all.blocks = std::min(all.blocks, kMergedBlocks);
  all.waits_itself = parts[0].launch->waits_itself;
  std::set<std::string_view> libraries;
  std::set<std::string> functions;
  const std::vector<unsigned> first = first_blocks(parts);
  for (size_t part = 0; part < parts.size(); ++part) {
    const auto& [launch, waiting] = parts[part];
    for (const char* library : launch->libraries) {
      if (libraries.insert(library).second) all.libraries.push_back(library);
    }
    if (launch == &ending() && waiting == Waiting::kAll && !all.body.empty()) {
      // The count is read before the barrier, each block waits until the host sees what it wrote, and all wait at once.
      const std::string count = std::to_string(all.pointers.size()), over = std::to_string(all.pointers.size() + 1);
      all.body += "  const u64 ended = next_count((const u64*)p[" + count + "]);\n  barrier_for_host();\n" +
                  "  tell_host((u64*)p[" + count + "], (volatile u64*)p[" + over + "], ended);\n";
      all.pointers.insert(all.pointers.end(), launch->pointers.begin(), launch->pointers.end());
      continue;
    }
    const std::string function = "inner_" + name_of(*launch);
    if (functions.insert(function).second) {
      all.functions.push_back("__device__ inline void " + function + "(char* const* p, const i64* n) {\n" +
                              launch->body + "}\n");
    }
    std::string numbers;
    for (size_t i = 0; i < launch->numbers.size(); ++i) {
      numbers += std::to_string(launch->first_block == i ? first[part] : launch->numbers[i]) + ", ";
    }
    if (waiting != Waiting::kNone && !all.body.empty()) {
      all.body += waiting == Waiting::kAll && all.is_cluster ? "  cluster_barrier();\n" : "  __syncthreads();\n";
    }
    all.body += "  {\n    const i64 n[] = {" + numbers + "0};\n    " + function + "(p + " +
                std::to_string(all.pointers.size()) + ", n);\n  }\n";
    all.pointers.insert(all.pointers.end(), launch->pointers.begin(), launch->pointers.end());
  }
  return all;
}

// All blocks ask and do the same, so clusters may end here.
Launch predicated(const Launch& launch, size_t bytes, bool wanted) {
  Launch asking = launch;
  const std::string predicate = "p[" + std::to_string(launch.pointers.size()) + "]";
  asking.pointers.resize(launch.pointers.size() + 1);
  asking.body = std::string(launch.waits_itself ? "  begin_launch();\n" : "") + "  if (is_true(" + predicate + ", " +
                std::to_string(bytes) + ") != " + (wanted ? "true" : "false") + ") return;\n" + launch.body;
  return asking;
}

}  // namespace alloy::cuda
