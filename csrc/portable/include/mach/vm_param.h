// Darwin's names for the page size; a Linux header that defines them first wins.
#pragma once

#include <mach/vm_page_size.h>

#ifndef PAGE_SIZE
#define PAGE_SIZE vm_page_size
#endif
#ifndef PAGE_SHIFT
#define PAGE_SHIFT vm_page_shift
#endif
#ifndef PAGE_MASK
#define PAGE_MASK vm_page_mask
#endif
#ifndef PAGE_MAX_SIZE
#define PAGE_MAX_SHIFT 14
#define PAGE_MAX_SIZE (1 << PAGE_MAX_SHIFT)
#define PAGE_MAX_MASK (PAGE_MAX_SIZE - 1)
#define PAGE_MIN_SHIFT 12
#define PAGE_MIN_SIZE (1 << PAGE_MIN_SHIFT)
#define PAGE_MIN_MASK (PAGE_MIN_SIZE - 1)
#endif
