#import "engine/package_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/error.h"
#import "engine/lowering/lowered.h"
#import "engine/mps_types.h"
#include "ir/text.h"

// Of macOS 14.
@protocol AlloyPackageSelectors
- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url descriptor:(id)descriptor;
- (MPSGraphExecutable*)initWithMPSGraphPackageAtURL:(NSURL*)url
                              compilationDescriptor:(MPSGraphCompilationDescriptor*)descriptor;
@end

namespace alloy::engine {
namespace {

namespace fs = std::filesystem;

NSURL* url_of(const std::string& path) { return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path.c_str()]]; }

void require_packages() {
  const SEL read = @selector(initWithMPSGraphPackageAtURL:compilationDescriptor:);
  if ([MPSGraphExecutable instancesRespondToSelector:read]) return;
  throw DeviceError("[package] This system has no packages of executables; macOS 14 and newer have.");
}

std::vector<Package::Port> ports_of(NSArray<MPSGraphTensor*>* tensors) {
  std::vector<Package::Port> ports;
  for (MPSGraphTensor* tensor in tensors) {
    NSString* name = [[tensor operation] name];
    ir::Shape shape = ir::Shape::unranked();
    if ([tensor shape] != nil) {
      ir::Dims dims;
      for (NSNumber* extent in [tensor shape]) dims.push_back(std::max<int64_t>([extent longLongValue], ir::kUnknown));
      shape = ir::Shape(std::move(dims));
    }
    ports.push_back(
        {name == nil ? std::string() : [name UTF8String], { ir_type([tensor dataType]), std::move(shape) }});
  }
  return ports;
}

// Apple's packages are folders, and what is loaded from one does not tell its tensors. They are written beside what the
// framework keeps there, as a graph of feeds that returns what stands for the results.
fs::path ports_file(const std::string& path) { return fs::path(path) / "alloy-ports.txt"; }

ir::Value add_port(ir::Graph& graph, ir::OpCode code, const Package::Port& port) {
  graph.name = port.name;
  return graph.value(code, {}, {{ir::Attr::kShape, port.type.shape}, {ir::Attr::kDtype, port.type.dtype}});
}

void write_ports(const Ports& ports, const std::string& path) {
  ir::Graph graph;
  for (const Package::Port& port : ports.feeds) add_port(graph, ir::OpCode::placeholder, port);
  for (const Package::Port& port : ports.fetches) {
    graph.body().results.push_back(add_port(graph, ir::OpCode::empty, port));
  }
  std::ofstream file(ports_file(path));
  file << print(graph);
  file.close();
  if (!file) throw DeviceError("[package] " + ports_file(path).string() + " cannot be written.");
}

Ports read_ports(const std::string& path) {
  std::ifstream file(ports_file(path));
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw DeviceError("[package] " + path + " does not tell what it is fed: this library did not write it.");
  const auto graph = ir::parse(text.str());
  Ports ports;
  for (const auto& op : graph->body().ops) {
    if (op->code == ir::OpCode::placeholder) ports.feeds.push_back({op->name, op->results[0]});
  }
  for (const ir::Value& v : graph->body().results) ports.fetches.push_back({v.op->name, v.type()});
  return ports;
}

}  // namespace

Ports ports_of(MPSGraphExecutable* executable) {
  Ports ports{ports_of([executable feedTensors]), ports_of([executable targetTensors])};
  if (!ports.fetches.empty() && ports.fetches.back().name == kUnasked) ports.fetches.pop_back();
  return ports;
}

void write_file(MPSGraphExecutable* executable, const std::string& path, const Ports& ports) {
  require_packages();
  [static_cast<id<AlloyPackageSelectors>>(executable) serializeToMPSGraphPackageAtURL:url_of(path) descriptor:nil];
  // Apple's returns nothing, whatever happens.
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw DeviceError("[package] The framework has written nothing to " + path + ".");
  if (fs::is_directory(path, ignored)) write_ports(ports, path);
}

Ref<MPSGraphExecutable*> read_file(const std::string& path, Ports& ports) {
  require_packages();
  auto executable = Ref<MPSGraphExecutable*>::adopt([static_cast<id<AlloyPackageSelectors>>([MPSGraphExecutable alloc])
      initWithMPSGraphPackageAtURL:url_of(path)
             compilationDescriptor:nil]);
  if (executable.get() == nil) throw DeviceError("[package] The framework cannot load " + path + ".");
  std::error_code ignored;
  ports = fs::is_directory(path, ignored) ? read_ports(path) : ports_of(executable.get());
  return executable;
}

}  // namespace alloy::engine
