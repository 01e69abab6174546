// The questions that `alloy doctor` and `make mac-report` ask the framework. Each runs in a process of its own, because
// the framework may end that process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/quirks.h"

namespace alloy::probes {

// A row of the tables: a question and its expected answer. A question is open if Apple does not document the answer and
// the engine does not depend on it.
struct Probe {
  const char* name;
  const char* question;  // at most 44 characters
  const char* expected;  // the right answer; null: the question is open
  double tolerance;      // of numbers: relative, but absolute below 1; 0: exact
  const char* reason;    // why this answer is expected, or why the question is asked
  const char* quirk;     // the row of quirks.def that reports another answer, or null
  // Asks the framework. Numbers are written as hexadecimal floats or as integers, truth values as 0 and 1. Lets all
  // exceptions out.
  std::string (*ask)();
  const char* told = "";  // the answer in that row's source, with "?" for words that it does not tell; "" if the
                          // process ends instead, or if there is no row
};

// The rows of each subject, which stand at the end of its file.
extern const std::span<const Probe> kExecutables, kVariables, kTypes, kReductions, kProducts, kSlices, kArrays,
    kOptimizers, kNumbers, kIndices, kRecurrent, kTimes;
// The rows of all subjects, in the order of asking.
std::vector<Probe> all_probes();

// The system whose framework answers.
ir::System asked_system();
// Runs one probe in an autorelease scope.
std::string answer(const Probe& probe);

}  // namespace alloy::probes
