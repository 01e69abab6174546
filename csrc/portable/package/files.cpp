#include "package/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace alloy::package {
namespace {}  // namespace

OpenedFile::OpenedFile(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {  // a pipe must not block
  if (file_ < 0) refuse(path_, std::string("cannot be read: ") + std::strerror(errno));
  struct stat found = {};
  const bool known = fstat(file_, &found) == 0;
  if (known && S_ISREG(found.st_mode)) {
    size_ = static_cast<size_t>(found.st_size);
    return;
  }
  close(file_);
  refuse(path_, known && S_ISDIR(found.st_mode) ? "is a directory; packages of this framework are files"
                                                : "is not a file that can be read");
}

OpenedFile::~OpenedFile() { close(file_); }

void OpenedFile::read(size_t offset, void* to, size_t bytes) const {
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = pread(file_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) refuse(path_, "was cut off while it was read");
    done += static_cast<size_t>(count);
  }
}

NewFile::NewFile(const std::string& path) : path_(path) {
  namespace fs = std::filesystem;
  fs::path place = path;
  std::error_code ignored;
  constexpr int kMostLinks = 40;
  for (int links = 0; fs::is_symlink(fs::symlink_status(place, ignored)); ++links) {
    if (links == kMostLinks) refuse(path_, std::string("cannot be written: ") + std::strerror(ELOOP));
    place = place.parent_path() / fs::read_symlink(place, ignored);
  }
  place_ = place.string();
  struct stat old = {};
  const bool replaces = stat(place_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode)) refuse(path_, "cannot be written: it exists and is not a file");
  folder_ = place.has_parent_path() ? place.parent_path().string() : ".";
  file_ = open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    take_name([&](const std::string& name) {
      file_ = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
      return file_ >= 0;
    });
  }
  if (file_ < 0) fail();
  if (replaces) fchmod(file_, old.st_mode & 0777);
}

NewFile::~NewFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (file_ >= 0) close(file_);
}

void NewFile::fail() const { refuse(path_, std::string("cannot be written: ") + std::strerror(errno)); }

void NewFile::put(std::span<const std::byte> bytes, size_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<size_t>(count);
  }
}

void NewFile::write(std::span<const std::byte> bytes) {
  put(bytes, written_);
  written_ += bytes.size();
}

void NewFile::rewrite_begin(std::span<const std::byte> bytes) { put(bytes, 0); }

void NewFile::take_name(const std::function<bool(const std::string& name)>& make) {
  static std::atomic<unsigned> count{0};
  for (;;) {
    // A killed process with the same number may have left a file of this name.
    std::string name = folder_ + "/alloy-" + std::to_string(getpid()) + "-" + std::to_string(++count) + ".part";
    if (make(name)) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) fail();
  }
}

void NewFile::finish() {
  if (fsync(file_) != 0) fail();
  if (temporary_.empty()) {
    const std::string open_file = "/proc/self/fd/" + std::to_string(file_);
    take_name([&](const std::string& name) {
      return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    });
  }
  if (rename(temporary_.c_str(), place_.c_str()) != 0) fail();
  temporary_.clear();
  const int directory = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);  // makes the new name durable
  close(directory);
}

}  // namespace alloy::package
