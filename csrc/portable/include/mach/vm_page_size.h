// The size of a page of memory, and how addresses are rounded to it.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/// Bytes of a page, which are a power of two, and that power.
static inline size_t alloy_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static inline int alloy_page_shift(void) { return __builtin_ctzl(alloy_page_size()); }

#define vm_page_size alloy_page_size()
#define vm_page_mask (vm_page_size - 1)
#define vm_page_shift alloy_page_shift()

/// The beginning of the page, and of the one behind where it is not a beginning.
#define trunc_page(x) ((x) & (~(vm_page_size - 1)))
#define round_page(x) trunc_page((x) + (vm_page_size - 1))
#define mach_vm_trunc_page(x) trunc_page((uint64_t)(x))
#define mach_vm_round_page(x) round_page((uint64_t)(x))
