#include "runtime/host_op.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "device/added_devices.h"
#include "ir/transform/rewrite.h"
#include "runtime/program.h"

namespace alloy::runtime {
namespace {

// A graph of one op, compiled for the host, with its arrays there.
class HostOp final : public device::HostKernel {
 public:
  explicit HostOp(const ir::Op& op) : host_(device::host_device()), stream_(host_.make_stream()) {
    std::vector<ir::Feed> feeds;
    ir::ValueMap<ir::Value> values;
    for (const ir::Value& v : op.operands) {
      ir::Value& given = values[v];
      if (given.op != nullptr) continue;
      given = graph_.value(ir::OpCode::placeholder, {}, {{ir::Attr::kShape, v.shape()}, {ir::Attr::kDtype, v.dtype()}});
      feeds.push_back({given, v.type()});
    }
    std::vector<ir::Value> results;
    const ir::Op* const copy = ir::copy_into(graph_, op, values);
    for (uint32_t r = 0; r < copy->results.size(); ++r) results.push_back(copy->result(r));
    program_.emplace(host_, std::make_shared<device::Arena>(host_), feeds, results, std::vector<ir::Op*>());
    for (const ir::Type& type : program_->feed_types()) operands_.push_back(array_of(type));
    for (const ir::Type& type : program_->result_types()) results_.push_back(array_of(type));
    for (const ir::Value& v : op.operands) {
      const auto feed = std::find_if(feeds.begin(), feeds.end(),
                                     [&](const ir::Feed& known) { return known.placeholder == values.at(v); });
      feed_of_.push_back(static_cast<size_t>(feed - feeds.begin()));
    }
  }

  std::byte* operand(size_t i) override { return operands_[feed_of_[i]].storage->host_bytes(); }
  const std::byte* result(size_t i) override { return results_[i].storage->host_bytes(); }

  void compute() override {
    device::Outcome outcome;
    std::exception_ptr thrown;
    const host::Status status = stream_->run([&] {
      try {
        program_->run({operands_, results_, {}, {}}, *stream_, outcome);
      } catch (...) {
        thrown = std::current_exception();
      }
    });
    if (thrown) std::rethrow_exception(thrown);
    if (!status.ok()) throw std::runtime_error(status.message);
  }

 private:
  device::ArrayMemory array_of(const ir::Type& type) {
    device::ArrayMemory array{&host_, host_.allocate(type.byte_count()), {}};  // packed, from the first byte on
    if (!array.storage) throw std::bad_alloc();
    return array;
  }

  device::Device& host_;
  const std::unique_ptr<device::Stream> stream_;
  ir::Graph graph_;
  std::optional<Program> program_;
  std::vector<device::ArrayMemory> operands_, results_;
  std::vector<size_t> feed_of_;  // by operand: two operands may be one value
};

}  // namespace

std::unique_ptr<device::HostKernel> compute_on_host(const ir::Op& op) { return std::make_unique<HostOp>(op); }

}  // namespace alloy::runtime
