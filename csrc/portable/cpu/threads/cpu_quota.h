// The share of the machine that a control group leaves to the process.
#pragma once

#include <string>

namespace alloy::cpu {

// The least CPU quota, in cores, of the process's control groups and those around them; infinite without one. `groups`
// is a file like /proc/self/cgroup and `root` where control groups are mounted.
double cpu_quota(const std::string& groups, const std::string& root);

}  // namespace alloy::cpu
