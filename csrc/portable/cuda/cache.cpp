// Compiled code in files. Each begins with the key and a hash of the code, so a damaged file counts as missing. A file
// is written beside its place and then renamed, so several processes may write it.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "cuda/codegen/code.h"
#include "cuda/nvrtc.h"

namespace alloy::cuda {
namespace {

// Empty if the user has no home.
std::filesystem::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return std::filesystem::path(cache) / "alloy";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".cache" / "alloy";
}

std::string hexadecimal(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

// What the file of this code begins with.
std::string header_of(const std::string& key, std::string_view code) {
  return "alloy cuda 1 " + key + " " + hexadecimal(hash_of(code)) + "\n";
}

std::vector<char> read_code(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  if (!file || !std::getline(file, header)) return {};
  std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  if (header + "\n" != header_of(key, {code.data(), code.size()})) return {};
  return code;
}

// A cache that cannot be written costs time alone.
void write_code(const std::filesystem::path& path, const std::string& key, const std::vector<char>& code) {
  static std::atomic<unsigned> count{0};
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::filesystem::path beside = path;
  beside += "." + std::to_string(getpid()) + "." + std::to_string(++count);
  {
    std::ofstream file(beside, std::ios::binary);
    const std::string header = header_of(key, {code.data(), code.size()});
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    file.write(code.data(), static_cast<std::streamsize>(code.size()));
    if (!file) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) std::filesystem::rename(beside, path, error);
  if (error) std::filesystem::remove(beside, error);
}

}  // namespace

std::vector<char> compile_once(const Nvrtc& nvrtc, const std::string& source, const std::string& architecture) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) return nvrtc.compile(source, architecture);
  // The second half of the source has a hash of its own, so equal keys of two sources are out of the question.
  const std::string_view all = source;
  const std::string key = nvrtc.version() + "-" + architecture + "-" + hexadecimal(hash_of(all)) +
                          hexadecimal(hash_of(all.substr(all.size() / 2)));
  const std::filesystem::path path = folder / ("cuda-" + key);
  std::vector<char> code = read_code(path, key);
  if (code.empty()) {
    code = nvrtc.compile(source, architecture);
    write_code(path, key, code);
  }
  return code;
}

}  // namespace alloy::cuda
