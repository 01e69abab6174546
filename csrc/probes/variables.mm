// State of a graph: when it is read and when it is written.
#include "question.h"

namespace alloy::probes {
namespace {

std::string shared_variable() {
  Question q;
  MPSGraphTensor* v = q.variable({1, 10}, {2});
  MPSGraphTensor* next = [q.graph additionWithPrimaryTensor:v
                                            secondaryTensor:q.feed(std::vector<float>{1, 1}, {2})
                                                       name:nil];
  MPSGraphExecutable* training = q.compile(list(q.identity(next)), list(q.assign(v, next)));
  MPSGraphExecutable* reading = q.compile(list(q.identity(v)), nil);
  q.run(training);
  q.run(training);
  return values_text(static_cast<MPSGraphTensorData*>([q.run(reading) objectAtIndex:0]));
}

std::string fetched_before_assign() {
  Question q;
  MPSGraphTensor *v = q.variable({1}, {1}), *fetched = q.identity(v);
  const auto seen = q.run({fetched}, list(q.assign(v, q.feed(std::vector<float>{2}, {1}))));
  return join({values_text(seen.front()), q.value(v)});
}

std::string read_after_assign() {
  Question q;
  MPSGraphTensor* v = q.variable({1}, {1});
  MPSGraphOperation* assign = q.assign(v, q.feed(std::vector<float>{2}, {1}));
  MPSGraphTensor* fetched = q.identity(v);
  const auto seen = q.run({fetched}, list(assign));
  return join({values_text(seen.front()), q.value(v)});
}

std::string read_assign_read() {
  Question q;
  MPSGraphTensor *v = q.variable({1}, {1}), *first = [q.graph readVariable:v name:nil];
  MPSGraphOperation* assign = q.assign(v, q.feed(std::vector<float>{20}, {1}));
  MPSGraphTensor* second = [q.graph readVariable:v name:nil];
  const auto seen = q.run({first, second}, list(assign));
  return join({values_text(seen.at(0)), values_text(seen.at(1)), q.value(v)});
}

constexpr Probe kRows[] = {
    {"shared_variable", "two executables share a graph's variable", "3 12", 0, "the engine relies on it", nullptr,
     shared_variable},
    {"fetched_before_assign", "a fetch before the assignment: the old value", "1 2", 0, "the engine relies on it",
     nullptr, fetched_before_assign},
    {"read_after_assign", "a fetch behind the assignment: the old value", "1 2", 0, "a run's reads see its start",
     "read_after_assign", read_after_assign, "2 2"},
    {"read_assign_read", "explicit reads around an assignment", nullptr, 0, "their order is documented nowhere",
     nullptr, read_assign_read},
};

}  // namespace

const std::span<const Probe> kVariables = kRows;

}  // namespace alloy::probes
