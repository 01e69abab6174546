// The size of a memory page, and macros that round addresses to pages.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/// The bytes of a page, a power of two, and its exponent.
static inline size_t alloy_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static inline int alloy_page_shift(void) { return __builtin_ctzl(alloy_page_size()); }

#define vm_page_size alloy_page_size()
#define vm_page_mask (vm_page_size - 1)
#define vm_page_shift alloy_page_shift()

/// Rounds an address down or up to the beginning of a page.
#define trunc_page(x) ((x) & (~(vm_page_size - 1)))
#define round_page(x) trunc_page((x) + (vm_page_size - 1))
#define mach_vm_trunc_page(x) trunc_page((uint64_t)(x))
#define mach_vm_round_page(x) round_page((uint64_t)(x))
