// A library whose functions throw, for tests/python/ops/test_op_library.py.
#include <alloy/op_library.h>

#include <stdexcept>

namespace {

int rule(const AlloyTensor* inputs, AlloyTensor* results, char*) {
  if (inputs[0].axes > 2) throw std::invalid_argument("Expected at most two axes");
  results[0] = inputs[0];
  return 0;
}

int throws(const AlloyTensor*, AlloyTensor*, char*) { throw std::runtime_error("No luck today"); }
int throws_a_number(const AlloyTensor*, AlloyTensor*, char*) { throw 3; }

const AlloyOp ops[] = {
    {"throws", "", 1, 1, rule, throws, nullptr},
    {"throws_a_number", nullptr, 1, 1, rule, throws_a_number, nullptr},
};
const AlloyOpLibrary library = {ALLOY_OP_LIBRARY_VERSION, 2, "throwing", ops};

}  // namespace

const AlloyOpLibrary* alloy_op_library() { return &library; }
