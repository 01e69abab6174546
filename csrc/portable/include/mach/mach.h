// The clock and the page size of Darwin's kernel interface.
#pragma once

#include <mach/mach_time.h>
#include <mach/vm_param.h>
