// Constants, and element types other than float32.
#include "question.h"

namespace alloy::probes {
namespace {

std::string bool_constant() {
  Question q;
  MPSGraphTensor* truth = [q.graph constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
  MPSGraphTensor* fed = q.feed(bytes(std::vector<uint8_t>{1}), {1}, MPSDataTypeBool);
  return q.values({q.identity(truth), [q.graph castTensor:truth toType:MPSDataTypeFloat32 name:nil],
                   [q.graph equalWithPrimaryTensor:truth secondaryTensor:fed name:nil]});
}

std::string int64_constant() {
  Question q;
  const std::vector<int64_t> values{(int64_t{1} << 53) + 1, -(int64_t{1} << 62)};
  return q.values({q.identity([q.graph constantWithData:bytes(values) shape:numbers({2}) dataType:MPSDataTypeInt64])});
}

std::string int32_select() {
  Question q;
  return q.values({[q.graph selectWithPredicateTensor:q.feed(std::vector<int32_t>{0, 1, 2, -1}, {4})
                                  truePredicateTensor:q.feed(std::vector<float>{1, 2, 3, 4}, {4})
                                 falsePredicateTensor:q.feed(std::vector<float>{-1, -2, -3, -4}, {4})
                                                 name:nil]});
}

std::string int32_division() {
  Question q;
  MPSGraphTensor *a = q.feed(std::vector<int32_t>{-616, 7, -7, 2147483647}, {4}),
                 *b = q.feed(std::vector<int32_t>{28, 2, 2, 3}, {4});
  return q.values({[q.graph divisionWithPrimaryTensor:a secondaryTensor:b name:nil]});
}

std::string int64_sum() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<int64_t>{(int64_t{1} << 40) + 1, int64_t{1} << 40, -5}, {3});
  return q.values({[q.graph reductionSumWithTensor:x axes:numbers({0}) name:nil]});
}

// Apple's header says that the shape (1) of a scalar is resolved by inference.
std::string constant_of_one() {
  Question q;
  MPSGraphTensor* one = [q.graph constantWithScalar:5 shape:numbers({1}) dataType:MPSDataTypeFloat32];
  MPSGraphTensor* by_bytes = [q.graph constantWithData:bytes(std::vector<float>{5})
                                                 shape:numbers({1})
                                              dataType:MPSDataTypeFloat32];
  MPSGraphTensor* x = q.feed(std::vector<float>{1, 2}, {2});
  return join({q.shaped([q.graph concatTensors:[NSArray arrayWithObjects:by_bytes, x, nil] dimension:0 name:nil]),
               q.shaped([q.graph concatTensors:[NSArray arrayWithObjects:one, x, nil] dimension:0 name:nil])});
}

// Uses the number of the type, because older headers lack its name.
std::string bfloat16_cast() {
  Question q;
  MPSGraphTensor* half = [q.graph castTensor:q.feed(std::vector<float>{1.5f}, {1})
                                      toType:static_cast<MPSDataType>(0x90000010)
                                        name:nil];
  return q.values({[q.graph castTensor:half toType:MPSDataTypeFloat32 name:nil]});
}

std::string complex_feed() {
  Question q;
  const auto type = static_cast<MPSDataType>(0x11000040);
  MPSGraphTensorData* seen = q.run({q.identity(q.feed(bytes(std::vector<float>{1.5f, -2}), {1}, type))}).front();
  float parts[2];
  [[seen mpsndarray] readBytes:parts strideBytes:nil];
  return join({text(parts[0]), text(parts[1])});
}

constexpr Probe kTypesRows[] = {
    {"bool_constant", "true as a scalar constant, cast, compared", "1 1 1", 0, "the definition of true", "true_is_255",
     bool_constant, "? 255 0"},
    {"constant_of_one", "a constant of one element, concatenated", "(3) 5 1 2 (3) 5 1 2", 0, "the op's definition",
     nullptr, constant_of_one},
    {"int64_constant", "constants of int64 by bytes", "9007199254740993 -4611686018427387904", 0, "arithmetic", nullptr,
     int64_constant},
    {"int32_select", "select by numbers: what is not zero is true", "-1 2 3 4", 0, "the op's definition",
     "select_by_number", int32_select},
    {"int32_division", "quotients of int32 truncate toward zero", "-22 3 -3 715827882", 0, "arithmetic",
     "integer_quotient", int32_division, "-23 3 -4 ?"},
    {"int64_sum", "a sum of int64 beyond 2^40", "2199023255548", 0, "arithmetic", nullptr, int64_sum},
    {"bfloat16_cast", "a cast to bfloat16 and back", "1.5", 0, "arithmetic", "bfloat16", bfloat16_cast},
    {"complex_feed", "a complex number, fed and fetched", nullptr, 0, "of macOS 14", "complex", complex_feed},
};

}  // namespace

const std::span<const Probe> kTypes = kTypesRows;

}  // namespace alloy::probes
