// The part of the machine that control groups leave to the process.
#pragma once

#include <string>

namespace alloy::cpu {

// The smallest CPU quota, in cores, of the process's control groups and the groups around them; infinite if there is
// none. `groups` is a file like /proc/self/cgroup; `root` is where control groups are mounted.
double cpu_quota(const std::string& groups, const std::string& root);

}  // namespace alloy::cpu
