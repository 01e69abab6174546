// The rows of api.json, which is the first argument of a program, and objects that their selectors are sent to and
// with.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <objc/runtime.h>

#include <cctype>
#include <functional>
#include <map>
#include <string>

#include "objects.h"

inline NSDictionary* g_api;

inline MPSGraph* g_graph;
inline MPSGraphTensor *g_x, *g_y;

inline NSNumber* number(int value) { return [NSNumber numberWithInt:value]; }
inline MPSShape* shape() { return numbers({2, 3}); }
inline NSString* string(const std::string& text) { return [NSString stringWithUTF8String:text.c_str()]; }

// Which tensors and numbers fit a selector is not known here: one of these does.
struct Fit {
  MPSGraphTensor *first, *others;
  MPSShape* numbers;
  NSUInteger integer;
  MPSDataType type;
};
inline std::vector<Fit> g_fits;
inline const Fit* g_fit;

// A queue that gives many buffers that are never committed.
inline id<MTLCommandQueue> roomy_queue() {
  static id<MTLCommandQueue> queue = [the_device() newCommandQueueWithMaxCommandBufferCount:100000];
  return queue;
}

inline id image() {
  MPSImageDescriptor* descriptor =
      [MPSImageDescriptor imageDescriptorWithChannelFormat:MPSImageFeatureChannelFormatFloat32
                                                     width:3
                                                    height:2
                                           featureChannels:4];
  return [[[MPSImage alloc] initWithDevice:the_device() imageDescriptor:descriptor] autorelease];
}
inline MPSMatrixDescriptor* rows() {
  return [MPSMatrixDescriptor matrixDescriptorWithRows:2 columns:2 rowBytes:16 dataType:MPSDataTypeFloat32];
}
inline id row() { return [MPSVectorDescriptor vectorDescriptorWithLength:2 dataType:MPSDataTypeFloat32]; }
inline id buffer() {
  return [[the_device() newBufferWithLength:4096 options:MTLResourceStorageModeShared] autorelease];
}
inline id event() { return [[the_device() newSharedEvent] autorelease]; }
inline id shaped_type() {
  return [[[MPSGraphShapedType alloc] initWithShape:shape() dataType:MPSDataTypeFloat32] autorelease];
}
inline id array_descriptor() { return [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape()]; }
inline id array() {
  return [[[MPSNDArray alloc] initWithDevice:the_device() descriptor:array_descriptor()] autorelease];
}
inline id tensor_data() { return [[[MPSGraphTensorData alloc] initWithMPSNDArray:array()] autorelease]; }
inline id temporary_array() {
  return [MPSTemporaryNDArray temporaryNDArrayWithCommandBuffer:[roomy_queue() commandBuffer]
                                                     descriptor:array_descriptor()];
}
inline id product() {
  return [[[MPSMatrixMultiplication alloc] initWithDevice:the_device() resultRows:2 resultColumns:2
                                          interiorColumns:2] autorelease];
}
inline id product_with_vector() {
  return [[[MPSMatrixVectorMultiplication alloc] initWithDevice:the_device() rows:2 columns:2] autorelease];
}
inline id executable() {
  return [g_graph compileWithDevice:nil
                              feeds:pair(shaped_type(), g_x)
                      targetTensors:list(g_y)
                   targetOperations:nil
              compilationDescriptor:nil];
}
inline id heap() {
  MTLHeapDescriptor* room = [[MTLHeapDescriptor new] autorelease];
  [room setSize:4096];
  return [[the_device() newHeapWithDescriptor:room] autorelease];
}
inline id variable() {
  return [[g_graph variableWithData:[NSMutableData dataWithLength:24]
                              shape:shape()
                           dataType:MPSDataTypeFloat32
                               name:nil] operation];
}
inline id pooling2d() {
  MPSGraphPooling2DOpDescriptor* descriptor = [[MPSGraphPooling2DOpDescriptor new] autorelease];
  [descriptor setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten2D];
  return descriptor;
}
inline id pooling4d() {
  MPSGraphPooling4DOpDescriptor* descriptor = [[MPSGraphPooling4DOpDescriptor new] autorelease];
  [descriptor setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten4D];
  return descriptor;
}
inline id block() {
  return [[^id(void*, void*) {
    return nil;
  } copy] autorelease];
}

// How to make an object of what a declaration names, where that is not its class's new.
inline const std::map<std::string, id (*)()> g_makers = {
    {"MPSCommandBuffer", []() -> id { return [MPSCommandBuffer commandBufferFromCommandQueue:roomy_queue()]; }},
    {"MPSGraph", []() -> id { return g_graph; }},
    {"MPSGraphDevice", []() -> id { return the_graph_device(); }},
    {"MPSGraphExecutable", executable},
    {"MPSGraphOperation", []() -> id { return [g_y operation]; }},
    {"MPSGraphPooling2DOpDescriptor", pooling2d},
    {"MPSGraphPooling4DOpDescriptor", pooling4d},
    {"MPSGraphTensor", []() -> id { return g_fit->first; }},
    {"MPSGraphTensorData", tensor_data},
    {"MPSGraphTensorDataDictionary", []() -> id { return pair(tensor_data(), g_x); }},
    {"MPSGraphTensorShapedTypeDictionary", []() -> id { return pair(shaped_type(), g_x); }},
    {"MPSGraphType", shaped_type},
    {"MPSGraphVariableOp", variable},
    {"MPSHeapProvider", []() -> id { return the_device(); }},
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
    {"MTLBlitCommandEncoder", []() -> id { return [[roomy_queue() commandBuffer] blitCommandEncoder]; }},
    {"MTLBuffer", buffer},
    {"MTLCommandBuffer", []() -> id { return [roomy_queue() commandBuffer]; }},
    {"MTLCommandEncoder", []() -> id { return [[roomy_queue() commandBuffer] blitCommandEncoder]; }},
    {"MTLCommandQueue", []() -> id { return roomy_queue(); }},
    {"MTLDevice", []() -> id { return the_device(); }},
    {"MTLEvent", event},
    {"MTLFence", []() -> id { return [[the_device() newFence] autorelease]; }},
    {"MTLHeap", heap},
    {"MTLResource", buffer},
    {"MTLSharedEvent", event},
    {"MTLSharedEventHandle", []() -> id { return [[event() newSharedEventHandle] autorelease]; }},
    {"NSArray<NSNumber>", []() -> id { return g_fit->numbers; }},
    {"NSData", []() -> id { return [NSMutableData dataWithLength:24]; }},
    {"NSDictionary<NSString,NSObject>", []() -> id { return pair(@"1", @"A"); }},
    {"NSString", []() -> id { return @"text"; }},
    {"NSURL", []() -> id { return [NSURL fileURLWithPath:@"/dev/null/none"]; }},
    {"block", block},
    {"dispatch_queue_t", []() -> id { return dispatch_get_global_queue(0, 0); }},
};

// "MPSGraphTensor" of "NSArray<MPSGraphTensor>"; "" of what is no array.
inline std::string element_of(const std::string& name) {
  if (name == "MPSShape") return "NSNumber";
  return name.starts_with("NSArray<") ? name.substr(8, name.size() - 9) : "";
}

// An object of that name; nil where there can be none.
inline id object_of(const std::string& name) {
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
inline std::string name_of(std::string type) {
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
  void clear() {
    char zeros[256] = {};
    for (NSUInteger i = 2; i < [signature_ numberOfArguments]; ++i) {
      [message_ setArgument:zeros atIndex:static_cast<NSInteger>(i)];
    }
  }
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

// The types of a row of the table, the result first.
inline std::vector<std::string> types_of(id row) {
  if ([row isKindOfClass:[NSDictionary class]]) row = [row objectForKey:@"row"];
  std::vector<std::string> types;
  if ([row isKindOfClass:[NSString class]]) types = {"void", [row UTF8String]};
  else {
    for (NSString* type in row) types.push_back([type UTF8String]);
  }
  return types;
}

// "setAxis:" of "axis".
inline std::string setter_of(NSString* property) {
  std::string setter = std::string("set") + [property UTF8String] + ":";
  setter[3] = static_cast<char>(std::toupper(setter[3]));
  return setter;
}

// Reads the table and makes what objects need; false without a table.
inline bool make_objects(int count, char** arguments) {
  @autoreleasepool {
    NSData* text = count > 1 ? [NSData dataWithContentsOfFile:[NSString stringWithUTF8String:arguments[1]]] : nil;
    g_api = text == nil ? nil : [[NSJSONSerialization JSONObjectWithData:text options:0 error:nil] retain];
    g_graph = [MPSGraph new];
    g_x = [g_graph placeholderWithShape:shape() dataType:MPSDataTypeFloat32 name:nil];
    g_y = [g_graph negativeWithTensor:g_x name:nil];
    const auto ones = [](size_t axes) { return [numbers(std::vector<long>(axes, 1)) retain]; };
    MPSGraphTensor* one = [g_graph constantWithScalar:1 shape:ones(1) dataType:MPSDataTypeInt32];
    MPSGraphTensor* square = [g_graph placeholderWithShape:ones(2) dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* image = [g_graph placeholderWithShape:ones(4) dataType:MPSDataTypeFloat32 name:nil];
    g_fits = {{g_x, g_x, [shape() retain], 1, MPSDataTypeFloat32},
              {square, one, ones(4), 0, MPSDataTypeComplexFloat32},
              {one, one, ones(3), 4, MPSDataTypeFloat32},
              {image, one, [numbers({0, 1}) retain], 0, MPSDataTypeInt8},
              {image, image, ones(2), 0, MPSDataTypeFloat32}};
    g_fit = &g_fits.front();
  }
  return g_api != nil;
}
