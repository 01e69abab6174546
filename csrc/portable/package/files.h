// Files that are read at any place, and files that appear complete or not at all. What fails throws ir::Error with the
// path and what the system says.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "ir/op.h"

namespace alloy::package {

// Says what is wrong with a file.
[[noreturn]] inline void refuse(const std::string& path, const std::string& why) {
  throw ir::Error(ir::Error::Kind::kValue, "[package] " + path + " " + why + ".");
}

class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path);
  ~OpenedFile();
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  // Bytes, when it was opened.
  size_t size() const { return size_; }
  // Copies `bytes` bytes from `offset` on, all of them.
  void read(size_t offset, void* to, size_t bytes) const;

 private:
  std::string path_;
  int file_;
  size_t size_ = 0;
};

// A file without a name until finish() puts it in the place of whatever file is there, behind a symbolic link of what
// that points to, with the permissions of the file that it replaces. Nothing is left of one that is not finished, also
// where the process is killed: but for a file whose name ends in `.part`, on file systems that have none without names.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Writes over the first bytes.
  void rewrite_begin(std::span<const std::byte> bytes);
  // Returns when the file is there and on the disk.
  void finish();

 private:
  [[noreturn]] void fail() const;
  void put(std::span<const std::byte> bytes, size_t offset);

  // Calls `make` with names in the folder until one is not taken, which is the file's from now on.
  void take_name(const std::function<bool(const std::string& name)>& make);

  std::string path_;       // as the caller gave it
  std::string place_;      // behind symbolic links
  std::string folder_;     // of the place
  std::string temporary_;  // the name that it has meanwhile, or nothing
  int file_ = -1;
  size_t written_ = 0;
};

}  // namespace alloy::package
