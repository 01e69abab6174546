// Ops that a device lacks, computed by the host.
#pragma once

#include <memory>

#include "device/kernel.h"

namespace alloy::runtime {

// A device::HostKernelMaker: compiles the op for device::host_device(). Throws ir::Error and std::bad_alloc.
std::unique_ptr<device::HostKernel> compute_on_host(const ir::Op& op);

}  // namespace alloy::runtime
