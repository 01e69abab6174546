// Elementwise functions of one and of two numbers: values at points that tell each from every other, and types. And the
// sizes of pages.

#include "graph_testing.h"

#ifdef __APPLE__  // of macOS's Foundation, but not of its kin's
#include <mach/mach.h>
#endif
#include <unistd.h>

#include <cstdint>

static const double kNan = std::nan("");

struct Unary {
  const char* name;
  MPSGraphTensor* (*apply)(MPSGraph*, MPSGraphTensor*);
  double (*expected)(double);
  std::vector<double> at;
};

#define UNARY(stem) [](MPSGraph* g, MPSGraphTensor* x) { return [g stem##WithTensor:x name:nil]; }
#define BINARY(stem)                                                 \
  [](MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {            \
    return [g stem##WithPrimaryTensor:a secondaryTensor:b name:nil]; \
  }

static const std::vector<double> kReal = {-2.5, -0.75, -0.3, 0.2, 0.5, 1.25, 1.5, 2.5, 3.75},
                                 kUnit = {-0.9, -0.3, 0.2, 0.8}, kPositive = {0.3, 0.5, 1, 2, 4.5};

static const Unary kUnary[] = {
    {"logarithmBase2", UNARY(logarithmBase2), [](double x) { return std::log2(x); }, kPositive},
    {"logarithmBase10", UNARY(logarithmBase10), [](double x) { return std::log10(x); }, kPositive},
    {"exponentBase2", UNARY(exponentBase2), [](double x) { return std::exp2(x); }, kReal},
    {"exponentBase10", UNARY(exponentBase10), [](double x) { return std::pow(10, x); }, kReal},
    {"erf", UNARY(erf), [](double x) { return std::erf(x); }, kReal},
    {"floor", UNARY(floor), [](double x) { return std::floor(x); }, kReal},
    {"ceil", UNARY(ceil), [](double x) { return std::ceil(x); }, kReal},
    {"round", UNARY(round), [](double x) { return std::round(x); }, {-1.75, -0.3, 0.2, 0.75, 1.25, 7.6}},
    {"rint", UNARY(rint), [](double x) { return std::nearbyint(x); }, kReal},
    {"truncate", UNARY(truncate), [](double x) { return std::trunc(x); }, kReal},
    {"signbit", UNARY(signbit), [](double x) { return std::signbit(x) ? 1.0 : 0.0; }, {-2, -0.0, 0, 3}},
    {"sin", UNARY(sin), [](double x) { return std::sin(x); }, kReal},
    {"cos", UNARY(cos), [](double x) { return std::cos(x); }, kReal},
    {"tan", UNARY(tan), [](double x) { return std::tan(x); }, kUnit},
    {"sinh", UNARY(sinh), [](double x) { return std::sinh(x); }, kReal},
    {"cosh", UNARY(cosh), [](double x) { return std::cosh(x); }, kReal},
    {"asin", UNARY(asin), [](double x) { return std::asin(x); }, kUnit},
    {"acos", UNARY(acos), [](double x) { return std::acos(x); }, kUnit},
    {"atan", UNARY(atan), [](double x) { return std::atan(x); }, kReal},
    {"asinh", UNARY(asinh), [](double x) { return std::asinh(x); }, kReal},
    {"acosh", UNARY(acosh), [](double x) { return std::acosh(x); }, {1.2, 2, 5}},
    {"atanh", UNARY(atanh), [](double x) { return std::atanh(x); }, kUnit},
};

static void functions_of_one_number() {
  for (const Unary& row : kUnary) {
    Session session;
    const Array x({static_cast<long>(row.at.size())}, row.at);
    Array y(x.shape);
    for (size_t i = 0; i < row.at.size(); ++i) y.values.at(i) = row.expected(x.values.at(i));
    check::report_array(session.run(row.apply(session.graph(), session.feed(x))), y, 2e-6, row.name, __FILE__,
                        __LINE__);
  }
}

#ifndef __APPLE__  // where it is not known
static void rounding_of_integers() {
  const Array x({4}, {-7, 0, 3, 16777217}, MPSDataTypeInt32);  // the last is no float32
  using Apply = MPSGraphTensor* (*)(MPSGraph*, MPSGraphTensor*);
  for (const Apply apply : std::vector<Apply>{UNARY(floor), UNARY(ceil), UNARY(round), UNARY(rint), UNARY(truncate)}) {
    Session session;
    CHECK_ARRAY_WITHIN(0, session.run(apply(session.graph(), session.feed(x))), x);
  }
}
#endif

struct Binary {
  const char* name;
  MPSGraphTensor* (*apply)(MPSGraph*, MPSGraphTensor*, MPSGraphTensor*);
  double (*expected)(double, double);
  MPSDataType type;
};

static bool is(double x) { return x != 0; }
static long whole(double x) { return static_cast<long>(x); }

static const Binary kBinary[] = {
    {"modulo", BINARY(modulo), [](double a, double b) { return std::fmod(a, b); }, MPSDataTypeFloat32},
    {"modulo", BINARY(modulo), [](double a, double b) { return std::fmod(a, b); }, MPSDataTypeInt32},
    {"floorModulo", BINARY(floorModulo), [](double a, double b) { return a - std::floor(a / b) * b; },
     MPSDataTypeFloat32},
    {"floorModulo", BINARY(floorModulo), [](double a, double b) { return a - std::floor(a / b) * b; },
     MPSDataTypeInt32},
    {"atan2", BINARY(atan2), [](double a, double b) { return std::atan2(a, b); }, MPSDataTypeFloat32},
    {"bitwiseAND", BINARY(bitwiseAND), [](double a, double b) { return double(whole(a) & whole(b)); },
     MPSDataTypeInt32},
    {"bitwiseOR", BINARY(bitwiseOR), [](double a, double b) { return double(whole(a) | whole(b)); }, MPSDataTypeInt32},
    {"bitwiseXOR", BINARY(bitwiseXOR), [](double a, double b) { return double(whole(a) ^ whole(b)); },
     MPSDataTypeInt32},
    {"logicalNAND", BINARY(logicalNAND), [](double a, double b) { return double(!(is(a) && is(b))); }, MPSDataTypeBool},
    {"logicalNOR", BINARY(logicalNOR), [](double a, double b) { return double(!(is(a) || is(b))); }, MPSDataTypeBool},
    {"logicalXNOR", BINARY(logicalXNOR), [](double a, double b) { return double(is(a) == is(b)); }, MPSDataTypeBool},
};

static void functions_of_two_numbers() {
  for (const Binary& row : kBinary) {
    const bool truth = row.type == MPSDataTypeBool;
    const Array a({2, 3}, truth ? std::vector<double>{0, 1, 0, 1, 0, 0} : std::vector<double>{-7, 7, 5, -5, 6, 3},
                  row.type);
    const Array b({2, 3}, truth ? std::vector<double>{0, 1, 1, 0, 0, 1} : std::vector<double>{3, -3, 2, 2, 4, 5},
                  row.type);
    Array y(a.shape, std::vector<double>(6), row.type);
    for (size_t i = 0; i < 6; ++i) y.values.at(i) = row.expected(a.values.at(i), b.values.at(i));
    Session session;
    check::report_array(session.run(row.apply(session.graph(), session.feed(a), session.feed(b))), y, 1e-6, row.name,
                        __FILE__, __LINE__);
  }
}

static void bits() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = session.feed(Array({3}, {5, -1, 112}, MPSDataTypeInt32));
  MPSGraphTensor* by = session.feed(Array({3}, {1, 3, 4}, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0, session.run([g bitwiseNOTWithTensor:x name:nil]), Array({3}, {-6, 0, -113}, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0, session.run([g bitwisePopulationCountWithTensor:x name:nil]),
                     Array({3}, {2, 32, 3}, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0, session.run([g bitwiseLeftShiftWithPrimaryTensor:x secondaryTensor:by name:nil]),
                     Array({3}, {10, -8, 1792}, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0, session.run([g bitwiseRightShiftWithPrimaryTensor:x secondaryTensor:by name:nil]),
                     Array({3}, {2, -1, 7}, MPSDataTypeInt32));
}

static void extremes_that_keep_nan() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* a = session.feed(Array({4}, {1, kNan, 3, -2}));
  MPSGraphTensor* b = session.feed(Array({4}, {2, 1, kNan, -5}));
  CHECK_ARRAY_WITHIN(0, session.run([g minimumWithNaNPropagationWithPrimaryTensor:a secondaryTensor:b name:nil]),
                     Array({4}, {1, kNan, kNan, -5}));
  CHECK_ARRAY_WITHIN(0, session.run([g maximumWithNaNPropagationWithPrimaryTensor:a secondaryTensor:b name:nil]),
                     Array({4}, {2, kNan, kNan, -2}));
}

// Darwin's names, which come with Foundation.
static void pages() {
  const size_t page = static_cast<size_t>(getpagesize());
  CHECK(PAGE_SIZE == page && vm_page_size == page && PAGE_MASK == page - 1 && vm_page_mask == page - 1);
  CHECK(size_t{1} << PAGE_SHIFT == page && size_t{1} << vm_page_shift == page);
  CHECK(PAGE_MIN_SIZE <= PAGE_SIZE && PAGE_SIZE <= PAGE_MAX_SIZE);
  CHECK(trunc_page(page + 1) == page && round_page(page + 1) == 2 * page && round_page(page) == page);
  CHECK(mach_vm_trunc_page(page - 1) == 0 && mach_vm_round_page(page - 1) == page);
}

int main() {
  @autoreleasepool {
    pages();
    functions_of_one_number();
#ifndef __APPLE__
    rounding_of_integers();
#endif
    functions_of_two_numbers();
    bits();
    extremes_that_keep_nan();
  }
  return check::summary();
}
