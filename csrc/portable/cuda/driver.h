// The driver's interface: the few functions and types of it that this device uses, by NVIDIA's names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "cuda/library.h"

namespace alloy::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;

inline constexpr CUresult kOutOfMemory = 2, kNotReady = 600;
// Attributes of a device.
inline constexpr int kMajor = 75, kMinor = 76;
// Of pinned memory: any context, and the device addresses it.
inline constexpr unsigned kPortable = 1, kMapped = 2;
// Of a stream: it does not wait for the default stream.
inline constexpr unsigned kNonBlocking = 1;
// Of a wait for a number in memory: until it is at least the given one.
inline constexpr unsigned kAtLeast = 0;

// A copy of rows; only the fields of memory of the device are set.
struct CUDA_MEMCPY2D {
  size_t srcXInBytes = 0, srcY = 0;
  int srcMemoryType = 2;
  const void* srcHost = nullptr;
  CUdeviceptr srcDevice = 0;
  void* srcArray = nullptr;
  size_t srcPitch = 0;
  size_t dstXInBytes = 0, dstY = 0;
  int dstMemoryType = 2;
  void* dstHost = nullptr;
  CUdeviceptr dstDevice = 0;
  void* dstArray = nullptr;
  size_t dstPitch = 0;
  size_t WidthInBytes = 0, Height = 0;
};

// An edge of a graph. Of a programmatic one, the node behind it begins when the blocks of the node before have ended,
// and waits itself until their results can be read.
struct CUgraphEdgeData {
  unsigned char from_port = 0, to_port = 0, type = 0, reserved[5] = {};
};
inline constexpr CUgraphEdgeData kProgrammatic{1, 0, 1};

// A launch as a node of a graph.
struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func = nullptr;
  unsigned gridDimX = 1, gridDimY = 1, gridDimZ = 1;
  unsigned blockDimX = 1, blockDimY = 1, blockDimZ = 1;
  unsigned sharedMemBytes = 0;
  void** kernelParams = nullptr;
  void** extra = nullptr;
  void* kern = nullptr;
  CUcontext ctx = nullptr;
};

// What else a launch has; the driver reads 64 bytes of the value.
union CUlaunchAttributeValue {
  char bytes[64] = {};
  int programmaticStreamSerializationAllowed;
  int priority;
};
struct CUlaunchAttribute {
  unsigned id;
  char pad[4] = {};
  CUlaunchAttributeValue value;
};
// A launch begins when the blocks of the one before it on the stream have begun, and waits itself until its results can
// be read.
inline constexpr unsigned kProgrammaticSerialization = 6;
inline constexpr unsigned kPriority = 8;

struct CUlaunchConfig {
  unsigned gridDimX = 1, gridDimY = 1, gridDimZ = 1;
  unsigned blockDimX = 1, blockDimY = 1, blockDimZ = 1;
  unsigned sharedMemBytes = 0;
  CUstream hStream = nullptr;
  CUlaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

// Columns: the member, the name in the library, the parameters.
#define ALLOY_CUDA_DRIVER(X)                                                                                         \
  X(init, cuInit, (unsigned))                                                                                        \
  X(driver_version, cuDriverGetVersion, (int*))                                                                      \
  X(error_string, cuGetErrorString, (CUresult, const char**))                                                        \
  X(device_count, cuDeviceGetCount, (int*))                                                                          \
  X(device_get, cuDeviceGet, (CUdevice*, int))                                                                       \
  X(device_name, cuDeviceGetName, (char*, int, CUdevice))                                                            \
  X(device_attribute, cuDeviceGetAttribute, (int*, int, CUdevice))                                                   \
  X(device_memory, cuDeviceTotalMem_v2, (size_t*, CUdevice))                                                         \
  X(context_retain, cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                                \
  X(context_set, cuCtxSetCurrent, (CUcontext))                                                                       \
  X(allocate, cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                                 \
  X(free, cuMemFree_v2, (CUdeviceptr))                                                                               \
  X(host_allocate, cuMemHostAlloc, (void**, size_t, unsigned))                                                       \
  X(host_free, cuMemFreeHost, (void*))                                                                               \
  X(host_address, cuMemHostGetDevicePointer_v2, (CUdeviceptr*, void*, unsigned))                                     \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void*, CUdeviceptr, size_t, CUstream))                                      \
  X(copy_from_host, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void*, size_t, CUstream))                              \
  X(copy, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                        \
  X(copy_rows, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D*, CUstream))                                                 \
  X(fill, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                                           \
  X(stream_create, cuStreamCreate, (CUstream*, unsigned))                                                            \
  X(stream_destroy, cuStreamDestroy_v2, (CUstream))                                                                  \
  X(synchronize, cuStreamSynchronize, (CUstream))                                                                    \
  X(stream_query, cuStreamQuery, (CUstream))                                                                         \
  X(stream_wait, cuStreamWaitValue64_v2, (CUstream, CUdeviceptr, uint64_t, unsigned))                                \
  X(stream_write, cuStreamWriteValue64_v2, (CUstream, CUdeviceptr, uint64_t, unsigned))                              \
  X(event_create, cuEventCreate, (CUevent*, unsigned))                                                               \
  X(event_record, cuEventRecord, (CUevent, CUstream))                                                                \
  X(event_elapsed, cuEventElapsedTime, (float*, CUevent, CUevent))                                                   \
  X(event_destroy, cuEventDestroy_v2, (CUevent))                                                                     \
  X(module_load, cuModuleLoadData, (CUmodule*, const void*))                                                         \
  X(module_unload, cuModuleUnload, (CUmodule))                                                                       \
  X(module_function, cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                                      \
  X(launch, cuLaunchKernelEx, (const CUlaunchConfig*, CUfunction, void**, void**))                                   \
  X(graph_create, cuGraphCreate, (CUgraph*, unsigned))                                                               \
  X(graph_add_kernel, cuGraphAddKernelNode_v2,                                                                       \
    (CUgraphNode*, CUgraph, const CUgraphNode*, size_t, const CUDA_KERNEL_NODE_PARAMS*))                             \
  X(graph_set_attribute, cuGraphKernelNodeSetAttribute, (CUgraphNode, unsigned, const CUlaunchAttributeValue*))      \
  X(graph_add_edges, cuGraphAddDependencies_v2,                                                                      \
    (CUgraph, const CUgraphNode*, const CUgraphNode*, const CUgraphEdgeData*, size_t))                               \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, unsigned long long))                     \
  X(graph_set_kernel, cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*)) \
  X(graph_launch, cuGraphLaunch, (CUgraphExec, CUstream))                                                            \
  X(graph_exec_destroy, cuGraphExecDestroy, (CUgraphExec))                                                           \
  X(graph_destroy, cuGraphDestroy, (CUgraph))

// Opened once; its functions may be called by every thread.
class Driver {
 public:
  // Throws std::runtime_error, one sentence, if there is no driver or if it is too old.
  Driver();

#define ALLOY_MEMBER(member, name, parameters) CUresult(*member) parameters = nullptr;
  ALLOY_CUDA_DRIVER(ALLOY_MEMBER)
#undef ALLOY_MEMBER

  // Throws std::runtime_error if a call, named by `what`, has failed; std::bad_alloc if memory lacks.
  void check(CUresult result, const char* what) const;

 private:
  Library library_;
};

// A device's context, which every thread that calls the driver must have entered. It takes time and memory of the
// device, so the first one that enters makes it.
class Context {
 public:
  Context(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {}

  // Throws std::runtime_error, without a call of the driver, in a forked child and at the end of the process: there the
  // driver cannot be used, and its locks may be held by threads that do not exist.
  const Driver& enter() const;

 private:
  const Driver& driver_;
  CUdevice device_;
  mutable std::once_flag made_;
  mutable CUcontext context_ = nullptr;
};

}  // namespace alloy::cuda
