#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "arrays.h"
#include "graph.h"
#include "user.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

using Kind = ir::Error::Kind;

// A file that is open for reading during the lifetime of the object.
class Opened {
 public:
  explicit Opened(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw ir::Error(Kind::kValue, "[from_file] " + path + " cannot be read: " + std::strerror(errno));
  }
  ~Opened() { close(file_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  int file() const { return file_; }

 private:
  int file_;
};

// Reads the file's device, number, size and last change.
void look(const Opened& opened, const std::string& path, int64_t (&state)[4]) {
  struct stat found = {};
  fstat(opened.file(), &found);
  std::error_code failed;
  const auto changed = std::filesystem::last_write_time(path, failed);
  const int64_t seen[] = {static_cast<int64_t>(found.st_dev), static_cast<int64_t>(found.st_ino),
                          static_cast<int64_t>(found.st_size),
                          failed ? -1 : static_cast<int64_t>(changed.time_since_epoch().count())};
  std::copy(std::begin(seen), std::end(seen), state);
}

}  // namespace

FileValues::FileValues(std::string path, int64_t offset, ir::Type type)
    : path_(std::move(path)), offset_(offset), type_(std::move(type)) {
  look(Opened(path_), path_, state_);
  const auto bytes = static_cast<int64_t>(type_.byte_count());
  if (offset_ < 0 || bytes > state_[2] - offset_) {
    mistake(Kind::kValue, "[from_file] Expected " + to_string(type_) + " in " + path_ + " from byte " +
                              std::to_string(offset_) + " on, got a file of " + std::to_string(state_[2]) + " bytes");
  }
}

ir::LiteralRef FileValues::literal() const {
  return ir::Literal::elsewhere(type_, [values = *this](std::byte* out) { values.read(out); });
}

void FileValues::read(std::byte* out) const {
  const Opened opened(path_);
  int64_t state[4];
  look(opened, path_, state);
  if (!std::equal(std::begin(state), std::end(state), state_)) {
    throw ir::Error(Kind::kValue, "[from_file] " + path_ + " has changed since a variable was made from it.");
  }
  const size_t total = type_.byte_count();
  for (size_t done = 0; done < total;) {
    const ssize_t count = pread(opened.file(), out + done, total - done, offset_ + static_cast<int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw ir::Error(Kind::kValue, "[from_file] " + path_ + " cannot be read: " +
                                        (count < 0 ? std::strerror(errno) : "it ends before the values do") + ".");
    }
    done += static_cast<size_t>(count);
  }
}

void bind_files(py::module_& m) {
  py::class_<FileValues>(m, "FileValues", "Initial values of a variable in a file (al.init.from_file).")
      .def(py::init([](std::string path, int64_t offset, const py::object& shape, const std::string& dtype) {
        return FileValues(std::move(path), offset,
                          {dtype_from(py::str(dtype), "from_file"), shape_from(shape, "from_file")});
      }))
      .def_property_readonly("shape", [](const FileValues& values) { return shape_to(values.type().shape); })
      .def_property_readonly("dtype", [](const FileValues& values) { return std::string(name(values.type().dtype)); });
}

}  // namespace alloy::bindings
