// Steps loaded from files, which run without the graph that they were written from. Plain C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/running/feed_bytes.h"
#include "engine/stats.h"
#include "ir/shape.h"

namespace alloy::engine {

// Any thread may call it at any time; runs are serialised. It has variables of its own, which runs update.
class Package {
 public:
  // On the first device of that kind or name, or the default one. Throws ir::Error if there is none, and DeviceError if
  // the framework cannot load the file.
  Package(const std::string& path, const std::string& device);
  ~Package();

  // A feed or a fetch. Shapes may be open, names empty.
  struct Port {
    std::string name;
    ir::Type type;
  };
  const std::vector<Port>& feeds() const;
  const std::vector<Port>& fetches() const;

  // The types of the results for feeds of these static shapes, which must fit the shapes of feeds(). The framework
  // compiles for them. Throws DeviceError if the shapes do not fit each other.
  std::vector<ir::Type> result_types(const std::vector<ir::Shape>& shapes);
  // Runs the step and copies the results out, packed row-major. Throws DeviceError or OutOfMemory.
  void run(const std::vector<ir::Shape>& shapes, const FeedBytes* feeds, void* const* results);
  // Writes the step again, with the current values of its variables.
  void write(const std::string& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Alive alive_;
};

}  // namespace alloy::engine
