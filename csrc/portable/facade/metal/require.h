// Checks that Metal objects are of this framework. Only the classes of this folder include it.
#pragma once

#include "facade/metal/metal.h"

namespace alloy::facade {

// The object as an instance of our class; refuses a program's own implementation of a Metal protocol.
template <class Ours>
Ours* require(id object, Class our_class, NSString* what) {
  require_kind(object, our_class, what);
  return static_cast<Ours*>(object);
}

}  // namespace alloy::facade
