// The questions that `alloy doctor` and `make mac-report` ask the framework, each in a process of its own, because the
// question may end the process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/quirks.h"

namespace alloy::probes {

// A row of the tables: what is asked, and what is expected. A question is open if Apple does not document the answer
// and the engine does not need it.
struct Probe {
  const char* name;
  const char* question;  // at most 44 characters
  const char* expected;  // the right answer; null: the question is open, and every answer is news
  double tolerance;      // of numbers, relative and at least absolute; 0: exact
  const char* reason;    // why that is expected, or why it is asked
  const char* quirk;     // the row of quirks.def that reports another answer, or null
  // Numbers are written as hexadecimal floats or as integers, truth values as 0 and 1. Messages the framework; lets
  // every exception out.
  std::string (*ask)();
  const char* told = "";  // what that row's source says comes instead, "?" for a word that it does not say; "" where
                          // the row's process ends, or there is no row
};

// The rows of each subject, at the end of the file of its name.
extern const std::span<const Probe> kExecutables, kVariables, kTypes, kReductions, kProducts, kSlices, kArrays,
    kOptimizers, kNumbers, kIndices, kRecurrent, kTimes;
// Those of all subjects, in the order in which they are asked.
std::vector<Probe> all_probes();

// Whose framework answers.
ir::System asked_system();
// Runs one probe in an autorelease scope.
std::string answer(const Probe& probe);

}  // namespace alloy::probes
