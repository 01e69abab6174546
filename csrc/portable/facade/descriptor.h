// What descriptors have in common: fields in a C++ struct, which their _impl points to.
#pragma once

#import <Foundation/Foundation.h>

#include "facade/errors.h"
#include "facade/retained.h"

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

// The accessors of one field.
#define DESCRIPTOR_FIELD(Fields, type, getter, setter) \
  -(type)getter {                                      \
    return static_cast<Fields*>(_impl)->getter;        \
  }                                                    \
  -(void)setter : (type)value {                        \
    static_cast<Fields*>(_impl)->getter = value;       \
  }

// The accessors of one field that is a Retained object; `keep` is retain or copy, the rest of the line says its class
// as require_kind_or_nil takes it.
#define DESCRIPTOR_OBJECT(Fields, type, getter, setter, keep, ...)                    \
  -(type)getter {                                                                     \
    return static_cast<Fields*>(_impl)->getter.get();                                 \
  }                                                                                   \
  -(void)setter : (type)value {                                                       \
    require_kind_or_nil(value, __VA_ARGS__);                                          \
    static_cast<Fields*>(_impl)->getter =                                             \
        alloy::facade::Retained<type>(static_cast<type>([[value keep] autorelease])); \
  }
