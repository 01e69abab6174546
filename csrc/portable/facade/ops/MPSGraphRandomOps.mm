// Random numbers, and dropout.

#include "facade/ops/random_fields.h"
#include "ir/rules/random_state.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

MPSGraphTensor* constant(MPSGraph* graph, const ir::RandomState& state, NSString* name) {
  const ir::Type type{ir::DType::int32, ir::Shape({static_cast<int64_t>(state.size())})};
  ir::LiteralRef literal;
  build([&] { literal = std::make_shared<ir::Literal>(type, std::as_bytes(std::span(state))); });
  return add(graph, OpCode::constant, {}, {{Attr::kValue, std::move(literal)}}, name);
}

MPSGraphTensor* fresh_state(MPSGraph* graph) { return add(graph, OpCode::fresh_random_state, {}, {}, nil); }

MPSGraphRandomOpDescriptor* uniform() {
  return [MPSGraphRandomOpDescriptor descriptorWithDistribution:MPSGraphRandomDistributionUniform
                                                       dataType:MPSDataTypeFloat32];
}

std::string word_of(MPSGraphRandomDistribution distribution) {
  switch (distribution) {
    case MPSGraphRandomDistributionUniform: return "uniform";
    case MPSGraphRandomDistributionNormal: return "normal";
    case MPSGraphRandomDistributionTruncatedNormal: return "truncated_normal";
  }
  raise_invalid(@"[random] A distribution was expected, got %llu.", static_cast<unsigned long long>(distribution));
}

std::string word_of(MPSGraphRandomNormalSamplingMethod method) {
  switch (method) {
    case MPSGraphRandomNormalSamplingInvCDF: return "inverse_cdf";
    case MPSGraphRandomNormalSamplingBoxMuller: return "box_muller";
  }
  raise_invalid(@"[random] A sampling method was expected, got %llu.", static_cast<unsigned long long>(method));
}

ir::Attributes attributes_of(const RandomFields& f) {
  const bool integers = f.dataType == MPSDataTypeInt32;
  return {{Attr::kDistribution, word_of(f.distribution)},
          {Attr::kSampling, word_of(f.samplingMethod)},
          {Attr::kLow, integers ? static_cast<double>(f.minInteger) : double{f.min}},
          {Attr::kHigh, integers ? static_cast<double>(f.maxInteger) : double{f.max}},
          {Attr::kMean, double{f.mean}},
          {Attr::kDeviation, double{f.standardDeviation}}};
}

// The numbers, of the shape and type of `like`, and the next state.
NSArray<MPSGraphTensor*>* random_tensors(MPSGraph* graph, MPSGraphTensor* state, ir::Value like,
                                         MPSGraphRandomOpDescriptor* descriptor, NSString* name) {
  const ir::Op* op =
      add_op(graph, OpCode::random, {value_of(graph, state), like}, attributes_of(facade::fields_of(descriptor)), name);
  return [NSArray
      arrayWithObjects:tensor_of(graph_of(graph), op->result(0)), tensor_of(graph_of(graph), op->result(1)), nil];
}

ir::DType dtype_of(MPSGraphRandomOpDescriptor* descriptor) {
  return facade::dtype_of(facade::fields_of(descriptor).dataType);
}

MPSGraphTensor* dropout(MPSGraph* graph, ir::Value x, ir::Value rate, NSString* name) {
  const ir::Value like = value_of(add(graph, OpCode::cast, {x}, {{Attr::kDtype, ir::DType::float32}}, nil));
  MPSGraphTensor* chance = [random_tensors(graph, fresh_state(graph), like, uniform(), nil) objectAtIndex:0];
  return add(graph, ir::Composite::dropout, {x, rate, value_of(chance)}, {}, name);
}

}  // namespace

@implementation MPSGraph (MPSGraphRandomOps)

- (MPSGraphTensor*)randomPhiloxStateTensorWithSeed:(NSUInteger)seed name:(NSString*)name {
  return constant(self, ir::random_state(seed), name);
}

- (MPSGraphTensor*)randomPhiloxStateTensorWithCounterLow:(NSUInteger)counterLow
                                             counterHigh:(NSUInteger)counterHigh
                                                     key:(NSUInteger)key
                                                    name:(NSString*)name {
  return constant(self, ir::random_state(counterLow, counterHigh, key), name);
}

- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    name:(NSString*)name {
  return [[self randomTensorWithShape:shape descriptor:descriptor stateTensor:fresh_state(self)
                                 name:name] objectAtIndex:0];
}

- (MPSGraphTensor*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                    descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                          name:(NSString*)name {
  return [[self randomTensorWithShapeTensor:shapeTensor descriptor:descriptor stateTensor:fresh_state(self)
                                       name:name] objectAtIndex:0];
}

- (MPSGraphTensor*)randomTensorWithShape:(MPSShape*)shape
                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                    seed:(NSUInteger)seed
                                    name:(NSString*)name {
  MPSGraphTensor* state = [self randomPhiloxStateTensorWithSeed:seed name:nil];
  return [[self randomTensorWithShape:shape descriptor:descriptor stateTensor:state name:name] objectAtIndex:0];
}

- (MPSGraphTensor*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                    descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                          seed:(NSUInteger)seed
                                          name:(NSString*)name {
  MPSGraphTensor* state = [self randomPhiloxStateTensorWithSeed:seed name:nil];
  return [[self randomTensorWithShapeTensor:shapeTensor descriptor:descriptor stateTensor:state
                                       name:name] objectAtIndex:0];
}

- (NSArray<MPSGraphTensor*>*)randomTensorWithShape:(MPSShape*)shape
                                        descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                       stateTensor:(MPSGraphTensor*)state
                                              name:(NSString*)name {
  const ir::Shape made = shape_of(shape);
  if (!made.is_static()) raise_invalid(@"[random] A shape without -1 was expected, got %s.", to_string(made).c_str());
  return random_tensors(self, state, unspecified(self, shape, dtype_of(descriptor)), descriptor, name);
}

- (NSArray<MPSGraphTensor*>*)randomTensorWithShapeTensor:(MPSGraphTensor*)shapeTensor
                                              descriptor:(MPSGraphRandomOpDescriptor*)descriptor
                                             stateTensor:(MPSGraphTensor*)state
                                                    name:(NSString*)name {
  return random_tensors(self, state, unspecified(self, shapeTensor, dtype_of(descriptor)), descriptor, name);
}

FORWARD(MPSGraphTensor*, takes(randomUniformTensorWithShape),
        sends(randomTensorWithShape, randomUniformTensorWithShape), sends(descriptor, uniform()), passes(name))

FORWARD(MPSGraphTensor*, takes(randomUniformTensorWithShapeTensor),
        sends(randomTensorWithShapeTensor, randomUniformTensorWithShapeTensor), sends(descriptor, uniform()),
        passes(name))

FORWARD(MPSGraphTensor*, takes(randomUniformTensorWithShape),
        sends(randomTensorWithShape, randomUniformTensorWithShape), sends(descriptor, uniform()),
        passes(seed, NSUInteger), passes(name))

FORWARD(MPSGraphTensor*, takes(randomUniformTensorWithShapeTensor),
        sends(randomTensorWithShapeTensor, randomUniformTensorWithShapeTensor), sends(descriptor, uniform()),
        passes(seed, NSUInteger), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, takes(randomUniformTensorWithShape),
        sends(randomTensorWithShape, randomUniformTensorWithShape), sends(descriptor, uniform()), passes(stateTensor),
        passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, takes(randomUniformTensorWithShapeTensor),
        sends(randomTensorWithShapeTensor, randomUniformTensorWithShapeTensor), sends(descriptor, uniform()),
        passes(stateTensor), passes(name))

- (MPSGraphTensor*)dropoutTensor:(MPSGraphTensor*)tensor rate:(double)rate name:(NSString*)name {
  MPSGraphTensor* chance = [self constantWithScalar:rate dataType:MPSDataTypeFloat32];
  return [self dropoutTensor:tensor rateTensor:chance name:name];
}

- (MPSGraphTensor*)dropoutTensor:(MPSGraphTensor*)tensor rateTensor:(MPSGraphTensor*)rate name:(NSString*)name {
  return dropout(self, value_of(self, tensor), value_of(self, rate), name);
}

@end
