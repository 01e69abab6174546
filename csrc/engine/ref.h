// Ownership of Objective-C objects: the only file of the engine that uses retain, release or autorelease.
#pragma once

#import <Foundation/Foundation.h>

#include <utility>

namespace alloy::engine {

// Holds one reference. A raw pointer cannot become a Ref by accident: use `adopt` for an object that we already own
// (new, alloc, copy), and `retain` for an object with another owner.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref adopt(T object) { return Ref(object); }
  static Ref retain(T object) { return Ref([object retain]); }

  Ref(const Ref& other) : object_([other.object_ retain]) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { [object_ release]; }

  T get() const { return object_; }

 private:
  explicit Ref(T object) : object_(object) {}
  T object_ = nullptr;
};

}  // namespace alloy::engine
