// Kernels as formulas, which the graph compiler computes.

#include "facade/graph/build.h"
#include "facade/graph/types.h"
#include "facade/mps/arrays.h"
#include "facade/mps/predicate.h"
#include "facade/retained.h"

namespace alloy::facade {

runtime::TypedArray typed(const device::ArrayMemory& memory, MPSDataType type) { return {memory, dtype_of(type)}; }

namespace {

// Checks that memory given to a command buffer is on the buffer's device.
void require_on_device(id<MTLCommandBuffer> buffer, const device::ArrayMemory& memory) {
  const device::Device& device = device_of(owner_of(buffer));
  if (memory.device == &device) return;
  raise_invalid(@"[MPSKernel] The command buffer is of %s, but memory given to it is of %s.", device.name().data(),
                memory.device->name().data());
}

}  // namespace

void encode_formula(id<MTLCommandBuffer> buffer, runtime::Formulas& formulas,
                    const runtime::Formulas::Settings& settings, const runtime::Formulas::Formula& formula,
                    const std::vector<runtime::TypedArray>& inputs, const runtime::TypedArray& result) {
  refuse_fork();
  for (const runtime::TypedArray& input : inputs) require_on_device(buffer, input.memory);
  require_on_device(buffer, result.memory);
  std::optional<runtime::Run> run;
  build([&] { run.emplace(formulas.run(settings, formula, inputs, result)); });
  encode_on_stream(buffer,
                   [run = *run, condition = condition_of(buffer)](device::Stream& stream, device::Outcome& outcome) {
                     run(stream, outcome, host::EventList(), condition);
                   });
}

void encode_copy(id<MTLCommandBuffer> buffer, const device::ArrayMemory& from, MPSDataType from_type,
                 const device::ArrayMemory& to, MPSDataType to_type) {
  require_on_device(buffer, from);
  require_on_device(buffer, to);
  if (from_type == to_type && !device::may_share(from, to)) {
    encode(buffer, [from, to, condition = condition_of(buffer)] {
      if (!condition || condition()) device::copy_array(from, to);
      return host::Status();
    });
    return;
  }
  static runtime::Formulas& casts = *new runtime::Formulas;
  encode_formula(
      buffer, casts, {}, [](const std::vector<ir::Expr>& x) { return x[0]; }, {typed(from, from_type)},
      typed(to, to_type));
}

void set_reads_left(NSUInteger& present, NSUInteger reads) {
  if (present == 0 && reads != 0) raise_invalid(@"[setReadCount] The contents are gone, since the count was 0.");
  present = reads;
}

void keep_until_done(id<MTLCommandBuffer> buffer, id object) {
  encode_on_stream(buffer, [kept = Retained<id>(object)](device::Stream&, device::Outcome&) {});
}

namespace {

// A heap from a provider, which gets it back when the lease ends.
struct Lease {
  Retained<id> provider;
  Retained<id<MTLHeap>> heap;
  Lease(id from, id<MTLHeap> taken) : provider(from), heap(taken) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if ([provider.get() respondsToSelector:@selector(retireHeap:cacheDelay:)]) {
      [provider.get() retireHeap:heap.get() cacheDelay:0];
    }
  }
};

}  // namespace

id<MTLBuffer> room_on(id<MTLDevice> device, size_t bytes, MTLResourceOptions options, NSString* what) {
  device_of(device);
  id<MTLBuffer> buffer = [[device newBufferWithLength:bytes options:options] autorelease];
  if (!buffer) {
    [NSException raise:NSMallocException
                format:@"[%@] The device has no %lu bytes left.", what, static_cast<unsigned long>(bytes)];
  }
  return buffer;
}

id<MTLBuffer> temporary_buffer(id<MTLCommandBuffer> buffer, size_t bytes) {
  id<MTLDevice> device = owner_of(buffer);
  if (id provider = heap_provider_of(buffer)) {
    MTLHeapDescriptor* descriptor = [[MTLHeapDescriptor new] autorelease];
    [descriptor setSize:heap_size_and_align(device, bytes).size];
    id<MTLHeap> heap = [[provider newHeapWithDescriptor:descriptor] autorelease];
    if (heap) {
      auto lease = std::make_shared<Lease>(provider, heap);
      id<MTLBuffer> made = [[heap newBufferWithLength:bytes options:[heap resourceOptions]] autorelease];
      if (made) {
        encode_on_stream(buffer, [lease](device::Stream&, device::Outcome&) {});
        return made;
      }
    }
  }
  return room_on(device, bytes, MTLResourceStorageModePrivate, @"MPSTemporary");
}

}  // namespace alloy::facade
