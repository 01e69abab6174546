// Executables as files: what is written and loaded again has the order and the names of its inputs and results,
// computes the same bits for any shapes, and goes on with its variables; what cannot be written or read raises.

#ifdef __APPLE__
int main() { return 77; }  // the selectors are declared by SDKs from macOS 14 on
#else

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "control_flow.h"

static std::string g_folder;

static NSURL* url_of(const char* name) {
  return [NSURL fileURLWithPath:[NSString stringWithUTF8String:(g_folder + "/" + name).c_str()]];
}

static MPSGraphExecutable* loaded(NSURL* url) {
  return [[[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url compilationDescriptor:nil] autorelease];
}

static MPSGraphExecutable* reloaded(MPSGraphExecutable* executable) {
  NSURL* url = url_of("reloaded.mpsgraphpackage");
  [executable serializeToMPSGraphPackageAtURL:url descriptor:nil];
  return loaded(url);
}

static std::vector<Array> run(MPSGraphExecutable* executable, const std::vector<Array>& inputs) {
  NSMutableArray* data = [NSMutableArray array];
  for (const Array& input : inputs) [data addObject:tensor_data(input)];
  std::vector<Array> out;
  for (MPSGraphTensorData* result in results_of(executable, data)) out.push_back(read_array(result));
  return out;
}

// Equal to the bit: what has the same graph computes the same.
static bool same(const std::vector<Array>& a, const std::vector<Array>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.at(i).shape != b.at(i).shape || a.at(i).type != b.at(i).type || a.at(i).values != b.at(i).values)
      return false;
  }
  return true;
}

static NSString* name_of(MPSGraphTensor* tensor) { return [[tensor operation] name]; }

// w := w - 0.1 * x^T (x w - y), with names; targets in an order that is not that of their creation.
struct Regression {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:numbers({-1, 3}) dataType:MPSDataTypeFloat32 name:@"the inputs"];
  MPSGraphTensor* y = [graph placeholderWithShape:numbers({-1, 2}) dataType:MPSDataTypeFloat32 name:@"targets \"y\""];
  MPSGraphTensor* w = variable(graph, random_array({3, 2}));
  MPSGraphExecutable* executable;

  Regression() {
    MPSGraphTensor* error = [graph subtractionWithPrimaryTensor:matmul(graph, x, w) secondaryTensor:y name:@"error"];
    MPSGraphTensor* loss = [graph meanOfTensor:[graph squareWithTensor:error name:nil]
                                          axes:numbers({0, 1})
                                          name:@"gr\u00fc\u00dfe/loss"];
    MPSGraphTensor* gradient = matmul(graph, [graph transposeTensor:x dimension:0 withDimension:1 name:nil], error);
    MPSGraphTensor* updated = descended(graph, scalar(graph, 0.1), w, gradient);
    MPSGraphOperation* step = [graph assignVariable:w withValueOfTensor:updated name:@"step"];
    executable = compiled(graph, {y, x}, list(loss, error), list(step));
  }

  static std::vector<Array> batch(long rows) { return {random_array({rows, 3}), random_array({rows, 2})}; }
};

TEST(orders_names_and_shapes_come_back) {
  const Regression r;
  MPSGraphExecutable* again = reloaded(r.executable);
  NSArray *feeds = [again feedTensors], *targets = [again targetTensors];
  CHECK([feeds count] == 2 && [targets count] == 2);
  for (NSUInteger i = 0; i < 2; ++i) {
    MPSGraphTensor *fed = [feeds objectAtIndex:i], *before = [[r.executable feedTensors] objectAtIndex:i];
    CHECK([name_of(fed) isEqualToString:name_of(before)]);
    CHECK([[fed shape] isEqual:[before shape]] && [fed dataType] == [before dataType]);
    MPSGraphTensor *target = [targets objectAtIndex:i], *own = [[r.executable targetTensors] objectAtIndex:i];
    CHECK([name_of(target) isEqualToString:name_of(own)]);
  }
  CHECK([name_of([feeds objectAtIndex:0]) isEqualToString:@"the inputs"]);
  CHECK([name_of([targets objectAtIndex:0]) isEqualToString:@"gr\u00fc\u00dfe/loss"]);
  MPSGraph* graph = [[[feeds objectAtIndex:0] operation] graph];
  CHECK(graph != nil && graph != r.graph && [[graph placeholderTensors] isEqual:feeds]);
  CHECK([again options] == MPSGraphOptionsDefault);
}

TEST(training_goes_on_apart) {
  const Regression r;
  run(r.executable, Regression::batch(4));
  MPSGraphExecutable *one = reloaded(r.executable), *other = reloaded(r.executable);
  const std::vector<Array> first = Regression::batch(4);
  for (long rows : {4L, 7L, 1L, 4L}) {
    const std::vector<Array> batch = rows == 4 ? first : Regression::batch(rows);
    CHECK(same(run(one, batch), run(r.executable, batch)));
  }
  CHECK(!same(run(other, first), run(one, first)));
  // What was loaded can be written again, with what it has learned.
  MPSGraphExecutable* third = reloaded(one);
  CHECK(same(run(third, first), run(one, first)));
}

// Regions, assignments behind one another, random numbers, and numbers that no text has.
TEST(control_flow_state_and_random_numbers) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {4});
  MPSGraphTensor* count = variable(g, Array({1}, 0.0));
  MPSGraphTensor* one = scalar(g, 1);
  MPSGraphOperation* counted = assigned(g, count, plus(g, count, one));
  MPSGraphTensor* now = first(after(g, counted, [&] { return list(read(g, count)); }));
  MPSGraphTensor* head = [g sliceTensor:x dimension:0 start:0 length:1 name:nil];
  MPSGraphTensor* is_positive = [g greaterThanWithPrimaryTensor:head secondaryTensor:scalar(g, 0) name:nil];
  auto square = [&] { return list([g squareWithTensor:x name:nil]); };
  MPSGraphTensor* either =
      first(choose(g, is_positive, square, [&] { return list([g negativeWithTensor:x name:nil]); }));
  auto multiply = [&](MPSGraphTensor*, NSArray* carried) { return list(times(g, first(carried), x)); };
  MPSGraphTensor* powers = first(repeated(g, scalar(g, 5, MPSDataTypeInt32), list(x), multiply));
  MPSGraphTensor* state = [g randomPhiloxStateTensorWithSeed:7 name:nil];
  MPSGraphTensor* drawn = [[g randomUniformTensorWithShape:numbers({6}) stateTensor:state name:nil] objectAtIndex:0];
  const uint32_t bits[] = {0x7fc12345u, 0xff800001u, 0x80000000u, 0x00000001u};
  MPSGraphTensor* odd = [g constantWithData:[NSData dataWithBytes:bits length:sizeof bits]
                                      shape:numbers({4})
                                   dataType:MPSDataTypeFloat32];
  MPSGraphTensor* seen = [g reinterpretCastTensor:odd toType:MPSDataTypeInt32 name:nil];
  MPSGraphExecutable* executable =
      compiled(g, {x}, [NSArray arrayWithObjects:now, either, powers, drawn, seen, nil], list(counted));
  MPSGraphExecutable* again = reloaded(executable);
  for (double sign : {1.0, -1.0}) {
    const Array value = map(random_array({4}, 0.5, 1), [sign](double v) { return sign * v; });
    const std::vector<Array> results = run(again, {value});
    CHECK(same(results, run(executable, {value})));
    CHECK_ARRAY(results.at(1), map(value, [sign](double v) { return sign > 0 ? v * v : -v; }));
    CHECK_ARRAY(results.at(2), map(value, [](double v) { return std::pow(v, 6); }));
    CHECK_ARRAY(results.at(0), Array({1}, sign > 0 ? 1.0 : 2.0));
    CHECK(static_cast<uint32_t>(static_cast<int64_t>(results.at(4).values.at(0))) == bits[0]);
  }
}

TEST(types_are_told_and_specialised) {
  const Regression r;
  for (MPSGraphExecutable* executable : {r.executable, reloaded(r.executable)}) {
    NSArray* five = list(type_of({5, 3}), type_of({5, 2}));
    NSArray* open = list(type_of({-1, 3}), type_of({-1, 2}));
    const auto types_for = [&](NSArray* inputs) {
      return [executable getOutputTypesWithDevice:the_graph_device() inputTypes:inputs compilationDescriptor:nil];
    };
    CHECK([[types_for(five) objectAtIndex:1] isEqualTo:type_of({5, 2})]);
    CHECK([[types_for(open) objectAtIndex:1] isEqualTo:type_of({-1, 2})]);
    CHECK([[types_for(open) objectAtIndex:0] isEqualTo:[types_for(five) objectAtIndex:0]]);
    CHECK([[executable getOutputTypesWithDevice:nil inputTypes:five compilationDescriptor:nil] count] == 2);
    [executable specializeWithDevice:the_graph_device() inputTypes:five compilationDescriptor:nil];
    [executable specializeWithDevice:nil inputTypes:open compilationDescriptor:nil];
    CHECK(run(executable, Regression::batch(5)).at(1).shape == Shape({5, 2}));
    NSArray* const wrong[] = {list(type_of({5, 3})),
                              list(type_of({5, 4}), type_of({5, 2})),
                              list(type_of({5, 3}), type_of({6, 2})),
                              list(type_of({-1, 3}), type_of({-1, 4})),
                              list(type_of({5, 3}, MPSDataTypeInt32), type_of({5, 2})),
                              list([[MPSGraphType new] autorelease], type_of({5, 2})),
                              [NSArray array]};
    for (NSArray* types : wrong) {
      CHECK_RAISES([executable specializeWithDevice:the_graph_device() inputTypes:types compilationDescriptor:nil]);
      CHECK_RAISES(types_for(types));
    }
    CHECK(run(executable, Regression::batch(5)).at(1).shape == Shape({5, 2}));
  }
}

TEST(descriptors_and_handlers) {
  MPSGraphExecutableSerializationDescriptor* descriptor = [[MPSGraphExecutableSerializationDescriptor new] autorelease];
  CHECK([descriptor append] == NO && [descriptor deploymentPlatform] == MPSGraphDeploymentPlatformMacOS);
  CHECK([[descriptor minimumDeploymentTarget] length] == 0);
  NSMutableString* target = [NSMutableString stringWithString:@"14.0"];
  [descriptor setMinimumDeploymentTarget:target];
  [target setString:@"changed"];
  [descriptor setDeploymentPlatform:MPSGraphDeploymentPlatformIOS];
  [descriptor setAppend:YES];
  CHECK([[descriptor minimumDeploymentTarget] isEqualToString:@"14.0"]);
  CHECK([descriptor append] == YES && [descriptor deploymentPlatform] == MPSGraphDeploymentPlatformIOS);
  const Regression r;
  NSURL* url = url_of("described.mpsgraphpackage");
  [r.executable serializeToMPSGraphPackageAtURL:url descriptor:descriptor];  // to nothing that is there
  MPSGraphCompilationDescriptor* wishes = [[MPSGraphCompilationDescriptor new] autorelease];
  __block MPSGraphExecutable* told = nil;
  [wishes setCompilationCompletionHandler:^(MPSGraphExecutable* executable, NSError* error) {
    if (error == nil) told = executable;
  }];
  MPSGraphExecutable* executable = [[[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url
                                                                       compilationDescriptor:wishes] autorelease];
  CHECK(told == executable);
  const std::vector<Array> batch = Regression::batch(2);
  CHECK(same(run(executable, batch), run(r.executable, batch)));
  CHECK_RAISES([r.executable serializeToMPSGraphPackageAtURL:url descriptor:descriptor]);
  CHECK([[loaded(url) feedTensors] count] == 2);
}

// An executable outlives what it came from, and nothing keeps what it loaded when it is gone.
TEST(lifetimes) {
  MPSGraphExecutable* executable = nil;
  @autoreleasepool {
    const Regression r;
    executable = [reloaded(r.executable) retain];
    unlink((g_folder + "/reloaded.mpsgraphpackage").c_str());
  }
  const std::vector<Array> batch = Regression::batch(3);
  CHECK(run(executable, batch).at(1).shape == Shape({3, 2}));
  MPSGraphTensor* tensor = [[[executable feedTensors] objectAtIndex:0] retain];
  [executable release];
  CHECK([[tensor shape] count] == 2);
  [tensor release];
}

// True if `work` raises NSInvalidArgumentException, with the words in its reason.
static bool raises(const char* words, const std::function<void()>& work) {
  NSString* reason = @"";
  @try {
    work();
  } @catch (NSException* exception) {
    if ([[exception name] isEqualToString:NSInvalidArgumentException]) reason = [exception reason];
  }
  if ([reason rangeOfString:[NSString stringWithUTF8String:words]].location != NSNotFound) return true;
  std::fprintf(stderr, "  reason: %s\n", [reason UTF8String]);
  return false;
}

static NSURL* folder_url() { return [NSURL fileURLWithPath:[NSString stringWithUTF8String:g_folder.c_str()]]; }

TEST(what_cannot_be_written_raises) {
  const Regression r;
  const auto refused = [&](NSURL* url, const char* words) {
    return raises(words, [&] { [r.executable serializeToMPSGraphPackageAtURL:url descriptor:nil]; });
  };
  CHECK(refused(nil, "[serializeToMPSGraphPackageAtURL] The URL of a file was expected"));
  CHECK(refused([NSURL URLWithString:@"https://example.org/model"], "The URL of a file was expected"));
  CHECK(refused(url_of("missing/model"), "No such file or directory"));
  CHECK(refused(folder_url(), "is not a file"));
  CHECK(refused([NSURL fileURLWithPath:@"/proc/model"], "cannot be written"));
  CHECK(run(r.executable, Regression::batch(3)).size() == 2);
}

TEST(what_cannot_be_read_raises) {
  const auto refused = [](NSURL* url, const char* words) { return raises(words, [&] { loaded(url); }); };
  CHECK(refused(nil, "[initWithMPSGraphPackageAtURL] The URL of a file was expected"));
  CHECK(refused([NSURL URLWithString:@"https://example.org/model"], "The URL of a file was expected"));
  CHECK(refused(url_of("nothing"), "No such file or directory"));
  CHECK(refused(folder_url(), "is a directory"));
  [[NSData dataWithBytes:"something else" length:14] writeToURL:url_of("foreign") atomically:NO];
  CHECK(refused(url_of("foreign"), "is no package of this framework"));
  const Regression r;
  NSURL* url = url_of("damaged");
  [r.executable serializeToMPSGraphPackageAtURL:url descriptor:nil];
  NSMutableData* bytes = [NSMutableData dataWithContentsOfURL:url];
  static_cast<char*>([bytes mutableBytes])[[bytes length] / 2] ^= 4;
  [bytes writeToURL:url atomically:NO];
  CHECK(refused(url, "is damaged"));
  CHECK(raises("Packages of Core ML cannot be read here", [&] {
    [[[MPSGraphExecutable alloc] initWithCoreMLPackageAtURL:url compilationDescriptor:nil] release];
  }));
}

int main(int count, char** arguments) {
  char folder[] = "/tmp/packages-XXXXXX";
  g_folder = mkdtemp(folder);
  const int status = check::run(count, arguments);
  @autoreleasepool {
    [[NSFileManager defaultManager] removeItemAtPath:[NSString stringWithUTF8String:g_folder.c_str()] error:nil];
  }
  return status;
}

#endif
