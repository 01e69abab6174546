// An imitation of NVIDIA's driver, libcuda.so.1, with which the tests run the CUDA device where there is no GPU. Its
// devices, IMITATED_GPUS or one, are this processor: memory is the host's, and the functions of a module, which
// nvrtc.cpp compiled with g++, run thread by thread. Threads of a block are fibers that switch at barriers, and every
// second launch runs its blocks from the last to the first. A launch of one block does what comes before its
// begin_launch() before the launch that it follows. New memory is full of garbage. Work ends before the call
// that begins it, but for launches, copies from pinned memory and numbers that are written: these wait until somebody
// waits for them, or for anything behind them on their stream, and every second time the first questions whether they
// are over are denied. Tests can let calls fail. A call fails if its stream, functions or memory belong to another
// device than the thread's context.
#include <dlfcn.h>
#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

struct Index {
  unsigned x, y, z;
};

// What the compiled text sees of the running thread (the beginning of its source, in nvrtc.cpp).
struct Running {
  Index thread, block, block_size, grid;
  void (*barrier)(int number, unsigned threads);
};

struct Function {
  void (*call)(const void* arguments);
  Running* running;
  size_t bytes;  // of the arguments
  int device;
};

constexpr size_t kStackBytes = 128 << 10;

// The fibers of a block. They live as long as the process: each waits for the next call where its last one ended.
class Fibers {
 public:
  // Calls function(arguments) for each thread of the block, as far as begin_launch() if they shall wait there.
  void run(const Function& function, const void* arguments, unsigned threads, bool wait_at_begin = false) {
    function_ = &function;
    arguments_ = arguments;
    while (fibers_.size() < threads) fibers_.push_back(std::make_unique<Fiber>());
    for (unsigned i = 0; i < threads; ++i) fibers_[i]->ended = false;
    threads_ = threads;
    barriers_ = {};
    wait_at_begin_ = wait_at_begin;
    go_on();
  }
  // Runs what is left of a call that waits.
  void end() {
    wait_at_begin_ = false;
    go_on();
  }

  // Fibers that no block has, until they are given back.
  static Fibers& take() {
    if (idle().empty()) return *new Fibers;
    Fibers& fibers = *idle().back();
    idle().pop_back();
    return fibers;
  }
  void give_back() { idle().push_back(this); }
  // Returns when so many threads have come to the barrier.
  static void barrier(int number, unsigned threads) { running_->wait_at(number, threads); }

 private:
  struct Barrier {
    unsigned waiting = 0;
    size_t rounds = 0;  // how often all have come
  };
  static constexpr size_t kBarriers = 1 + 1024 / 32;  // of the block, then of its warps
  static constexpr size_t kBegin = kBarriers;         // begin_launch()
  struct Fiber {
    jmp_buf place;
    std::unique_ptr<char[]> stack;
    bool ended;
  };

  static std::vector<Fibers*>& idle() {
    static std::vector<Fibers*>& fibers = *new std::vector<Fibers*>;
    return fibers;
  }

  void go_on() {
    running_ = this;
    for (size_t stopped = 0; stopped < threads_;) {
      stopped = 0;
      at_begin_ = 0;
      for (unsigned i = 0; i < threads_; ++i) {
        if (!fibers_[i]->ended) {
          current_ = i;
          function_->running->thread = {i, 0, 0};
          resume(*fibers_[i]);
        }
        if (fibers_[i]->ended) ++stopped;
      }
      stopped += at_begin_;
    }
  }
  // Makes the fiber if it is new. Jumps make no system calls, unlike swapcontext().
  void resume(Fiber& fiber) {
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.stack) _longjmp(fiber.place, 1);
    fiber.stack.reset(new char[kStackBytes]);
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = kStackBytes;
    makecontext(&context, &Fibers::serve, 0);
    setcontext(&context);
  }
  void wait_at(int number, unsigned threads) {
    if (number == kBegin) {
      while (wait_at_begin_) {
        ++at_begin_;
        pause();
      }
      return;
    }
    Barrier& barrier = barriers_[static_cast<size_t>(number)];
    const size_t round = barrier.rounds;
    if (++barrier.waiting == threads) {
      barrier.waiting = 0;
      ++barrier.rounds;
    }
    while (barrier.rounds == round) pause();
  }
  void pause() {
    if (_setjmp(fibers_[current_]->place) == 0) _longjmp(scheduler_, 1);
  }
  static void serve() {
    Fibers& fibers = *running_;
    for (;;) {
      fibers.function_->call(fibers.arguments_);
      fibers.fibers_[fibers.current_]->ended = true;
      fibers.pause();
    }
  }

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::array<Barrier, kBarriers> barriers_;
  static inline Fibers* running_ = nullptr;
  jmp_buf scheduler_;
  size_t current_ = 0, at_begin_ = 0;
  unsigned threads_ = 0;
  bool wait_at_begin_ = false;
  const Function* function_ = nullptr;
  const void* arguments_ = nullptr;
};

// Begins of launches and of graphs.
size_t launches = 0;

// Guards all that follows here. Never destroyed, since calls come until the process has ended.
std::recursive_mutex& mutex = *new std::recursive_mutex;
using Lock = std::lock_guard<std::recursive_mutex>;

// The objects that exist, by kind: "memory", "pinned", "stream", "event", "graph", "module".
std::map<std::string, std::map<const void*, size_t>>& objects =
    *new std::map<std::string, std::map<const void*, size_t>>;
void add(const char* kind, const void* object, size_t bytes = 0) {
  const Lock lock(mutex);
  objects[kind][object] = bytes;
}
void drop(const char* kind, const void* object) {
  const Lock lock(mutex);
  objects[kind].erase(object);
}
bool is_pinned(const void* from) {
  const Lock lock(mutex);
  const auto behind = objects["pinned"].upper_bound(from);
  if (behind == objects["pinned"].begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return static_cast<const char*>(from) < static_cast<const char*>(begin) + bytes;
}

// Which call fails: the one of this name that comes after so many others. Behind the result 700 every call fails.
std::string& failing = *new std::string;
size_t calls_before = 0;
int failure = 0;
bool is_lost = false;
int failure_of(const char* call) {
  const Lock lock(mutex);
  if (is_lost) return failure;
  if (failing != call || calls_before-- > 0) return 0;
  failing.clear();
  is_lost = failure == 700;
  return failure;
}
#define MAY_FAIL \
  if (const int result = failure_of(__func__); result != 0) return result

thread_local int current = -1;  // the device of the thread's context
constexpr int kInvalidHandle = 400;

// The device of each allocation and module.
std::map<const void*, int>& devices = *new std::map<const void*, int>;
void own(const void* object) {
  const Lock lock(mutex);
  devices[object] = current;
}
// False if it is in the memory of another device.
bool is_own(const void* address) {
  const Lock lock(mutex);
  const auto behind = objects["memory"].upper_bound(address);
  if (behind == objects["memory"].begin()) return true;
  const auto& [begin, bytes] = *std::prev(behind);
  return static_cast<const char*>(address) >= static_cast<const char*>(begin) + bytes || devices.at(begin) == current;
}

struct Stream {
  const int device = current;
  std::vector<std::function<void()>> late;
  bool is_slow = false, is_behind_launch = false;
  int denials = 0;

  void add(std::function<void()> work, bool is_launch = false) {
    const Lock lock(mutex);
    late.push_back(std::move(work));
    is_behind_launch = is_launch;
    is_slow = !is_slow;
    denials = is_slow ? 8 : 0;
  }

  void catch_up() {
    const Lock lock(mutex);
    for (const auto& work : late) work();
    late.clear();
    is_behind_launch = false;
  }
};
void catch_up_all() {
  const Lock lock(mutex);
  for (const auto& [stream, bytes] : objects["stream"]) static_cast<Stream*>(const_cast<void*>(stream))->catch_up();
}

struct Event {
  std::chrono::steady_clock::time_point time;
};

using Pointer = unsigned long long;
char* at(Pointer pointer) { return reinterpret_cast<char*>(pointer); }

void* garbage(size_t bytes) {
  void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory != nullptr) std::memset(memory, 0xa5, bytes);
  return memory;
}

// A launch in a graph, in the driver's layout and with a copy of its arguments.
struct Node {
  Function* function;
  unsigned grid_x, grid_y, grid_z, x, y, z, shared;
  void** arguments;
  void** extra;
  void* kernel;
  void* context;
};
struct OwnNode {
  Node node;
  std::vector<char> arguments;
  std::vector<const OwnNode*> before;

  void set(const Node& given) {
    node = given;
    const auto* const bytes = static_cast<const char*>(given.arguments[0]);
    arguments.assign(bytes, bytes + given.function->bytes);
  }

  // True if the function and all memory that it is given are the current device's.
  bool is_own() const {
    for (size_t i = 0; i + sizeof(void*) <= arguments.size(); i += sizeof(void*)) {
      const void* address = nullptr;
      std::memcpy(&address, arguments.data() + i, sizeof address);
      if (!::is_own(address)) return false;
    }
    return node.function->device == current;
  }

  void run() const {
    if (node.function->call == nullptr) return;
    const Turn turn;
    static bool backwards = false;
    backwards = !backwards;
    const unsigned blocks = node.grid_x * node.grid_y;
    Fibers& fibers = Fibers::take();
    for (unsigned i = 0; i < blocks; ++i) {
      show(backwards ? blocks - 1 - i : i);
      fibers.run(*node.function, arguments.data(), node.x);
    }
    fibers.give_back();
  }
  // Runs a launch of one block as far as begin_launch(); the function that is returned runs the rest.
  static std::function<void()> begun(const std::shared_ptr<const OwnNode>& own) {
    const Turn turn;
    Fibers& fibers = Fibers::take();
    own->show(0);
    fibers.run(*own->node.function, own->arguments.data(), own->node.x, true);
    return [own, &fibers] {
      const Turn turn;
      own->show(0);
      fibers.end();
      fibers.give_back();
    };
  }

 private:
  // One launch works at a time, and denormals count as zero.
  struct Turn {
    static std::mutex& running() {
      static std::mutex& one = *new std::mutex;
      return one;
    }
    const std::lock_guard<std::mutex> lock{running()};
    const unsigned mode = _mm_getcsr();
    Turn() { _mm_setcsr(mode | 0x8040); }
    ~Turn() { _mm_setcsr(mode); }
  };
  // Lets the compiled text see a block.
  void show(unsigned block) const {
    Running& running = *node.function->running;
    running.grid = {node.grid_x, node.grid_y, node.grid_z};
    running.block_size = {node.x, 1, 1};
    running.block = {block % node.grid_x, block / node.grid_x, 0};
  }
};
using Graph = std::vector<std::unique_ptr<OwnNode>>;

struct Rows {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  Pointer from;
  void* from_array;
  size_t from_pitch, to_x, to_y;
  int to_type;
  void* to_host;
  Pointer to;
  void* to_array;
  size_t to_pitch, width, height;
};

// True if the current device has the stream and the memory at these addresses.
bool is_usable(const Stream* stream, std::initializer_list<const void*> addresses = {}) {
  return stream->device == current && std::all_of(addresses.begin(), addresses.end(), is_own);
}

}  // namespace

extern "C" {

// For tests alone.
size_t imitated_launches() { return launches; }
size_t imitated_objects(const char* kind) {
  const Lock lock(mutex);
  return objects[kind].size();
}
void imitated_fail(const char* call, size_t before, int result) {
  const Lock lock(mutex);
  failing = call;
  calls_before = before;
  failure = result;
  is_lost = false;
}

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "imitated error";
  return 0;
}
int cuDeviceGetCount(int* count) {
  const char* const given = std::getenv("IMITATED_GPUS");
  *count = given == nullptr ? 1 : std::atoi(given);
  return 0;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "Imitated GPU");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 8 : 0;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  MAY_FAIL;
  *context = reinterpret_cast<void*>(static_cast<intptr_t>(device) + 1);
  return 0;
}
int cuCtxSetCurrent(void* context) {
  MAY_FAIL;
  current = static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1;
  return 0;
}

int cuMemAlloc_v2(Pointer* pointer, size_t bytes) {
  MAY_FAIL;
  void* const memory = garbage(bytes);
  if (memory == nullptr) return 2;
  add("memory", memory, bytes);
  own(memory);
  *pointer = reinterpret_cast<Pointer>(memory);
  return 0;
}
int cuMemFree_v2(Pointer pointer) {
  MAY_FAIL;
  catch_up_all();
  drop("memory", at(pointer));
  std::free(at(pointer));
  return 0;
}
int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  MAY_FAIL;
  *memory = garbage(bytes);
  if (*memory == nullptr) return 2;
  add("pinned", *memory, bytes);
  return 0;
}
int cuMemFreeHost(void* memory) {
  MAY_FAIL;
  catch_up_all();
  drop("pinned", memory);
  std::free(memory);
  return 0;
}
int cuMemHostGetDevicePointer_v2(Pointer* pointer, void* memory, unsigned) {
  MAY_FAIL;
  *pointer = reinterpret_cast<Pointer>(memory);
  return 0;
}

int cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, Stream* stream) {
  MAY_FAIL;
  if (!is_usable(stream, {at(from)})) return kInvalidHandle;
  stream->catch_up();
  std::memcpy(to, at(from), bytes);
  return 0;
}
int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, Stream* stream) {
  MAY_FAIL;
  if (!is_usable(stream, {at(to)})) return kInvalidHandle;
  const Lock lock(mutex);
  stream->late.push_back([=] { std::memcpy(at(to), from, bytes); });
  stream->is_behind_launch = false;
  if (!is_pinned(from)) stream->catch_up();
  return 0;
}
int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, Stream* stream) {
  MAY_FAIL;
  if (!is_usable(stream, {at(to), at(from)})) return kInvalidHandle;
  stream->catch_up();
  std::memmove(at(to), at(from), bytes);
  return 0;
}
int cuMemcpy2DAsync_v2(const Rows* rows, Stream* stream) {
  MAY_FAIL;
  if (!is_usable(stream, {at(rows->to), at(rows->from)})) return kInvalidHandle;
  stream->catch_up();
  for (size_t i = 0; i < rows->height; ++i) {
    std::memcpy(at(rows->to) + i * rows->to_pitch, at(rows->from) + i * rows->from_pitch, rows->width);
  }
  return 0;
}
int cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes, Stream* stream) {
  MAY_FAIL;
  if (!is_usable(stream, {at(to)})) return kInvalidHandle;
  stream->catch_up();
  std::memset(at(to), value, bytes);
  return 0;
}

int cuStreamCreate(Stream** stream, unsigned) {
  MAY_FAIL;
  *stream = new Stream;
  add("stream", *stream);
  return 0;
}
int cuStreamDestroy_v2(Stream* stream) {
  MAY_FAIL;
  stream->catch_up();
  drop("stream", stream);
  delete stream;
  return 0;
}
int cuStreamSynchronize(Stream* stream) {
  MAY_FAIL;
  stream->catch_up();
  return 0;
}
int cuStreamQuery(Stream* stream) {
  MAY_FAIL;
  constexpr int kNotReady = 600;
  const Lock lock(mutex);
  if (!stream->late.empty() && stream->denials-- > 0) return kNotReady;
  stream->catch_up();
  return 0;
}
int cuEventCreate(Event** event, unsigned) {
  MAY_FAIL;
  *event = new Event;
  add("event", *event);
  return 0;
}
int cuEventDestroy_v2(Event* event) {
  MAY_FAIL;
  drop("event", event);
  delete event;
  return 0;
}
int cuEventRecord(Event* event, Stream*) {
  MAY_FAIL;
  event->time = std::chrono::steady_clock::now();
  return 0;
}
int cuEventElapsedTime(float* milliseconds, const Event* begin, const Event* end) {
  MAY_FAIL;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return 0;
}
// What writes the number has begun.
int cuStreamWaitValue64_v2(Stream* stream, Pointer, unsigned long, unsigned) {
  MAY_FAIL;
  if (!is_usable(stream)) return kInvalidHandle;
  catch_up_all();
  return 0;
}
int cuStreamWriteValue64_v2(Stream* stream, Pointer address, unsigned long value, unsigned) {
  MAY_FAIL;
  if (!is_usable(stream)) return kInvalidHandle;
  stream->add([=] { __atomic_store_n(reinterpret_cast<unsigned long*>(at(address)), value, __ATOMIC_RELEASE); });
  return 0;
}
// The code is a shared library, behind its size. Without code, functions do nothing.
int cuModuleLoadData(void** module, const void* code) {
  MAY_FAIL;
  size_t size = 0;
  std::memcpy(&size, code, sizeof size);
  *module = nullptr;
  if (size == 0) return 0;
  char path[] = "/tmp/imitated_module_XXXXXX";
  const int file = mkstemp(path);
  const bool written = write(file, static_cast<const char*>(code) + sizeof size, size) == static_cast<ssize_t>(size);
  close(file);
  *module = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (*module == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  unlink(path);
  if (*module == nullptr) return 200;
  add("module", *module);
  own(*module);
  return 0;
}
int cuModuleUnload(void* module) {
  MAY_FAIL;
  catch_up_all();
  drop("module", module);
  if (module != nullptr) dlclose(module);
  return 0;
}
int cuModuleGetFunction(Function** function, void* module, const char* name) {
  MAY_FAIL;
  if (module == nullptr) {
    *function = new Function{nullptr, nullptr, 0, current};
    return 0;
  }
  const auto call = reinterpret_cast<void (*)(const void*)>(dlsym(module, (std::string("call_") + name).c_str()));
  auto* const running = static_cast<Running*>(dlsym(module, "running"));
  const auto* const bytes = static_cast<const size_t*>(dlsym(module, (std::string("bytes_") + name).c_str()));
  if (call == nullptr || running == nullptr || bytes == nullptr) return 500;
  running->barrier = &Fibers::barrier;
  const Lock lock(mutex);
  *function = new Function{call, running, *bytes, devices.at(module)};
  return 0;
}

struct Config {
  unsigned grid_x, grid_y, grid_z, x, y, z, shared;
  Stream* stream;
};
int cuLaunchKernelEx(const Config* config, Function* function, void** arguments, void**) {
  MAY_FAIL;
  Stream* const stream = config->stream;
  ++launches;
  const auto node = std::make_shared<OwnNode>();
  node->set({function, config->grid_x, config->grid_y, config->grid_z, config->x, 1, 1, 0, arguments, nullptr, nullptr,
             nullptr});
  const bool is_right = is_usable(stream) && node->is_own();
  std::function<void()> work = [node] { node->run(); };
  {
    const Lock lock(mutex);
    if (is_right && stream->is_behind_launch && function->call != nullptr && config->grid_x * config->grid_y == 1) {
      work = OwnNode::begun(node);
    }
  }
  stream->catch_up();
  if (!is_right) return kInvalidHandle;
  stream->add(std::move(work), true);
  return 0;
}

int cuGraphCreate(Graph** graph, unsigned) {
  MAY_FAIL;
  *graph = new Graph;
  add("graph", *graph);
  return 0;
}
int cuGraphAddKernelNode_v2(OwnNode** made, Graph* graph, OwnNode* const*, size_t, const Node* node) {
  MAY_FAIL;
  graph->push_back(std::make_unique<OwnNode>());
  graph->back()->set(*node);
  *made = graph->back().get();
  return 0;
}
int cuGraphKernelNodeSetAttribute(OwnNode*, unsigned, const void*) {
  MAY_FAIL;
  return 0;
}
int cuGraphAddDependencies_v2(Graph*, OwnNode* const* from, OwnNode* const* to, const void*, size_t count) {
  MAY_FAIL;
  for (size_t i = 0; i < count; ++i) to[i]->before.push_back(from[i]);
  return 0;
}
// Refuses edges that follow from others: a GPU is slower with them.
int cuGraphInstantiateWithFlags(Graph** made, Graph* graph, unsigned long long) {
  MAY_FAIL;
  constexpr size_t kMost = 1000;
  std::map<const OwnNode*, std::set<const OwnNode*>> behind;  // all nodes that each is behind
  for (const std::unique_ptr<OwnNode>& node : *graph) {
    if (graph->size() > kMost) break;
    std::set<const OwnNode*>& own = behind[node.get()];
    for (const OwnNode* const before : node->before) own.insert(behind[before].begin(), behind[before].end());
    for (const OwnNode* const before : node->before) {
      if (!own.insert(before).second) return kInvalidHandle;
    }
  }
  *made = graph;
  return 0;
}
int cuGraphExecKernelNodeSetParams_v2(Graph*, OwnNode* node, const Node* given) {
  MAY_FAIL;
  node->set(*given);
  return 0;
}
// Of the nodes that may run, the one that was added last runs next: so a missing edge shows.
int cuGraphLaunch(Graph* graph, Stream* stream) {
  MAY_FAIL;
  stream->catch_up();
  ++launches;
  std::vector<OwnNode> order;
  std::map<const OwnNode*, size_t> position, waits;
  std::map<const OwnNode*, std::vector<const OwnNode*>> behind;
  std::set<size_t> ready;
  for (size_t i = 0; i < graph->size(); ++i) {
    const OwnNode* const node = (*graph)[i].get();
    position[node] = i;
    waits[node] = node->before.size();
    for (const OwnNode* const before : node->before) behind[before].push_back(node);
    if (node->before.empty()) ready.insert(i);
  }
  while (!ready.empty()) {
    const OwnNode& own = *(*graph)[*ready.rbegin()];
    ready.erase(std::prev(ready.end()));
    order.push_back(own);
    for (const OwnNode* const next : behind[&own]) {
      if (--waits[next] == 0) ready.insert(position[next]);
    }
  }
  const auto is_own = [](const OwnNode& node) { return node.is_own(); };
  if (!is_usable(stream) || !std::all_of(order.begin(), order.end(), is_own)) return kInvalidHandle;
  stream->add([order = std::move(order)] {
    for (const OwnNode& node : order) node.run();
  });
  return 0;
}
int cuGraphExecDestroy(Graph*) { return 0; }
int cuGraphDestroy(Graph* graph) {
  MAY_FAIL;
  drop("graph", graph);
  delete graph;
  return 0;
}

}  // extern "C"
