// Messages: what a receiver does on a selector.

#include <objc/message.h>
#include <objc/runtime.h>

#include "objc/entry_points.h"

namespace {

// Compiled code reads the method at once, before this thread sends another message.
AlloySlot* slot_of(IMP method) {
  thread_local AlloySlot slot{};
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
