// The page size of Darwin's virtual memory.
#pragma once

#include <mach/vm_param.h>
