// True if a Metal object is of this framework. Included only by the classes of this folder.
#pragma once

#include "facade/metal/metal.h"

namespace alloy::facade {

// The object as an instance of our class; a caller's own implementation of a Metal protocol is refused.
template <class Ours>
Ours* require(id object, Class our_class, NSString* what) {
  require_kind(object, our_class, what);
  return static_cast<Ours*>(object);
}

}  // namespace alloy::facade
