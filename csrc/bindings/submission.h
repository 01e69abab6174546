// Steps in flight as Python classes: their arrays once they are read, and their results as feeds before that.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "engine/executable.h"

namespace alloy::bindings {

// A submission and, after it has been read, its arrays.
struct Submitted {
  std::shared_ptr<engine::Submission> submission;
  pybind11::object arrays;

  pybind11::object read();
};

// New arrays for the results of a run.
struct Results {
  pybind11::list arrays;
  std::vector<void*> memory;

  explicit Results(const std::vector<ir::Type>& types);
};

void bind_submission(pybind11::module_& m);

}  // namespace alloy::bindings
