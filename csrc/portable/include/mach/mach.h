// Of Darwin's kernel interface its clock and the size of a page.
#pragma once

#include <mach/mach_time.h>
#include <mach/vm_param.h>
