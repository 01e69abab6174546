// Steps that were written to files, as another process runs them: without the graph that they came from. Plain C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/running/feed_bytes.h"
#include "engine/stats.h"
#include "ir/shape.h"

namespace alloy::engine {

// Any thread may call it at any time; its runs are serialised. It has variables of its own, which they update.
class Package {
 public:
  // On the first device of that kind or name, or the default one. Throws ir::Error where there is none, and DeviceError
  // where the framework cannot load the file.
  Package(const std::string& path, const std::string& device);
  ~Package();

  // What it is fed and what it gives, in order. Shapes may be open, names empty.
  struct Port {
    std::string name;
    ir::Type type;
  };
  const std::vector<Port>& feeds() const;
  const std::vector<Port>& fetches() const;

  // What it gives for feeds of these static shapes, which fit those of feeds(); the framework compiles it for them.
  // Throws DeviceError where they do not fit one another.
  std::vector<ir::Type> result_types(const std::vector<ir::Shape>& shapes);
  // Runs it and copies the results out, packed row-major. Throws DeviceError or OutOfMemory.
  void run(const std::vector<ir::Shape>& shapes, const FeedBytes* feeds, void* const* results);
  // Writes it again, with the values that its variables have now.
  void write(const std::string& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Alive alive_;
};

}  // namespace alloy::engine
