// A library to preload that sums up the results that a process reads from the framework. It adds the hash of everything
// read to the first eight bytes of the file that ALLOY_BITS names; a sum does not depend on the order in which threads
// and forked processes read. A process reads results by -[MPSNDArray readBytes:strideBytes:] or from buffers after a
// call of -contents. Memory lent to a buffer does not count, because it may be freed before the buffer.
#include <dlfcn.h>
#include <fcntl.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace {

using Long = unsigned long;

template <class Result, class... Arguments>
Result send(id receiver, const char* selector, Arguments... arguments) {
  const SEL name = sel_registerName(selector);
  const IMP method = objc_msg_lookup(receiver, name);
  return reinterpret_cast<Result (*)(id, SEL, Arguments...)>(method)(receiver, name, arguments...);
}

uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

void add(const void* bytes, size_t size) {
  static uint64_t* const sum = [] {
    const int file = open(std::getenv("ALLOY_BITS"), O_RDWR);
    void* mapped = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || mapped == MAP_FAILED) std::abort();
    return static_cast<uint64_t*>(mapped);
  }();
  uint64_t hash = mixed(0, size), word = 0;
  for (size_t at = 0; at < size; at += sizeof(word)) {
    word = 0;
    std::memcpy(&word, static_cast<const char*>(bytes) + at, size - at < sizeof(word) ? size - at : sizeof(word));
    hash = mixed(hash, word);
  }
  __atomic_fetch_add(sum, hash, __ATOMIC_RELAXED);
}

IMP real_read, real_lend, real_contents, real_dealloc;

void read_bytes(id array, SEL selector, void* buffer, long* strides) {
  const auto read = reinterpret_cast<void (*)(id, SEL, void*, long*)>(real_read);
  read(array, selector, buffer, strides);
  size_t size = send<size_t>(array, "dataTypeSize");
  for (Long i = send<Long>(array, "numberOfDimensions"); i-- > 0;) size *= send<Long>(array, "lengthOfDimension:", i);
  if (strides == nullptr) return add(buffer, size);
  std::vector<char> packed(size);
  read(array, selector, packed.data(), nullptr);
  add(packed.data(), size);
}

std::mutex lock;
std::unordered_set<id> lent, looked_into;

id lend(id device, SEL selector, void* bytes, Long length, Long options, id deallocator) {
  const auto make = reinterpret_cast<id (*)(id, SEL, void*, Long, Long, id)>(real_lend);
  const id buffer = make(device, selector, bytes, length, options, deallocator);
  const std::lock_guard<std::mutex> guard(lock);
  lent.insert(buffer);
  return buffer;
}

void* contents(id buffer, SEL selector) {
  void* bytes = reinterpret_cast<void* (*)(id, SEL)>(real_contents)(buffer, selector);
  const std::lock_guard<std::mutex> guard(lock);
  if (!lent.contains(buffer)) looked_into.insert(buffer);
  return bytes;
}

void dealloc(id buffer, SEL selector) {
  bool counts = false;
  {
    const std::lock_guard<std::mutex> guard(lock);
    lent.erase(buffer);
    counts = looked_into.erase(buffer) != 0;
  }
  if (counts) {
    const auto bytes = reinterpret_cast<void* (*)(id, SEL)>(real_contents);
    add(bytes(buffer, sel_registerName("contents")), send<Long>(buffer, "length"));
  }
  reinterpret_cast<void (*)(id, SEL)>(real_dealloc)(buffer, selector);
}

template <class Function>
IMP replace(Class in, const char* selector, Function* by) {
  return method_setImplementation(class_getInstanceMethod(in, sel_registerName(selector)), reinterpret_cast<IMP>(by));
}

void begin(id device) {
  static std::once_flag begun;
  std::call_once(begun, [&] {
    real_read = replace(static_cast<Class>(objc_getClass("MPSNDArray")), "readBytes:strideBytes:", read_bytes);
    real_lend = replace(object_getClass(device), "newBufferWithBytesNoCopy:length:options:deallocator:", lend);
    const id buffer = send<id>(device, "newBufferWithLength:options:", Long{1}, Long{0});
    const Class buffers = object_getClass(buffer);
    send<void>(buffer, "release");
    real_contents = replace(buffers, "contents", contents);
    real_dealloc = replace(buffers, "dealloc", dealloc);
  });
}

id (*framework(const char* function))() {
  void* const library = dlopen("libMetalPerformanceShadersGraph.so", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<id (*)()>(dlsym(library, function));
}

}  // namespace

// Replaces the framework's function, which every program calls first.
extern "C" id MTLCreateSystemDefaultDevice() {
  const id device = framework("MTLCreateSystemDefaultDevice")();
  begin(device);
  return device;
}

extern "C" id MTLCopyAllDevices() {
  const id devices = framework("MTLCopyAllDevices")();
  begin(send<id>(devices, "objectAtIndex:", Long{0}));
  return devices;
}
