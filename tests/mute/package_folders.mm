// A library to preload, which makes packages behave as in Apple's framework: they are folders, and a loaded executable
// does not tell its tensors. Executables also take their inputs in an order of their own, the last one first.
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <objc/runtime.h>

#include <mutex>
#include <set>

namespace {

using Write = void (*)(id, SEL, NSURL*, id);
using Read = id (*)(id, SEL, NSURL*, id);
using Tensors = NSArray* (*)(id, SEL);
using Dealloc = void (*)(id, SEL);
using Run = NSArray* (*)(id, SEL, id, NSArray*, NSArray*, id);
using Types = NSArray* (*)(id, SEL, id, NSArray*, id);

Write g_write;
Read g_read;
Tensors g_feeds, g_targets;
Dealloc g_dealloc;
Run g_run;
Types g_types;
std::mutex g_mutex;
std::set<id> g_loaded;

NSURL* inside(NSURL* folder) { return [folder URLByAppendingPathComponent:@"model"]; }

void write(id executable, SEL selector, NSURL* url, id descriptor) {
  [[NSFileManager defaultManager] createDirectoryAtPath:[url path]
                            withIntermediateDirectories:NO
                                             attributes:nil
                                                  error:nil];
  g_write(executable, selector, inside(url), descriptor);
}

id read(id executable, SEL selector, NSURL* url, id descriptor) {
  id loaded = g_read(executable, selector, inside(url), descriptor);
  std::lock_guard lock(g_mutex);
  g_loaded.insert(loaded);
  return loaded;
}

bool is_loaded(id executable) {
  std::lock_guard lock(g_mutex);
  return g_loaded.count(executable) > 0;
}

NSArray* turned(NSArray* array) { return [[array reverseObjectEnumerator] allObjects]; }

NSArray* feeds(id executable, SEL selector) {
  return is_loaded(executable) ? nil : turned(g_feeds(executable, selector));
}
NSArray* run(id executable, SEL selector, id queue, NSArray* inputs, NSArray* results, id descriptor) {
  return g_run(executable, selector, queue, turned(inputs), results, descriptor);
}
NSArray* types(id executable, SEL selector, id device, NSArray* inputs, id descriptor) {
  return g_types(executable, selector, device, turned(inputs), descriptor);
}
NSArray* targets(id executable, SEL selector) { return is_loaded(executable) ? nil : g_targets(executable, selector); }

void dealloc(id executable, SEL selector) {
  {
    std::lock_guard lock(g_mutex);
    g_loaded.erase(executable);
  }
  g_dealloc(executable, selector);
}

template <class Function>
Function replace(const char* selector, Function by) {
  Method method = class_getInstanceMethod(objc_getClass("MPSGraphExecutable"), sel_registerName(selector));
  return reinterpret_cast<Function>(method_setImplementation(method, reinterpret_cast<IMP>(by)));
}

__attribute__((constructor)) void install() {
  g_write = replace("serializeToMPSGraphPackageAtURL:descriptor:", write);
  g_read = replace("initWithMPSGraphPackageAtURL:compilationDescriptor:", read);
  g_feeds = replace("feedTensors", feeds);
  g_targets = replace("targetTensors", targets);
  g_dealloc = replace("dealloc", dealloc);
  g_run = replace("runAsyncWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:", run);
  g_types = replace("getOutputTypesWithDevice:inputTypes:compilationDescriptor:", types);
}

}  // namespace
