// Messages sent from C++.
#pragma once

#include <objc/message.h>

// Sends a message through a method of this type; `object` may be null.
template <class Result = id, class... Arguments>
Result send(id object, SEL selector, Arguments... arguments) {
  using Method = Result (*)(id, SEL, Arguments...);
  const auto method = reinterpret_cast<void (*)()>(objc_msg_lookup(object, selector));
  return reinterpret_cast<Method>(method)(object, selector, arguments...);
}
