#include "cpu/threads/cores.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

namespace alloy::cpu {
namespace {

// A positive number, or 0 for other words: "max" and -1 mean no quota.
double number_in(std::istream& file) {
  std::string word;
  return file >> word ? std::max(std::strtod(word.c_str(), nullptr), 0.0) : 0;
}

double quota_of(const std::string& group) {
  std::ifstream both(group + "/cpu.max");  // version 2
  double quota = number_in(both), period = number_in(both);
  if (std::ifstream file(group + "/cpu.cfs_quota_us"); file) quota = number_in(file);  // version 1
  if (std::ifstream file(group + "/cpu.cfs_period_us"); file) period = number_in(file);
  return quota > 0 && period > 0 ? quota / period : INFINITY;
}

}  // namespace

int cores_of(std::span<const int> processors, const std::string& folder) {
  std::set<std::string> cores;  // each as the list of its processors
  for (const int processor : processors) {
    const std::string number = std::to_string(processor);
    std::ifstream file(folder + "/cpu" + number + "/topology/thread_siblings_list");
    std::string siblings;
    cores.insert(std::getline(file, siblings) ? siblings : number);
  }
  return static_cast<int>(cores.size());
}

double cpu_quota(const std::string& groups, const std::string& root) {
  double cores = INFINITY;
  std::ifstream file(groups);
  // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first, second - first);
    std::ranges::replace(controllers, ':', ',');
    controllers += ',';
    const bool is_first = controllers.find(",cpu,") != std::string::npos;
    if (!is_first && controllers != ",,") continue;
    // Inside a container the path may be the host's; then only the root exists.
    std::string path = line.substr(second + 1);
    for (;; path.resize(path.rfind('/'))) {
      cores = std::min(cores, quota_of(root + (is_first ? "/cpu" : "") + path));
      if (path.find('/') == std::string::npos) break;
    }
  }
  return cores;
}

}  // namespace alloy::cpu
