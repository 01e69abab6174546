// The size of a page of memory.
#pragma once

#include <stddef.h>
#include <unistd.h>

/// Bytes of a page.
static inline size_t alloy_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

#ifndef PAGE_SIZE
#define PAGE_SIZE alloy_page_size()
#endif
#define vm_page_size alloy_page_size()
