// Objects of a wrong class, and nil, in place of each object that each selector takes: an NSInvalidArgumentException
// that names the class. What is sent comes from api.json, the argument of this program.

#include "api_objects.h"

static int g_named, g_other;

// The reason of the NSInvalidArgumentException that the work raises; "" without one. Others are failures.
static std::string reason_of(const std::function<void()>& work, const std::string& where) {
  check::begin(where.c_str(), 0);
  @autoreleasepool {
    @try {
      work();
    } @catch (NSException* exception) {
      const std::string reason = [[exception reason] UTF8String];
      const bool is_ours = [[exception name] isEqual:NSInvalidArgumentException] && reason.starts_with('[');
      check::report(is_ours, (where + " raises " + [[exception name] UTF8String] + ": " + reason).c_str(), __FILE__,
                    __LINE__);
      return reason;
    }
  }
  return {};
}

struct Wrong {
  id object;
  id named;  // whose class the sentence names
};

// What does not belong where an object of that name does, and nil.
static std::vector<Wrong> wrong_for(const std::string& name) {
  id thing = [[NSObject new] autorelease], nothing = [NSNull null], text = name == "NSString" ? number(1) : @"text";
  if (name == "id") return {{nil, nil}};
  std::vector<Wrong> wrong = {{nil, nil}, {thing, thing}, {text, text}};
  if (!element_of(name).empty()) {
    wrong.push_back({list(nothing), nothing});
    wrong.push_back({list(text), text});
  }
  if (name.ends_with("Dictionary")) {
    wrong.push_back({pair(nothing, g_x), nothing});
    wrong.push_back({pair([[object_of(name) allValues] firstObject], text), text});
  }
  return wrong;
}

// True if nil stands for nothing: what may be missing, what a setter takes away, no elements, an object of a class of
// which there are none.
static bool may_be_nil(const std::string& type, const std::string& selector) {
  const std::string name = name_of(type);
  return type.find("_Nullable") != type.npos || selector.starts_with("set") || !element_of(name).empty() ||
         name.ends_with("Dictionary") || name == "MTLFunction" || name == "MTLTexture";
}

static void wrong_objects_in(const std::function<id()>& receiver, const std::string& selector,
                             const std::vector<std::string>& types) {
  for (size_t i = 1; i < types.size(); ++i) {
    for (const Wrong& wrong : wrong_for(name_of(types[i]))) {
      std::string given = "got nil.";
      if (wrong.object != nil)
        given = std::string("got an object of class ") + class_getName([wrong.named class]) + ".";
      std::string where;
      bool is_named = false, is_told = true;
      for (const Fit& fit : g_fits) {
        g_fit = &fit;
        id target = receiver();
        if (target == nil) return;
        Message message(target, selector, types);
        if (!message.exists()) return;
        if (!message.takes_object(i)) break;
        where =
            std::string(object_getClassName(target)) + " " + selector + " argument " + std::to_string(i) + " " + given;
        message.set(i, wrong.object);
        const std::string reason = reason_of([&] { message.send(); }, where);
        is_told = is_told && !reason.empty();
        is_named = reason.ends_with(given);
        if (is_named) break;
      }
      if (where.empty() || (wrong.object == nil && may_be_nil(types[i], selector))) continue;
      ++(is_named ? g_named : g_other);
      check::report(is_told, where.c_str(), __FILE__, __LINE__);
    }
  }
}

// Nothing but zeros: nothing ends the process, as an NSException does that meets a C++ handler.
static void zeros_alone(id receiver, const std::string& selector, const std::vector<std::string>& types) {
  if (receiver == nil || types.size() < 2) return;
  Message message(receiver, selector, types);
  if (!message.exists()) return;
  message.clear();
  reason_of([&] { message.send(); }, std::string(object_getClassName(receiver)) + " " + selector + " with zeros");
}

static void of_a_class(NSString* name, NSDictionary* declared) {
  Class made = NSClassFromString(name);
  const std::string text = [name UTF8String];
  NSDictionary* methods = [declared objectForKey:@"methods"];
  for (NSString* method in methods) {
    const std::vector<std::string> types = types_of([methods objectForKey:method]);
    const std::string selector = [[method substringFromIndex:2] UTF8String];
    if (types.back() == "unavailable" || types.back() == "...") continue;
    const auto receiver = [&]() -> id {
      if (selector.starts_with("init")) return [made alloc];  // which goes with what it is sent
      return [method hasPrefix:@"+"] ? made : object_of(text);
    };
    @autoreleasepool {
      wrong_objects_in(receiver, selector, types);
      zeros_alone(receiver(), selector, types);
    }
  }
  NSDictionary* properties = [declared objectForKey:@"properties"];
  for (NSString* property in properties) {
    @autoreleasepool {
      wrong_objects_in([&] { return object_of(text); }, setter_of(property),
                       types_of([properties objectForKey:property]));
    }
  }
}

// What init makes, if it does not raise: every getter answers or raises.
static void made_by_init(NSString* name, NSDictionary* declared) {
  id object = nil;
  @try {
    object = [[[NSClassFromString(name) alloc] init] autorelease];
  } @catch (NSException* exception) {
    CHECK([[exception name] isEqual:NSInvalidArgumentException]);
    return;
  }
  for (NSString* property in [declared objectForKey:@"properties"]) {
    Message message(object, [property UTF8String], { "id" });
    if (message.exists()) reason_of([&] { message.send(); }, std::string([name UTF8String]) + [property UTF8String]);
  }
}

TEST(every_selector) {
  for (NSString* kind in list(@"classes", @"protocols")) {
    NSDictionary* declared = [g_api objectForKey:kind];
    for (NSString* name in declared) of_a_class(name, [declared objectForKey:name]);
  }
  std::printf("%d sentences name the class, %d another mistake\n", g_named, g_other);
  CHECK(g_named > 3000 && g_other < g_named / 40);
}

// What all of that was sent to works on.
TEST(a_graph_still_computes) {
  NSDictionary* results = [g_graph runWithFeeds:pair(tensor_data(), g_x) targetTensors:list(g_y) targetOperations:nil];
  CHECK([[[results objectForKey:g_y] shape] isEqual:shape()]);
}

TEST(every_getter_of_what_init_makes) {
  NSDictionary* classes = [g_api objectForKey:@"classes"];
  for (NSString* name in classes) made_by_init(name, [classes objectForKey:name]);
}

// Counted by hand, a graph may go before its tensors are given to another one.
TEST(tensors_of_a_graph_that_went) {
  MPSGraph* gone = [MPSGraph new];
  MPSGraphTensor *x = [gone placeholderWithShape:shape() name:nil], *y = [gone negativeWithTensor:x name:nil];
  MPSGraphOperation* operation = [y operation];
  [gone release];
  CHECK_RAISES([g_graph negativeWithTensor:y name:nil]);
  CHECK_RAISES([g_graph runWithFeeds:pair(tensor_data(), x) targetTensors:list(g_y) targetOperations:nil]);
  CHECK_RAISES([g_graph runWithFeeds:pair(tensor_data(), g_x) targetTensors:list(y) targetOperations:nil]);
  CHECK_RAISES([g_graph runWithFeeds:pair(tensor_data(), g_x)
                       targetTensors:list(g_y)
                    targetOperations:list(operation)]);
  CHECK([x dataType] == MPSDataTypeFloat32 && [operation graph] == nil);
}

TEST(wrong_results_of_blocks) {
  MPSGraphTensor* yes = [g_graph constantWithScalar:1 dataType:MPSDataTypeBool];
  MPSGraphTensor* count = [g_graph constantWithScalar:1 dataType:MPSDataTypeInt32];
  id nothing = [NSNull null];
  for (id wrong : {(id) @"text", (id)list(nothing), nothing}) {
    id (^none)(void) = ^id {
      return wrong;
    };
    id (^two)(id, id) = ^id(id, id) {
      return wrong;
    };
    id (^is_done)(id, id) = ^id(id, id) {
      return yes;
    };
    id (^one)(id) = ^id(id) {
      return wrong;
    };
    id (^same)(id) = ^id(id arguments) {
      return arguments;
    };
    const std::function<void()> work[] = {
        [&] { [g_graph controlDependencyWithOperations:list([g_y operation]) dependentBlock:none name:nil]; },
        [&] { [g_graph ifWithPredicateTensor:yes thenBlock:none elseBlock:none name:nil]; },
        [&] { [g_graph whileWithInitialInputs:list(g_x) before:two after:same name:nil]; },
        [&] { [g_graph whileWithInitialInputs:list(g_x) before:is_done after:one name:nil]; },
        [&] { [g_graph forLoopWithNumberOfIterations:count initialBodyArguments:list(g_x) body:two name:nil]; },
    };
    for (const auto& each : work) {
      CHECK(reason_of(each, "a block").find("got an object of class ") != std::string::npos);
    }
  }
}

TEST(scalars_of_unknown_shape) {
  for (NSArray* unknown in list(numbers({-1, 2}), numbers({-2}))) {
    CHECK_RAISES([g_graph constantWithScalar:1 shape:unknown dataType:MPSDataTypeFloat32]);
    CHECK_RAISES([g_graph constantWithData:[NSData data] shape:unknown dataType:MPSDataTypeFloat32]);
    CHECK_RAISES([g_graph variableWithData:[NSData data] shape:unknown dataType:MPSDataTypeFloat32 name:nil]);
    CHECK_RAISES([g_graph randomUniformTensorWithShape:unknown name:nil]);
  }
}

int main(int count, char** arguments) {
  if (make_objects(count, arguments)) return check::run(1, arguments);
  std::fprintf(stderr, "usage: %s api.json\n", arguments[0]);
  return 2;
}
