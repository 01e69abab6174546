// Of Darwin's virtual memory the size of a page.
#pragma once

#include <mach/vm_param.h>
