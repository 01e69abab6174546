#include "cuda/codegen/merged.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace alloy::cuda {
namespace {

// Functions of programs of different length are the same if their arguments have one of a few sizes.
size_t padded(size_t count) { return std::max<size_t>(std::bit_ceil(count), 16); }

struct ArgumentCounts {
  size_t pointers = 0, numbers;
  explicit ArgumentCounts(const std::vector<const Launch*>& launches) : numbers(1 + 3 * launches.size()) {
    for (const Launch* launch : launches) {
      pointers += launch->pointers.size();
      numbers += launch->numbers.size();
    }
    pointers = padded(pointers);
    numbers = padded(numbers);
  }
};

}  // namespace

bool is_small(const Launch& launch) {
  constexpr unsigned kRounds = 4;
  return launch.takes_any_grid && !launch.is_fresh && launch.rows == 1 && launch.blocks <= kRounds * kMergedBlocks;
}

size_t argument_bytes(const std::vector<const Launch*>& launches) {
  const ArgumentCounts sizes(launches);
  return 8 * (sizes.pointers + sizes.numbers);
}

Launch merged(const std::vector<const Launch*>& launches) {
  Launch all;
  all.blocks = kMergedBlocks;
  all.is_cluster = true;
  std::map<std::string, size_t> functions;  // by name, in a fixed order
  std::set<std::string_view> libraries;
  for (const Launch* launch : launches) {
    functions.emplace(name_of(*launch), 0);
    for (const char* library : launch->libraries) {
      if (libraries.insert(library).second) all.libraries.push_back(library);
    }
  }
  size_t count = 0;
  for (auto& [name, number] : functions) number = count++;

  std::map<std::string, std::string> definitions;
  all.numbers = {static_cast<int64_t>(launches.size())};
  std::vector<int64_t> numbers;
  const size_t begin = 1 + 3 * launches.size();
  for (const Launch* launch : launches) {
    const std::string name = name_of(*launch);
    definitions.emplace(
        name, "__device__ inline void inner_" + name + "(char* const* p, const i64* n) {\n" + launch->body + "}\n");
    all.numbers.push_back(static_cast<int64_t>(functions.at(name)));
    all.numbers.push_back(static_cast<int64_t>(all.pointers.size()));
    all.numbers.push_back(static_cast<int64_t>(begin + numbers.size()));
    all.pointers.insert(all.pointers.end(), launch->pointers.begin(), launch->pointers.end());
    numbers.insert(numbers.end(), launch->numbers.begin(), launch->numbers.end());
  }
  all.numbers.insert(all.numbers.end(), numbers.begin(), numbers.end());
  const ArgumentCounts sizes(launches);
  all.pointers.resize(sizes.pointers);
  all.numbers.resize(sizes.numbers);

  all.body = "  for (i64 i = 0; i < n[0]; ++i) {\n    const i64* const own = n + 1 + 3 * i;\n    switch (own[0]) {\n";
  for (const auto& [name, number] : functions) {
    all.functions.push_back(definitions.at(name));
    all.body += "      case " + std::to_string(number) + ": inner_" + name + "(p + own[1], n + own[2]); break;\n";
  }
  all.body += "    }\n    merged_barrier();\n  }\n";
  return all;
}

}  // namespace alloy::cuda
