// The cores of the machine that the process may use.
#pragma once

#include <span>
#include <string>

namespace alloy::cpu {

// The number of cores to which these logical processors belong: a core with hyperthreads is several processors, which
// share its units. `folder` is like /sys/devices/system/cpu; a processor that it does not describe is a
// core.
int cores_of(std::span<const int> processors, const std::string& folder);

// The smallest CPU quota, in cores, of the process's control groups and the groups around them; infinite if there is
// none. `groups` is a file like /proc/self/cgroup; `root` is where control groups are mounted.
double cpu_quota(const std::string& groups, const std::string& root);

}  // namespace alloy::cpu
