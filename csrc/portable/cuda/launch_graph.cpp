#include "cuda/launch_graph.h"

#include <exception>

namespace alloy::cuda {
namespace {

// The priority of a launch that others wait for, before that of those that only the end of the run waits for, 0.
constexpr int kAwaited = -1;
// For cuGraphInstantiate: launches have their own priorities, not the stream's.
constexpr unsigned long long kUsesPriorities = 8;

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

}  // namespace

// The first constructor has made an object, so the destructor frees what there is if a call fails.
LaunchGraph::LaunchGraph(const Context& context, const std::vector<const PreparedLaunch*>& launches, bool launches_wait)
    : LaunchGraph(context, Nothing{}) {
  const Driver& driver = context.enter();
  driver.check(driver.graph_create(&graph_, 0), "cuGraphCreate");
  std::vector<CUgraphNode> from, to;
  for (const PreparedLaunch* launch : launches) {
    void* arguments[] = {bytes_of(*launch)};
    const CUDA_KERNEL_NODE_PARAMS node = node_of(*launch, arguments);
    CUgraphNode made = nullptr;
    driver.check(driver.graph_add_kernel(&made, graph_, nullptr, 0, &node), "cuGraphAddKernelNode");
    nodes_.push_back(made);
    if (launch->is_awaited) {
      CUlaunchAttributeValue attribute;
      attribute.priority = kAwaited;
      driver.check(driver.graph_set_attribute(made, kPriority, &attribute), "cuGraphKernelNodeSetAttribute");
    }
    for (const size_t position : launch->follows) {
      from.push_back(nodes_[position]);
      to.push_back(made);
    }
  }
  const std::vector<CUgraphEdgeData> edges(from.size(), launches_wait ? kProgrammatic : CUgraphEdgeData{});
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
