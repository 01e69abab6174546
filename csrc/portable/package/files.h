// Files that are read at any position, and files that appear complete or not at all. Failures throw ir::Error with the
// path and the system's message.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "ir/op.h"

namespace alloy::package {

// Throws an error about a file.
[[noreturn]] inline void refuse(const std::string& path, const std::string& why) {
  throw ir::Error(ir::Error::Kind::kValue, "[package] " + path + " " + why + ".");
}

class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path);
  ~OpenedFile();
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  // In bytes, when the file was opened.
  size_t size() const { return size_; }
  // Copies exactly `bytes` bytes at `offset`.
  void read(size_t offset, void* to, size_t bytes) const;

 private:
  std::string path_;
  int file_;
  size_t size_ = 0;
};

// A file without a name until finish() puts it at `path`. It replaces an existing file and keeps its permissions; if
// `path` is a symbolic link, it replaces the file that the link points to. An unfinished file leaves nothing behind,
// even if the process is killed, except on file systems without unnamed files, where a file whose name ends in `.part`
// may stay.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Overwrites the first bytes.
  void rewrite_begin(std::span<const std::byte> bytes);
  // Returns when the file is at its path and on the disk.
  void finish();

 private:
  [[noreturn]] void fail() const;
  void put(std::span<const std::byte> bytes, size_t offset);

  // Calls `make` with names in the folder until one is free, and keeps that name.
  void take_name(const std::function<bool(const std::string& name)>& make);

  std::string path_;       // as the caller gave it
  std::string place_;      // the path with symbolic links followed
  std::string folder_;     // of the place
  std::string temporary_;  // the name until finish(), or empty
  int file_ = -1;
  size_t written_ = 0;
};

}  // namespace alloy::package
