#import "engine/package/package.h"

#include <algorithm>
#include <list>
#include <mutex>

#import "engine/device.h"
#include "engine/error.h"
#import "engine/mps_types.h"
#import "engine/package/package_file.h"
#include "engine/process.h"
#import "engine/running/run.h"
#import "engine/running/segment.h"

namespace alloy::engine {

struct Package::Impl {
  // The step for feeds of these shapes.
  struct Step {
    std::vector<ir::Shape> shapes;
    std::vector<ir::Type> results;
    std::shared_ptr<const Positions> positions;
    std::shared_ptr<Run> run;  // only for the latest shapes, because it holds arrays
  };

  std::mutex busy;  // guards everything
  Ref<id<MTLDevice>> device = {};
  Ref<id<MTLCommandQueue>> queue = {};
  Ref<MPSGraphExecutable*> executable = {};
  std::list<Step> steps = {};  // the most recent first
  Ports ports = {};            // the fetches are the first of the framework's targets

  Step& step_for(const std::vector<ir::Shape>& shapes);
  Step compiled(const std::vector<ir::Shape>& shapes) const;
};

Package::Impl::Step Package::Impl::compiled(const std::vector<ir::Shape>& shapes) const {
  NSMutableArray* inputs = [NSMutableArray array];
  auto positions = std::make_shared<Positions>();
  positions->device = device;
  for (size_t i = 0; i < ports.feeds.size(); ++i) {
    if (ports.inputs[i] == Ports::kNowhere) continue;
    positions->feeds.push_back({{ports.feeds[i].type.dtype, shapes[i]}, i, static_cast<NSUInteger>(ports.inputs[i])});
  }
  positions->input_count = positions->feeds.size();
  std::vector<const ir::Type*> types(positions->input_count);
  for (const Positions::Position& position : positions->feeds) types.at(position.at) = &position.type;
  for (const ir::Type* type : types) {
    const auto shaped =
        Ref<MPSGraphShapedType*>::adopt([[MPSGraphShapedType alloc] initWithShape:mps_shape(type->shape)
                                                                         dataType:mps_type(type->dtype)]);
    [inputs addObject:shaped.get()];
  }
  NSArray* outputs = [executable.get() getOutputTypesWithDevice:[MPSGraphDevice deviceWithMTLDevice:device.get()]
                                                     inputTypes:inputs
                                          compilationDescriptor:ports.tf32 ? compilation_descriptor(true).get() : nil];
  const ir::Type unknown{ir::DType::float32, ir::Shape::unranked()};
  Step step{shapes, std::vector<ir::Type>(ports.fetches.size(), unknown), {}, {}};
  for (MPSGraphShapedType* type in outputs) {
    ir::Dims dims;
    for (NSNumber* extent in [type shape]) dims.push_back([extent longLongValue]);
    const ir::Type given{ir_type([type dataType]), ir::Shape(std::move(dims))};
    if (!given.is_static()) throw DeviceError("[package] A result has no known shape.");
    const NSUInteger at = positions->output_count++;
    const auto asked = std::find(ports.results.begin(), ports.results.end(), static_cast<int64_t>(at));
    const bool is_asked = asked != ports.results.end();
    const auto index = static_cast<size_t>(asked - ports.results.begin());
    positions->results.push_back({given, is_asked ? index : Positions::kNobody, at});
    if (is_asked) step.results[index] = given;
  }
  const auto is_missing = [](const ir::Type& type) { return !type.is_static(); };
  if (std::any_of(step.results.begin(), step.results.end(), is_missing)) {
    throw DeviceError("[package] The framework gives fewer results than were written.");
  }
  step.positions = std::move(positions);
  return step;
}

Package::Impl::Step& Package::Impl::step_for(const std::vector<ir::Shape>& shapes) {
  constexpr size_t kMostSteps = 32;
  const auto known = std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.shapes == shapes; });
  if (known != steps.end()) {
    steps.splice(steps.begin(), steps, known);
    return steps.front();
  }
  Step made;
  on_device([&] { made = compiled(shapes); });
  steps.push_front(std::move(made));
  if (steps.size() > kMostSteps) steps.pop_back();
  return steps.front();
}

Package::Package(const std::string& path, const std::string& device) : impl_(std::make_unique<Impl>()) {
  const Entry entry;
  impl_->device = find_device(device, "load_executable");
  on_device([&] {
    impl_->executable = read_file(path, impl_->ports);
    impl_->queue = Ref<id<MTLCommandQueue>>::adopt([impl_->device.get() newCommandQueue]);
  });
}

Package::~Package() = default;

const std::vector<Package::Port>& Package::feeds() const { return impl_->ports.feeds; }
const std::vector<Package::Port>& Package::fetches() const { return impl_->ports.fetches; }

std::vector<ir::Type> Package::result_types(const std::vector<ir::Shape>& shapes) {
  const Entry entry;
  std::lock_guard lock(impl_->busy);
  return impl_->step_for(shapes).results;
}

void Package::run(const std::vector<ir::Shape>& shapes, const FeedBytes* feeds, void* const* results) {
  const Entry entry;
  std::lock_guard lock(impl_->busy);
  Entry::note_run();
  Impl::Step& step = impl_->step_for(shapes);
  for (Impl::Step& other : impl_->steps) {
    if (&other != &step) other.run = nullptr;
  }
  on_device([&] {
    if (!step.run) step.run = Run::make(step.positions);
    step.run->start(impl_->executable.get(), impl_->queue.get(), feeds, true);
    ++counters().dispatches;
    step.run->wait();
    step.run->land();
    if (step.run->failure().empty()) return step.run->read(results);
    if (step.run->lacks_memory()) throw OutOfMemory(step.run->failure());
    throw DeviceError("[package] " + step.run->failure());
  });
}

void Package::write(const std::string& path) {
  const Entry entry;
  std::lock_guard lock(impl_->busy);
  on_device([&] { write_file(impl_->executable.get(), path, impl_->ports); });
}

}  // namespace alloy::engine
