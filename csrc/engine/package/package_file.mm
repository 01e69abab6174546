#import "engine/package/package_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "engine/error.h"
#import "engine/lowering/lowered.h"
#import "engine/mps_types.h"
#import "engine/running/segment.h"
#include "ir/text/text.h"

// macOS 14.
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

// Apple's packages are folders, and an executable loaded from one does not tell its tensors. So this file, beside the
// framework's own, describes them as a graph: its placeholders are the feeds, and it returns a value for each result.
fs::path ports_file(const std::string& path) { return fs::path(path) / "alloy-ports.txt"; }

ir::Value add_port(ir::Graph& graph, ir::OpCode code, const Package::Port& port) {
  graph.name = port.name;
  return graph.value(code, {}, {{ir::Attr::kShape, port.type.shape}, {ir::Attr::kDtype, port.type.dtype}});
}

void add_places(ir::Graph& graph, const char* name, const std::vector<int64_t>& places) {
  if (places.empty()) return;
  graph.name = name;
  const ir::Type type{ir::DType::int64, {static_cast<int64_t>(places.size())}};
  graph.value(ir::OpCode::constant, {},
              {{ir::Attr::kValue, std::make_shared<const ir::Literal>(type, std::as_bytes(std::span(places)))}});
}

void write_ports(const Ports& ports, const std::string& path) {
  ir::Graph graph;
  add_places(graph, "inputs", ports.inputs);
  add_places(graph, "results", ports.results);
  if (ports.tf32) add_places(graph, "tf32", {1});
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
    if (op->code != ir::OpCode::constant) continue;
    if (op->name == "tf32") {
      ports.tf32 = true;
      continue;
    }
    std::vector<int64_t>& places = op->name == "inputs" ? ports.inputs : ports.results;
    places.resize(op->results[0].shape.element_count());
    op->attributes.get<ir::LiteralRef>(ir::Attr::kValue)->fill(reinterpret_cast<std::byte*>(places.data()));
  }
  for (const ir::Value& v : graph->body().results) ports.fetches.push_back({v.op->name, v.type()});
  std::vector<int64_t> taken = ports.inputs;
  std::erase(taken, Ports::kNowhere);
  std::sort(taken.begin(), taken.end());
  int64_t next = 0;
  const bool are_all = std::all_of(taken.begin(), taken.end(), [&](int64_t place) { return place == next++; });
  if (!are_all || ports.inputs.size() != ports.feeds.size() || ports.results.size() != ports.fetches.size()) {
    throw DeviceError("[package] " + ports_file(path).string() + " does not tell which inputs its feeds are.");
  }
  return ports;
}

// For each of the first `count` tensors, the position in `order`.
std::vector<int64_t> places_in(NSArray<MPSGraphTensor*>* order, const std::vector<MPSGraphTensor*>& tensors,
                               size_t count) {
  std::vector<int64_t> places(count, Ports::kNowhere);
  int64_t at = 0;
  for (MPSGraphTensor* tensor in order) {
    for (size_t i = 0; i < count; ++i) {
      if (tensors[i] != tensor || places[i] != Ports::kNowhere) continue;
      places[i] = at;
      break;
    }
    ++at;
  }
  return places;
}

// The ports that a loaded executable reports. Of its targets, only the first ones were asked for.
Ports ports_of(MPSGraphExecutable* executable) {
  Ports ports{ports_of([executable feedTensors]), ports_of([executable targetTensors]), {}, {}, false};
  if (!ports.fetches.empty() && ports.fetches.back().name == kUnasked) ports.fetches.pop_back();
  for (size_t i = 0; i < ports.feeds.size(); ++i) ports.inputs.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < ports.fetches.size(); ++i) ports.results.push_back(static_cast<int64_t>(i));
  return ports;
}

}  // namespace

Ports ports_of(MPSGraphExecutable* executable, const Lowered& step) {
  const size_t feeds = step.feed_types.size(), fetches = step.result_types.size();
  return {ports_of([NSArray arrayWithObjects:step.fed.data() count:feeds]),
          ports_of([NSArray arrayWithObjects:step.fetched.data() count:fetches]),
          places_in([executable feedTensors], step.fed, feeds),
          places_in([executable targetTensors], step.fetched, fetches), step.tf32};
}

void write_file(MPSGraphExecutable* executable, const std::string& path, const Ports& ports) {
  require_packages();
  [static_cast<id<AlloyPackageSelectors>>(executable) serializeToMPSGraphPackageAtURL:url_of(path) descriptor:nil];
  // Apple's method returns nothing, whether it succeeds or not.
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw DeviceError("[package] The framework has written nothing to " + path + ".");
  if (fs::is_directory(path, ignored)) write_ports(ports, path);
}

Ref<MPSGraphExecutable*> read_file(const std::string& path, Ports& ports) {
  require_packages();
  std::error_code ignored;
  const bool has_ports = fs::exists(ports_file(path), ignored);
  if (has_ports) ports = read_ports(path);
  auto executable = Ref<MPSGraphExecutable*>::adopt([static_cast<id<AlloyPackageSelectors>>([MPSGraphExecutable alloc])
      initWithMPSGraphPackageAtURL:url_of(path)
             compilationDescriptor:ports.tf32 ? compilation_descriptor(true).get() : nil]);
  if (executable.get() == nil) throw DeviceError("[package] The framework cannot load " + path + ".");
  if (!has_ports) ports = fs::is_directory(path, ignored) ? read_ports(path) : ports_of(executable.get());
  return executable;
}

}  // namespace alloy::engine
