#include "cuda/launch_graph.h"

#include <exception>

namespace alloy::cuda {
namespace {

// The priority of a launch that others wait for, before that of those that only the end of the run waits for, 0.
constexpr int kAwaited = -1;
// For cuGraphInstantiate: launches have their own priorities, not the stream's.
constexpr unsigned long long kUsesPriorities = 8;
// So many blocks have a processor each. The waiting blocks of a larger launch would take the room of others that run.
constexpr unsigned kMostEarly = 132;

CUDA_KERNEL_NODE_PARAMS node_of(const PreparedLaunch& launch, void** arguments) {
  CUDA_KERNEL_NODE_PARAMS node;
  node.func = launch.function;
  node.gridDimX = launch.blocks;
  node.gridDimY = launch.rows;
  node.blockDimX = launch.threads;
  node.kernelParams = arguments;
  return node;
}

void* bytes_of(const PreparedLaunch& launch) { return const_cast<uint64_t*>(launch.arguments.data()); }

// For each launch, those that it follows, without the ones that another of these follows. The driver orders launches
// with fewer edges better.
std::vector<std::vector<size_t>> least_edges(const std::vector<const PreparedLaunch*>& launches) {
  constexpr size_t kBits = 64;
  std::vector<std::vector<size_t>> edges(launches.size());
  std::vector<std::vector<uint64_t>> before(launches.size());  // bits of all launches before each one
  for (size_t i = 0; i < launches.size(); ++i) {
    std::vector<uint64_t>& own = before[i];
    own.resize(i / kBits + 1);
    const std::vector<size_t>& follows = launches[i]->follows;
    for (auto other = follows.rbegin(); other != follows.rend(); ++other) {
      if (own[*other / kBits] >> *other % kBits & 1) continue;
      edges[i].push_back(*other);
      own[*other / kBits] |= uint64_t{1} << *other % kBits;
      for (size_t word = 0; word < before[*other].size(); ++word) own[word] |= before[*other][word];
    }
  }
  return edges;
}

}  // namespace

// The first constructor has made an object, so the destructor frees what there is if a call fails.
LaunchGraph::LaunchGraph(const Context& context, const std::vector<const PreparedLaunch*>& launches, bool launches_wait)
    : LaunchGraph(context, Nothing{}) {
  const Driver& driver = context.enter();
  driver.check(driver.graph_create(&graph_, 0), "cuGraphCreate");
  const std::vector<std::vector<size_t>> edges_of = least_edges(launches);
  std::vector<CUgraphNode> from, to;
  std::vector<CUgraphEdgeData> edges;
  for (const PreparedLaunch* launch : launches) {
    void* arguments[] = {bytes_of(*launch)};
    const CUDA_KERNEL_NODE_PARAMS node = node_of(*launch, arguments);
    CUgraphNode made = nullptr;
    driver.check(driver.graph_add_kernel(&made, graph_, nullptr, 0, &node), "cuGraphAddKernelNode");
    const bool is_early = launches_wait && launch->blocks * launch->rows <= kMostEarly;
    for (const size_t position : edges_of[nodes_.size()]) {
      from.push_back(nodes_[position]);
      to.push_back(made);
      edges.push_back(is_early ? kProgrammatic : CUgraphEdgeData{});
    }
    nodes_.push_back(made);
    if (launch->is_awaited) {
      CUlaunchAttributeValue attribute;
      attribute.priority = kAwaited;
      driver.check(driver.graph_set_attribute(made, kPriority, &attribute), "cuGraphKernelNodeSetAttribute");
    }
  }
  driver.check(driver.graph_add_edges(graph_, from.data(), to.data(), edges.data(), edges.size()),
               "cuGraphAddDependencies");
  driver.check(driver.graph_instantiate(&made_, graph_, kUsesPriorities), "cuGraphInstantiate");
}

LaunchGraph::~LaunchGraph() {
  try {
    const Driver& driver = context_.enter();
    if (made_ != nullptr) static_cast<void>(driver.graph_exec_destroy(made_));
    if (graph_ != nullptr) static_cast<void>(driver.graph_destroy(graph_));
  } catch (const std::exception&) {
    // At the end of the process the driver has ended all graphs.
  }
}

void LaunchGraph::update(size_t position, const PreparedLaunch& launch) {
  const Driver& driver = context_.enter();
  void* arguments[] = {bytes_of(launch)};
  const CUDA_KERNEL_NODE_PARAMS node = node_of(launch, arguments);
  driver.check(driver.graph_set_kernel(made_, nodes_[position], &node), "cuGraphExecKernelNodeSetParams");
}

void LaunchGraph::begin(CUstream stream) {
  const Driver& driver = context_.enter();
  driver.check(driver.graph_launch(made_, stream), "cuGraphLaunch");
}

}  // namespace alloy::cuda
