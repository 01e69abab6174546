// Ownership of Objective-C objects by C++.
#pragma once

#import <Foundation/Foundation.h>

#include <utility>

namespace alloy::facade {

// An Objective-C object, or nil, that a C++ closure or field retains.
template <class Object>
class Retained {
 public:
  Retained() : object_(nil) {}
  explicit Retained(Object object) : object_([object retain]) {}
  Retained(const Retained& other) : object_([other.object_ retain]) {}
  Retained(Retained&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Retained& operator=(Retained other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Retained() { [object_ release]; }
  Object get() const { return object_; }

 private:
  Object object_;
};

}  // namespace alloy::facade
