#include "compiler/edges.h"

#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace alloy::compiler {
namespace {

using device::Place;
using device::Plan;
using device::Step;

// Addresses are the bytes of the arena; behind them, one for each variable and one for each result.
struct Range {
  size_t begin, end;
};

struct Accesses {
  std::vector<Range> reads, writes;
};

// The steps that used each address last.
class LastUses {
 public:
  // Each adds the steps that a step with this access must follow.
  void read(Range range, size_t step, std::set<size_t>& follows) {
    const auto last = cut(range.end);
    for (auto it = cut(range.begin); it != last; ++it) {
      if (it->second.writer) follows.insert(*it->second.writer);
      it->second.readers.insert(step);
    }
  }
  void write(Range range, size_t step, std::set<size_t>& follows) {
    const auto last = cut(range.end), first = cut(range.begin);
    for (auto it = first; it != last; ++it) {
      const Use& use = it->second;
      follows.insert(use.readers.begin(), use.readers.end());  // which follow the writer
      if (use.writer && use.readers.empty()) follows.insert(*use.writer);
    }
    first->second = {step, {}};
    uses_.erase(std::next(first), last);
  }

 private:
  struct Use {
    std::optional<size_t> writer = {};
    std::set<size_t> readers = {};  // since then
  };

  // The range that begins at the address.
  std::map<size_t, Use>::iterator cut(size_t address) {
    const auto around = std::prev(uses_.upper_bound(address));
    return around->first == address ? around : uses_.emplace_hint(std::next(around), address, around->second);
  }

  std::map<size_t, Use> uses_{{0, {}}};  // by the first address; each range ends where the next one begins
};

class EdgeFinder {
 public:
  explicit EdgeFinder(const Plan& plan) : plan_(plan) {}

  // Returns what all the steps read and write.
  Accesses run(std::vector<Step>& steps) {
    Accesses all;
    LastUses uses;
    for (size_t i = 0; i < steps.size(); ++i) {
      const Accesses accesses = accesses_of(steps[i]);
      std::set<size_t> follows;
      for (const Range& range : accesses.reads) uses.read(range, i, follows);
      for (const Range& range : accesses.writes) uses.write(range, i, follows);
      follows.erase(i);
      steps[i].follows.assign(follows.begin(), follows.end());
      add_all(accesses, all);
    }
    return all;
  }

 private:
  static void add_all(const Accesses& from, Accesses& to) {
    to.reads.insert(to.reads.end(), from.reads.begin(), from.reads.end());
    to.writes.insert(to.writes.end(), from.writes.begin(), from.writes.end());
  }

  Accesses accesses_of(Step& step) {
    Accesses accesses;
    const bool is_call = step.op != nullptr;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      add(step.operands[i], is_call ? step.op->operands[i].type().byte_count() : step.bytes, accesses.reads);
    }
    for (size_t r = 0; r < step.results.size(); ++r) {
      add(step.results[r], is_call ? step.op->results[r].byte_count() : step.bytes, accesses.writes);
    }
    if (is_call) add({Place::Kind::kArena, step.scratch}, step.kernel->scratch_bytes(), accesses.writes);
    for (std::vector<Step>& region : step.regions) add_all(run(region), accesses);
    return accesses;
  }

  // No step writes feeds, constants and packed weights.
  void add(const Place& place, size_t bytes, std::vector<Range>& ranges) const {
    const size_t variables = plan_.arena_bytes, results = variables + plan_.variables.size();
    if (bytes == 0) return;
    switch (place.kind) {
      case Place::Kind::kArena:
        if (place.index < plan_.packed_weights_offset) ranges.push_back({place.index, place.index + bytes});
        break;
      case Place::Kind::kVariable: ranges.push_back({variables + place.index, variables + place.index + 1}); break;
      case Place::Kind::kResult: ranges.push_back({results + place.index, results + place.index + 1}); break;
      case Place::Kind::kNowhere:
      case Place::Kind::kFeed:
      case Place::Kind::kConstant: break;
    }
  }

  const Plan& plan_;
};

}  // namespace

void find_edges(Plan& plan) { EdgeFinder(plan).run(plan.steps); }

}  // namespace alloy::compiler
