// State of a graph: when it is read and when it is written.
#include "question.h"

// macOS 15; older headers lack it.
@protocol AlloyProbesVariables
- (MPSGraphTensor*)variableFromTensorWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name;
@end

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

// The values of a variable made from a tensor, in two runs that add 1 to it.
std::string made_of(Question& q, MPSGraphTensor* tensor) {
  if (![q.graph respondsToSelector:@selector(variableFromTensorWithTensor:name:)]) return kAbsent;
  MPSGraphTensor* v = [(id<AlloyProbesVariables>)q.graph variableFromTensorWithTensor:tensor name:nil];
  MPSGraphTensor* one = [q.graph constantWithScalar:1 dataType:MPSDataTypeFloat32];
  MPSGraphTensor* next = [q.graph additionWithPrimaryTensor:v secondaryTensor:one name:nil];
  MPSGraphExecutable* step = q.compile(list(q.identity(v)), list(q.assign(v, next)));
  const std::string first = values_text(static_cast<MPSGraphTensorData*>([q.run(step) objectAtIndex:0]));
  return join({first, values_text(static_cast<MPSGraphTensorData*>([q.run(step) objectAtIndex:0]))});
}

std::string variable_of_a_constant() {
  Question q;
  return made_of(q, [q.graph constantWithScalar:3 shape:numbers({1}) dataType:MPSDataTypeFloat32]);
}

std::string variable_of_a_feed() {
  Question q;
  return made_of(q, q.feed(std::vector<float>{3}, {1}));
}

constexpr Probe kVariablesRows[] = {
    {"shared_variable", "two executables share a graph's variable", "3 12", 0, "the engine relies on it", nullptr,
     shared_variable},
    {"fetched_before_assign", "a fetch before the assignment: the old value", "1 2", 0, "the engine relies on it",
     nullptr, fetched_before_assign},
    {"read_after_assign", "a fetch behind the assignment: the old value", "1 2", 0, "a run's reads see its start",
     "read_after_assign", read_after_assign, "2 2"},
    {"read_assign_read", "explicit reads around an assignment", nullptr, 0, "their order is documented nowhere",
     nullptr, read_assign_read},
    {"variable_of_a_constant", "a variable made of a constant, in two runs", nullptr, 0, "3 4 on Linux; of macOS 15",
     nullptr, variable_of_a_constant},
    {"variable_of_a_feed", "a variable made of a feed, in two runs", nullptr, 0, "documented nowhere; refused on Linux",
     nullptr, variable_of_a_feed},
};

}  // namespace

const std::span<const Probe> kVariables = kVariablesRows;

}  // namespace alloy::probes
