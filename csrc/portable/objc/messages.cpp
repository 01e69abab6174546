// Messages: finding a receiver's method for a selector.

#include <objc/message.h>
#include <objc/runtime.h>

#include "objc/entry_points.h"

namespace {

// Compiled code reads the method at once, before this thread sends another message. The initial-exec model reaches the
// variable without a call, which would double the time of a message.
AlloySlot* slot_of(IMP method) {
  thread_local AlloySlot slot __attribute__((tls_model("initial-exec"))){};
  slot.method = method;
  return &slot;
}

}  // namespace

AlloySlot* objc_msg_lookup_sender(id* receiver, SEL selector, id) {
  return slot_of(objc_msg_lookup(*receiver, selector));
}

AlloySlot* objc_slot_lookup_super(objc_super* super, SEL selector) {
  return slot_of(objc_msg_lookup_super(super, selector));
}

// objc_msgSend and its variants, which programs call through a cast. They find the method and jump to it with the
// arguments unchanged, whatever these are.
#if defined(__x86_64__)

// The arguments are in these registers; al has the number of vector registers. The frame pointer lets exceptions of
// +initialize pass.
#define ALLOY_SEND(NAME, RECEIVER, SELECTOR, LOOKUP, BEHIND_LOOKUP)                                      \
  asm(".globl " NAME "\n.type " NAME ", @function\n" NAME                                                \
      ":\n.cfi_startproc\nendbr64\n"                                                                     \
      "test " RECEIVER ", " RECEIVER                                                                     \
      "\njz 1f\n"                                                                                        \
      "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"                                       \
      "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nsub $192, %rsp\n"                                     \
      "movaps %xmm0, (%rsp)\nmovaps %xmm1, 16(%rsp)\nmovaps %xmm2, 32(%rsp)\n"                           \
      "movaps %xmm3, 48(%rsp)\nmovaps %xmm4, 64(%rsp)\nmovaps %xmm5, 80(%rsp)\n"                         \
      "movaps %xmm6, 96(%rsp)\nmovaps %xmm7, 112(%rsp)\n"                                                \
      "mov %rdi, 128(%rsp)\nmov %rsi, 136(%rsp)\nmov %rdx, 144(%rsp)\n"                                  \
      "mov %rcx, 152(%rsp)\nmov %r8, 160(%rsp)\nmov %r9, 168(%rsp)\nmov %rax, 176(%rsp)\n"               \
      "mov " SELECTOR ", %rax\nmov " RECEIVER                                                            \
      ", %rdi\nmov %rax, %rsi\n"                                                                         \
      "call " LOOKUP                                                                                     \
      "@PLT\nmov %rax, %r11\n"                                                                           \
      "movaps (%rsp), %xmm0\nmovaps 16(%rsp), %xmm1\nmovaps 32(%rsp), %xmm2\n"                           \
      "movaps 48(%rsp), %xmm3\nmovaps 64(%rsp), %xmm4\nmovaps 80(%rsp), %xmm5\n"                         \
      "movaps 96(%rsp), %xmm6\nmovaps 112(%rsp), %xmm7\n"                                                \
      "mov 128(%rsp), %rdi\nmov 136(%rsp), %rsi\nmov 144(%rsp), %rdx\n"                                  \
      "mov 152(%rsp), %rcx\nmov 160(%rsp), %r8\nmov 168(%rsp), %r9\nmov 176(%rsp), %rax\n" BEHIND_LOOKUP \
      "leave\n.cfi_def_cfa %rsp, 8\njmp *%r11\n"                                                         \
      "1:\nmov %rdi, %rax\nxor %edx, %edx\npxor %xmm0, %xmm0\npxor %xmm1, %xmm1\nret\n"                  \
      ".cfi_endproc\n.size " NAME ", . - " NAME "\n")

ALLOY_SEND("objc_msgSend", "%rdi", "%rsi", "objc_msg_lookup", "");
ALLOY_SEND("objc_msgSendSuper", "%rdi", "%rsi", "objc_msg_lookup_super", "mov (%rdi), %rdi\n");
// The first argument is the address of the result.
ALLOY_SEND("objc_msgSend_stret", "%rsi", "%rdx", "objc_msg_lookup", "");
ALLOY_SEND("objc_msgSendSuper_stret", "%rsi", "%rdx", "objc_msg_lookup_super", "mov (%rsi), %rsi\n");

#elif defined(__aarch64__)

#define ALLOY_SEND(NAME, LOOKUP, BEHIND_LOOKUP)                                                       \
  asm(".globl " NAME "\n.type " NAME ", %function\n" NAME                                             \
      ":\n.cfi_startproc\ncbz x0, 1f\n"                                                               \
      "stp x29, x30, [sp, #-224]!\n.cfi_def_cfa_offset 224\n"                                         \
      ".cfi_offset x29, -224\n.cfi_offset x30, -216\n"                                                \
      "mov x29, sp\n.cfi_def_cfa_register x29\n"                                                      \
      "stp q0, q1, [sp, #16]\nstp q2, q3, [sp, #48]\n"                                                \
      "stp q4, q5, [sp, #80]\nstp q6, q7, [sp, #112]\n"                                               \
      "stp x0, x1, [sp, #144]\nstp x2, x3, [sp, #160]\nstp x4, x5, [sp, #176]\n"                      \
      "stp x6, x7, [sp, #192]\nstr x8, [sp, #208]\n"                                                  \
      "bl " LOOKUP                                                                                    \
      "\nmov x17, x0\n"                                                                               \
      "ldp q0, q1, [sp, #16]\nldp q2, q3, [sp, #48]\n"                                                \
      "ldp q4, q5, [sp, #80]\nldp q6, q7, [sp, #112]\n"                                               \
      "ldp x0, x1, [sp, #144]\nldp x2, x3, [sp, #160]\nldp x4, x5, [sp, #176]\n"                      \
      "ldp x6, x7, [sp, #192]\nldr x8, [sp, #208]\n" BEHIND_LOOKUP                                    \
      "ldp x29, x30, [sp], #224\n.cfi_def_cfa sp, 0\n.cfi_restore x29\n.cfi_restore x30\nbr x17\n"    \
      "1:\n.cfi_def_cfa sp, 0\nmov x1, #0\nmovi d0, #0\nmovi d1, #0\nmovi d2, #0\nmovi d3, #0\nret\n" \
      ".cfi_endproc\n.size " NAME ", . - " NAME "\n")

ALLOY_SEND("objc_msgSend", "objc_msg_lookup", "");
ALLOY_SEND("objc_msgSendSuper", "objc_msg_lookup_super", "ldr x0, [x0]\n");

#endif
