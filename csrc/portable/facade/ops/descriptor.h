// What the descriptors of ops have in common: fields in a C++ struct, which their _impl points to.
#pragma once

#include "facade/graph/build.h"

// How a descriptor begins, ends and is copied; the rest of the line initialises its fields.
#define DESCRIPTOR_LIFE(Fields, ...)                                                             \
  -(instancetype)init {                                                                          \
    if ((self = [super init])) _impl = new Fields __VA_ARGS__;                                   \
    return self;                                                                                 \
  }                                                                                              \
  -(void)dealloc {                                                                               \
    delete static_cast<Fields*>(_impl);                                                          \
    [super dealloc];                                                                             \
  }                                                                                              \
  -(id)copyWithZone : (NSZone*)zone {                                                            \
    decltype(self) copy = static_cast<decltype(self)>([[[self class] allocWithZone:zone] init]); \
    *static_cast<Fields*>(copy->_impl) = *static_cast<Fields*>(_impl);                           \
    return copy;                                                                                 \
  }
