// Placeholders, constants, variables, and what tensors and operations say about themselves.

#include "graph_testing.h"

TEST(placeholders) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* first = [g placeholderWithShape:numbers({2, 3}) name:@"first"];
  MPSGraphTensor* second = [g placeholderWithShape:numbers({4}) dataType:MPSDataTypeInt64 name:nil];
  MPSGraphTensor* third = [g placeholderWithShape:numbers({-1, 5}) dataType:MPSDataTypeBool name:@"third"];
  MPSGraphTensor* fourth = [g placeholderWithShape:nil dataType:MPSDataTypeFloat32 name:nil];
  CHECK([first dataType] == MPSDataTypeFloat32 && shape_of([first shape]) == Shape{2, 3});
  CHECK([second dataType] == MPSDataTypeInt64 && shape_of([second shape]) == Shape{4});
  CHECK([third dataType] == MPSDataTypeBool && shape_of([third shape]) == Shape{-1, 5});
  CHECK([fourth shape] == nil);
  CHECK([[g placeholderTensors] isEqualToArray:[NSArray arrayWithObjects:first, second, third, fourth, nil]]);
  CHECK([[[first operation] name] isEqualToString:@"first"]);
  const Array values = random_integers({4}, -9, 9, MPSDataTypeInt64);
  session.set(second, values);
  CHECK_ARRAY_WITHIN(0, session.run(second), values);
}

TEST(constants) {
  Session session;
  MPSGraph* g = session.graph();
  for (MPSDataType type : {MPSDataTypeFloat32, MPSDataTypeInt32, MPSDataTypeInt64, MPSDataTypeBool}) {
    const Array x = type == MPSDataTypeFloat32 ? random_array({3, 4}) : random_integers({3, 4}, 0, 1, type);
    CHECK_ARRAY_WITHIN(0, session.run([g constantWithData:bytes_of(x) shape:numbers(x.shape) dataType:type]), x);
  }
  CHECK_ARRAY_WITHIN(0, session.run([g constantWithScalar:-2.75 shape:numbers({2, 3}) dataType:MPSDataTypeFloat32]),
                     Array({2, 3}, -2.75));
  CHECK_ARRAY_WITHIN(0, session.run([g constantWithScalar:3 shape:numbers({2, 3}) dataType:MPSDataTypeInt32]),
                     Array({2, 3}, 3, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g constantWithScalar:1099511627776.0 shape:numbers({2}) dataType:MPSDataTypeInt64]),
                     Array({2}, 1099511627776.0, MPSDataTypeInt64));
  CHECK_ARRAY_WITHIN(0, session.run([g constantWithScalar:1 shape:numbers({2}) dataType:MPSDataTypeBool]),
                     Array({2}, 1, MPSDataTypeBool));
  // Scalars, in all their spellings, broadcast.
  const Array x = random_array({3, 4});
  MPSGraphTensor* tx = session.feed(x);
  for (MPSGraphTensor* scalar :
       {scalar(g, 0.75), [g constantWithScalar:0.75 shape:numbers({}) dataType:MPSDataTypeFloat32],
        [g constantWithScalar:0.75 shape:numbers({1}) dataType:MPSDataTypeFloat32],
        [g constantWithScalar:0.75 shape:numbers({-1}) dataType:MPSDataTypeFloat32]}) {
    CHECK([scalar dataType] == MPSDataTypeFloat32);
    CHECK_ARRAY(session.run(minus(g, scalar, tx)), map(x, [](double v) { return 0.75 - v; }));
  }
  // Of other shapes every length must be known.
  for (const Shape& shape : {Shape{-1, -1}, Shape{2, -1}, Shape{-2}}) {
    CHECK_RAISES([g constantWithScalar:1 shape:numbers(shape) dataType:MPSDataTypeFloat32]);
    CHECK_RAISES([g constantWithData:[NSData dataWithBytes:"abcd" length:4]
                               shape:numbers(shape)
                            dataType:MPSDataTypeFloat32]);
  }
}

TEST(initial_data_is_copied) {
  Session session;
  MPSGraph* g = session.graph();
  NSMutableData* data = [NSMutableData dataWithLength:8];
  float* bytes = static_cast<float*>([data mutableBytes]);
  *bytes = 1;
  *(bytes + 1) = 2;
  MPSGraphTensor* fixed = [g constantWithData:data shape:numbers({2}) dataType:MPSDataTypeFloat32];
  MPSGraphTensor* state = nil;
  {
    float stack[2] = {5, 6};
    NSData* view = [[NSData alloc] initWithBytesNoCopy:stack length:sizeof stack freeWhenDone:NO];
    state = [g variableWithData:view shape:numbers({2}) dataType:MPSDataTypeFloat32 name:nil];
    [view release];
    stack[0] = stack[1] = -1;
  }
  MPSGraphTensorData* fed = nil;
  @autoreleasepool {
    id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
    fed = [[MPSGraphTensorData alloc] initWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                data:data
                                               shape:numbers({2})
                                            dataType:MPSDataTypeFloat32];
  }
  *bytes = 7;
  CHECK_ARRAY(session.run(fixed), Array({2}, {1, 2}));
  CHECK_ARRAY(session.run(state), Array({2}, {5, 6}));
  CHECK_ARRAY(read_array(fed), Array({2}, {1, 2}));
  [fed release];
}

TEST(variables) {
  Session session;
  MPSGraph* g = session.graph();
  const Array initial = random_array({2, 3}), counts = random_integers({4}, -9, 9, MPSDataTypeInt64);
  MPSGraphTensor* state = [g variableWithData:bytes_of(initial)
                                        shape:numbers({2, 3})
                                     dataType:MPSDataTypeFloat32
                                         name:@"state"];
  MPSGraphTensor* counter = variable(g, counts);
  CHECK([[state operation] isKindOfClass:[MPSGraphVariableOp class]]);
  MPSGraphVariableOp* op = static_cast<MPSGraphVariableOp*>([state operation]);
  CHECK(shape_of([op shape]) == Shape({2, 3}) && [op dataType] == MPSDataTypeFloat32 &&
        [[op name] isEqualToString:@"state"]);
  CHECK([static_cast<MPSGraphVariableOp*>([counter operation]) dataType] == MPSDataTypeInt64);
  CHECK(![[[g squareWithTensor:state name:nil] operation] isKindOfClass:[MPSGraphVariableOp class]]);
  CHECK_ARRAY(session.run(state), initial);
  CHECK_ARRAY(session.run(counter), counts);
  CHECK_ARRAY(session.run([g readVariable:state name:nil]), initial);
  CHECK_ARRAY(session.run([g readVariable:counter name:@"read"]), counts);
}

TEST(operations_describe_themselves) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = placeholder(g, {2, 3}), *b = placeholder(g, {3});
  MPSGraphTensor* difference = [g subtractionWithPrimaryTensor:a secondaryTensor:b name:@"difference"];
  MPSGraphOperation* operation = [difference operation];
  CHECK([[operation name] isEqualToString:@"difference"]);
  CHECK([[operation inputTensors] isEqualToArray:list(a, b)]);
  CHECK([[operation outputTensors] isEqualToArray:list(difference)]);
  CHECK([operation graph] == g);
  CHECK([[operation controlDependencies] count] == 0);
  CHECK(shape_of([difference shape]) == Shape({2, 3}));

  // Identity: one object, also as a key.
  CHECK([difference operation] == operation);
  MPSGraphTensor* copy = [difference copy];
  MPSGraphOperation* operation_copy = [operation copy];
  CHECK(copy == difference && operation_copy == operation);
  [copy release];
  [operation_copy release];
  NSDictionary* keyed = [NSDictionary dictionaryWithObjectsAndKeys:@"x", a, @"y", difference, operation, b, nil];
  CHECK([[keyed objectForKey:a] isEqual:@"x"] && [[keyed objectForKey:difference] isEqual:@"y"] &&
        [keyed objectForKey:b] == operation);

  // Names are made where none is given, and never twice.
  NSMutableSet* names = [NSMutableSet set];
  for (int i = 0; i < 5; ++i) [names addObject:[[[g squareWithTensor:a name:nil] operation] name]];
  CHECK([names count] == 5);

  MPSGraphTensor* state = variable(g, Array({2}, 1.0));
  MPSGraphOperation* assign = [g assignVariable:state
                              withValueOfTensor:[g squareWithTensor:state name:nil]
                                           name:@"step"];
  CHECK([[assign name] isEqualToString:@"step"] && [[assign outputTensors] count] == 0 &&
        [[assign inputTensors] containsObject:state]);
  __block MPSGraphTensor* inside = nil;
  [g controlDependencyWithOperations:list(assign)
                      dependentBlock:^{
                        inside = [g negativeWithTensor:b name:nil];
                        return list(inside);
                      }
                                name:nil];
#ifndef __APPLE__
  CHECK([[[inside operation] controlDependencies] isEqualToArray:list(assign)]);
#endif
}

TEST(graphs_start_with_default_options) {
  MPSGraph* g = [MPSGraph new];
  CHECK([g options] == MPSGraphOptionsDefault && MPSGraphOptionsDefault == MPSGraphOptionsSynchronizeResults);
  [g setOptions:MPSGraphOptionsNone];
  CHECK([g options] == MPSGraphOptionsNone);
  CHECK([[g placeholderTensors] count] == 0);
  [g release];
}

TEST(shaped_types) {
  MPSGraphShapedType* type = [[[MPSGraphShapedType alloc] initWithShape:numbers({2, -1})
                                                               dataType:MPSDataTypeInt32] autorelease];
  MPSGraphShapedType* same = [[type copy] autorelease];
  CHECK(same != type && [same isEqualTo:type] && shape_of([same shape]) == Shape({2, -1}) &&
        [same dataType] == MPSDataTypeInt32);
  [same setShape:numbers({2, 3})];
  CHECK(![same isEqualTo:type] && shape_of([type shape]) == Shape({2, -1}));
  [same setShape:numbers({2, -1})];
  [same setDataType:MPSDataTypeInt64];
  CHECK(![same isEqualTo:type] && [same dataType] == MPSDataTypeInt64);
  MPSGraphShapedType* unranked = [[[MPSGraphShapedType alloc] initWithShape:nil dataType:MPSDataTypeInt32] autorelease];
  CHECK([unranked shape] == nil && ![unranked isEqualTo:type]);
}

// Tensors that outlive their graph may be asked and released.
TEST(tensors_outlive_their_graph) {
  MPSGraphTensor* tensor = nil;
  @autoreleasepool {
    MPSGraph* g = [MPSGraph new];
    tensor = [[g squareWithTensor:placeholder(g, {2, 3}) name:nil] retain];
    [g release];
  }
  CHECK(shape_of([tensor shape]) == Shape({2, 3}) && [tensor dataType] == MPSDataTypeFloat32);
  // No other graph takes it.
  Session session;
  MPSGraph* other = session.graph();
  MPSGraphTensor* own = session.feed(random_array({2, 3}));
  CHECK_RAISES(plus(other, own, tensor));
  CHECK_RAISES([other gradientForPrimaryTensor:own withTensors:list(tensor) name:nil]);
  CHECK_RAISES(session.run(tensor));
  [tensor release];
}

// Programs subclass MPSGraph and give tensors methods of their own.
@interface LayeredGraph : MPSGraph {
  int _layers;
}
- (MPSGraphTensor*)layer:(MPSGraphTensor*)x;
- (int)layers;
@end

@implementation LayeredGraph
- (MPSGraphTensor*)layer:(MPSGraphTensor*)x {
  ++_layers;
  return [self reLUWithTensor:x name:nil];
}
- (int)layers {
  return _layers;
}
@end

@interface MPSGraphTensor (Doubling)
- (MPSGraphTensor*)doubled;
@end

@implementation MPSGraphTensor (Doubling)
- (MPSGraphTensor*)doubled {
  return plus([[self operation] graph], self, self);
}
@end

TEST(subclasses_and_categories) {
  LayeredGraph* g = [[LayeredGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {3});
  MPSGraphTensor* y = [[g layer:x] doubled];
  const Array value({3}, {-1, 2, 3});
  NSDictionary* results = [g runWithFeeds:pair(tensor_data(value), x) targetTensors:list(y) targetOperations:nil];
  CHECK_ARRAY(read_array([results objectForKey:y]), Array({3}, {0, 4, 6}));
  CHECK([g layers] == 1);
  CHECK([[y operation] graph] == g);
}

int main(int count, char** arguments) { return check::run(count, arguments); }
