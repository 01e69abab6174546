// Objects of a wrong class, and nil, in place of each object that each selector takes: an NSInvalidArgumentException
// that names the class. What is sent comes from api.json, the argument of this program.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <objc/runtime.h>

#include <cctype>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check.h"

static MPSGraph* g_graph;
static id<MTLDevice> g_device;
static id<MTLCommandQueue> g_queue;
static MPSGraphTensor *g_x, *g_y;
static int g_named, g_other;

static NSArray* list(id object) { return [NSArray arrayWithObject:object]; }
static NSDictionary* map(id key, id value) { return [NSDictionary dictionaryWithObject:value forKey:key]; }
static NSNumber* number(int value) { return [NSNumber numberWithInt:value]; }
static MPSShape* shape() { return [NSArray arrayWithObjects:number(2), number(3), nil]; }
static NSString* string(const std::string& text) { return [NSString stringWithUTF8String:text.c_str()]; }

// Which tensors and numbers fit a selector is not known here: one of these does.
struct Fit {
  MPSGraphTensor *first, *others;
  MPSShape* numbers;
  NSUInteger integer;
  MPSDataType type;
};
static std::vector<Fit> g_fits;
static const Fit* g_fit;

static id image() {
  MPSImageDescriptor* descriptor =
      [MPSImageDescriptor imageDescriptorWithChannelFormat:MPSImageFeatureChannelFormatFloat32
                                                     width:3
                                                    height:2
                                           featureChannels:4];
  return [[[MPSImage alloc] initWithDevice:g_device imageDescriptor:descriptor] autorelease];
}
static MPSMatrixDescriptor* rows() {
  return [MPSMatrixDescriptor matrixDescriptorWithRows:2 columns:2 rowBytes:16 dataType:MPSDataTypeFloat32];
}
static id row() { return [MPSVectorDescriptor vectorDescriptorWithLength:2 dataType:MPSDataTypeFloat32]; }
static id buffer() { return [[g_device newBufferWithLength:4096 options:MTLResourceStorageModeShared] autorelease]; }
static id event() { return [[g_device newSharedEvent] autorelease]; }
static id shaped_type() {
  return [[[MPSGraphShapedType alloc] initWithShape:shape() dataType:MPSDataTypeFloat32] autorelease];
}
static id array_descriptor() { return [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape()]; }
static id array() { return [[[MPSNDArray alloc] initWithDevice:g_device descriptor:array_descriptor()] autorelease]; }
static id tensor_data() { return [[[MPSGraphTensorData alloc] initWithMPSNDArray:array()] autorelease]; }
static id temporary_array() {
  return [MPSTemporaryNDArray temporaryNDArrayWithCommandBuffer:[g_queue commandBuffer] descriptor:array_descriptor()];
}
static id product() {
  return [[[MPSMatrixMultiplication alloc] initWithDevice:g_device resultRows:2 resultColumns:2
                                          interiorColumns:2] autorelease];
}
static id product_with_vector() {
  return [[[MPSMatrixVectorMultiplication alloc] initWithDevice:g_device rows:2 columns:2] autorelease];
}
static id executable() {
  return [g_graph compileWithDevice:nil
                              feeds:map(g_x, shaped_type())
                      targetTensors:list(g_y)
                   targetOperations:nil
              compilationDescriptor:nil];
}
static id heap() {
  MTLHeapDescriptor* room = [[MTLHeapDescriptor new] autorelease];
  [room setSize:4096];
  return [[g_device newHeapWithDescriptor:room] autorelease];
}
static id variable() {
  return [[g_graph variableWithData:[NSMutableData dataWithLength:24]
                              shape:shape()
                           dataType:MPSDataTypeFloat32
                               name:nil] operation];
}
static id pooling2d() {
  MPSGraphPooling2DOpDescriptor* descriptor = [[MPSGraphPooling2DOpDescriptor new] autorelease];
  [descriptor setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten2D];
  return descriptor;
}
static id pooling4d() {
  MPSGraphPooling4DOpDescriptor* descriptor = [[MPSGraphPooling4DOpDescriptor new] autorelease];
  [descriptor setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten4D];
  return descriptor;
}
static id block() {
  return [[^id(void*, void*) {
    return nil;
  } copy] autorelease];
}

// How to make an object of what a declaration names, where that is not its class's new.
static const std::map<std::string, id (*)()> g_makers = {
    {"MPSCommandBuffer", []() -> id { return [MPSCommandBuffer commandBufferFromCommandQueue:g_queue]; }},
    {"MPSGraph", []() -> id { return g_graph; }},
    {"MPSGraphDevice", []() -> id { return [MPSGraphDevice deviceWithMTLDevice:g_device]; }},
    {"MPSGraphExecutable", executable},
    {"MPSGraphOperation", []() -> id { return [g_y operation]; }},
    {"MPSGraphPooling2DOpDescriptor", pooling2d},
    {"MPSGraphPooling4DOpDescriptor", pooling4d},
    {"MPSGraphTensor", []() -> id { return g_fit->first; }},
    {"MPSGraphTensorData", tensor_data},
    {"MPSGraphTensorDataDictionary", []() -> id { return map(g_x, tensor_data()); }},
    {"MPSGraphTensorShapedTypeDictionary", []() -> id { return map(g_x, shaped_type()); }},
    {"MPSGraphType", shaped_type},
    {"MPSGraphVariableOp", variable},
    {"MPSHeapProvider", []() -> id { return g_device; }},
    {"MPSImage", image},
    {"MPSImageAllocator", []() -> id { return [MPSImage defaultAllocator]; }},
    {"MPSImageBatch", []() -> id { return list(image()); }},
    {"MPSMatrix", []() -> id { return [[[MPSMatrix alloc] initWithBuffer:buffer() descriptor:rows()] autorelease]; }},
    {"MPSMatrixDescriptor", []() -> id { return rows(); }},
    {"MPSMatrixMultiplication", product},
    {"MPSMatrixVectorMultiplication", product_with_vector},
    {"MPSNDArray", array},
    {"MPSNDArrayAllocator", []() -> id { return [MPSNDArray defaultAllocator]; }},
    {"MPSNDArrayDescriptor", array_descriptor},
    {"MPSNNPadding", []() -> id { return [MPSNNDefaultPadding paddingWithMethod:MPSNNPaddingMethodSizeSame]; }},
    {"MPSShape", []() -> id { return g_fit->numbers; }},
    {"MPSTemporaryNDArray", temporary_array},
    {"MPSVector", []() -> id { return [[[MPSVector alloc] initWithBuffer:buffer() descriptor:row()] autorelease]; }},
    {"MPSVectorDescriptor", row},
    {"MTLBlitCommandEncoder", []() -> id { return [[g_queue commandBuffer] blitCommandEncoder]; }},
    {"MTLBuffer", buffer},
    {"MTLCommandBuffer", []() -> id { return [g_queue commandBuffer]; }},
    {"MTLCommandEncoder", []() -> id { return [[g_queue commandBuffer] blitCommandEncoder]; }},
    {"MTLCommandQueue", []() -> id { return g_queue; }},
    {"MTLDevice", []() -> id { return g_device; }},
    {"MTLEvent", event},
    {"MTLFence", []() -> id { return [[g_device newFence] autorelease]; }},
    {"MTLHeap", heap},
    {"MTLResource", buffer},
    {"MTLSharedEvent", event},
    {"MTLSharedEventHandle", []() -> id { return [[event() newSharedEventHandle] autorelease]; }},
    {"NSArray<NSNumber>", []() -> id { return g_fit->numbers; }},
    {"NSData", []() -> id { return [NSMutableData dataWithLength:24]; }},
    {"NSDictionary<NSString,NSObject>", []() -> id { return map(@"A", @"1"); }},
    {"NSString", []() -> id { return @"text"; }},
    {"NSURL", []() -> id { return [NSURL fileURLWithPath:@"/dev/null/none"]; }},
    {"block", block},
    {"dispatch_queue_t", []() -> id { return dispatch_get_global_queue(0, 0); }},
};

// "MPSGraphTensor" of "NSArray<MPSGraphTensor>"; "" of what is no array.
static std::string element_of(const std::string& name) {
  if (name == "MPSShape") return "NSNumber";
  return name.starts_with("NSArray<") ? name.substr(8, name.size() - 9) : "";
}

// An object of that name; nil where there can be none.
static id object_of(const std::string& name) {
  const auto maker = g_makers.find(name);
  if (maker != g_makers.end()) return maker->second();
  const std::string element = element_of(name);
  if (!element.empty()) {
    const id made = object_of(element);
    return made == nil ? [NSArray array] : list(made);
  }
  @try {
    return [[NSClassFromString(string(name)) new] autorelease];
  } @catch (NSException*) {
    return nil;
  }
}

// "MPSGraphTensor" of "copy MPSGraphTensor * _Nullable", "MTLBuffer" of "id<MTLBuffer>".
static std::string name_of(std::string type) {
  if (type.find("Block") != type.npos || type.find("Handler") != type.npos || type.find("(^)") != type.npos) {
    return "block";
  }
  for (const char* word : {" _Nullable", "const ", "copy ", "nonatomic ", " *"}) {
    for (size_t at; (at = type.find(word)) != type.npos;) type.erase(at, std::strlen(word));
  }
  return type.starts_with("id<") ? type.substr(3, type.size() - 4) : type;
}

// One message, whose arguments fit.
class Message {
 public:
  Message(id receiver, const std::string& selector, const std::vector<std::string>& types) {
    const SEL sel = NSSelectorFromString(string(selector));
    const Method method = class_getInstanceMethod(object_getClass(receiver), sel);
    if (method == nullptr) return;
    std::string encoded = method_getTypeEncoding(method);
    std::erase(encoded, '?');  // of blocks, which GNUstep does not read
    signature_ = [NSMethodSignature signatureWithObjCTypes:encoded.c_str()];
    message_ = [NSInvocation invocationWithMethodSignature:signature_];
    [message_ setTarget:receiver];
    [message_ setSelector:sel];
    bool is_first = true;
    for (size_t i = 1; i < types.size(); ++i) {
      const std::string name = name_of(types[i]);
      if (takes_object(i)) set(i, name == "MPSGraphTensor" && !is_first ? g_fit->others : object_of(name));
      else set_number(i, types[i]);
      is_first &= name != "MPSGraphTensor";
    }
  }
  bool exists() const { return message_ != nil; }
  bool takes_object(size_t i) const { return *[signature_ getArgumentTypeAtIndex:i + 1] == '@'; }
  void set(size_t i, id object) { [message_ setArgument:&object atIndex:static_cast<NSInteger>(i) + 1]; }
  void send() { [message_ invoke]; }

 private:
  void set_number(size_t i, const std::string& type) {
    static uint64_t room[512];
    for (uint64_t& word : room) word = 1;
    char bytes[256] = {};
    const auto put = [&](auto value) { std::memcpy(bytes, &value, sizeof value); };
    if (type == "MPSDataType") put(g_fit->type);
    else if (type == "NSUInteger" || type == "NSInteger") put(g_fit->integer);
    else if (type.ends_with("*") && !type.ends_with("**") && !type.starts_with("NSZone")) put(&room[0]);
    [message_ setArgument:bytes atIndex:static_cast<NSInteger>(i) + 1];
  }

  NSMethodSignature* signature_ = nil;
  NSInvocation* message_ = nil;
};

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
    wrong.push_back({map(g_x, nothing), nothing});
    wrong.push_back({map(text, [[object_of(name) allValues] firstObject]), text});
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

static std::vector<std::string> types_of(id row) {
  if ([row isKindOfClass:[NSDictionary class]]) row = [row objectForKey:@"row"];
  std::vector<std::string> types;
  if ([row isKindOfClass:[NSString class]]) types = {"void", [row UTF8String]};
  else {
    for (NSString* type in row) types.push_back([type UTF8String]);
  }
  return types;
}

static void of_a_class(NSString* name, NSDictionary* declared) {
  Class made = NSClassFromString(name);
  const std::string text = [name UTF8String];
  NSDictionary* methods = [declared objectForKey:@"methods"];
  for (NSString* method in methods) {
    const std::vector<std::string> types = types_of([methods objectForKey:method]);
    const std::string selector = [[method substringFromIndex:2] UTF8String];
    if (types.back() == "unavailable" || types.back() == "...") continue;
    @autoreleasepool {
      wrong_objects_in(
          [&]() -> id {
            if (selector.starts_with("init")) return [made alloc];  // which goes with what it is sent
            return [method hasPrefix:@"+"] ? made : object_of(text);
          },
          selector, types);
    }
  }
  NSDictionary* properties = [declared objectForKey:@"properties"];
  for (NSString* property in properties) {
    std::string setter = std::string("set") + [property UTF8String] + ":";
    setter[3] = static_cast<char>(std::toupper(setter[3]));
    @autoreleasepool {
      wrong_objects_in([&] { return object_of(text); }, setter, types_of([properties objectForKey:property]));
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

// Counted by hand, a graph may go before its tensors are given to another one.
static void tensors_of_a_graph_that_went() {
  MPSGraph* gone = [MPSGraph new];
  MPSGraphTensor *x = [gone placeholderWithShape:shape() name:nil], *y = [gone negativeWithTensor:x name:nil];
  MPSGraphOperation* operation = [y operation];
  [gone release];
  CHECK_RAISES([g_graph negativeWithTensor:y name:nil]);
  CHECK_RAISES([g_graph runWithFeeds:map(x, tensor_data()) targetTensors:list(g_y) targetOperations:nil]);
  CHECK_RAISES([g_graph runWithFeeds:map(g_x, tensor_data()) targetTensors:list(y) targetOperations:nil]);
  CHECK_RAISES([g_graph runWithFeeds:map(g_x, tensor_data()) targetTensors:list(g_y) targetOperations:list(operation)]);
  CHECK([x dataType] == MPSDataTypeFloat32 && [operation graph] == nil);
}

static void wrong_results_of_blocks() {
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

static void scalars_of_unknown_shape() {
  for (NSArray *unknown in
       [NSArray arrayWithObjects:[NSArray arrayWithObjects:number(-1), number(2), nil], list(number(-2)), nil]) {
    CHECK_RAISES([g_graph constantWithScalar:1 shape:unknown dataType:MPSDataTypeFloat32]);
    CHECK_RAISES([g_graph constantWithData:[NSData data] shape:unknown dataType:MPSDataTypeFloat32]);
    CHECK_RAISES([g_graph variableWithData:[NSData data] shape:unknown dataType:MPSDataTypeFloat32 name:nil]);
    CHECK_RAISES([g_graph randomUniformTensorWithShape:unknown name:nil]);
  }
}

int main(int count, char** arguments) {
  @autoreleasepool {
    g_device = MTLCreateSystemDefaultDevice();
    g_queue = [g_device newCommandQueueWithMaxCommandBufferCount:100000];
    g_graph = [MPSGraph new];
    g_x = [g_graph placeholderWithShape:shape() dataType:MPSDataTypeFloat32 name:nil];
    g_y = [g_graph negativeWithTensor:g_x name:nil];
    const auto ones = [](int axes) {
      NSMutableArray* numbers = [NSMutableArray array];
      for (int i = 0; i < axes; ++i) [numbers addObject:number(1)];
      return numbers;
    };
    MPSGraphTensor* one = [g_graph constantWithScalar:1 shape:ones(1) dataType:MPSDataTypeInt32];
    MPSGraphTensor* square = [g_graph placeholderWithShape:ones(2) dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* image = [g_graph placeholderWithShape:ones(4) dataType:MPSDataTypeFloat32 name:nil];
    g_fits = {{g_x, g_x, shape(), 1, MPSDataTypeFloat32},
              {square, one, ones(4), 0, MPSDataTypeComplexFloat32},
              {one, one, ones(3), 4, MPSDataTypeFloat32},
              {image, one, [NSArray arrayWithObjects:number(0), number(1), nil], 0, MPSDataTypeInt8},
              {image, image, ones(2), 0, MPSDataTypeFloat32}};
    NSData* text = count > 1 ? [NSData dataWithContentsOfFile:[NSString stringWithUTF8String:arguments[1]]] : nil;
    NSDictionary* api = text ? [NSJSONSerialization JSONObjectWithData:text options:0 error:nil] : nil;
    CHECK(api != nil);
    g_fit = &g_fits.front();
    for (NSString *kind in [NSArray arrayWithObjects:@"classes", @"protocols", nil]) {
      NSDictionary* declared = [api objectForKey:kind];
      for (NSString* name in declared) of_a_class(name, [declared objectForKey:name]);
    }
    NSDictionary* classes = [api objectForKey:@"classes"];
    for (NSString* name in classes) made_by_init(name, [classes objectForKey:name]);
    std::printf("%d sentences name the class, %d another mistake\n", g_named, g_other);
    CHECK(g_named > 3000 && g_other < g_named / 40);
    tensors_of_a_graph_that_went();
    wrong_results_of_blocks();
    scalars_of_unknown_shape();
  }
  return check::summary();
}
