// The checksum of packages. README.md in this folder says how it is computed.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace alloy::package {

// The checksum of bytes that arrive in pieces of any size. Two inputs that differ only within one word of 8 bytes never
// have the same checksum.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    total_ += bytes.size();
    while (kept_ > 0 && !bytes.empty()) {  // until a word is complete
      word_[kept_] = bytes.front();
      bytes = bytes.subspan(1);
      kept_ = (kept_ + 1) % sizeof word_;
      if (kept_ == 0) mix(word_);
    }
    for (; bytes.size() >= sizeof word_; bytes = bytes.subspan(sizeof word_)) mix(bytes.data());
    if (bytes.empty()) return;
    std::memcpy(word_, bytes.data(), bytes.size());
    kept_ = bytes.size();
  }

  uint64_t value() const {
    Checksum end = *this;
    std::memset(end.word_ + end.kept_, 0, sizeof end.word_ - end.kept_);
    if (end.kept_ > 0) end.mix(end.word_);
    std::memcpy(end.word_, &total_, sizeof total_);
    end.mix(end.word_);
    return end.state_;
  }

 private:
  // A bijection both of the state and of the word.
  void mix(const std::byte* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 32;
  }

  uint64_t state_ = 0;
  uint64_t total_ = 0;
  std::byte word_[8] = {};
  size_t kept_ = 0;  // bytes of an incomplete word
};

}  // namespace alloy::package
