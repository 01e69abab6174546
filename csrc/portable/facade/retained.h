// Ownership of Objective-C objects by C++ closures.
#pragma once

#import <Foundation/Foundation.h>

#include <utility>

namespace alloy::facade {

// An Objective-C object retained by a C++ closure.
template <class Object>
class Retained {
 public:
  explicit Retained(Object object) : object_([object retain]) {}
  Retained(const Retained& other) : object_([other.object_ retain]) {}
  Retained(Retained&& other) noexcept : object_(std::exchange(other.object_, nil)) {}
  Retained& operator=(const Retained&) = delete;
  ~Retained() { [object_ release]; }
  Object get() const { return object_; }

 private:
  Object object_;
};

}  // namespace alloy::facade
