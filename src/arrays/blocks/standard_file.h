// A file of the C library that one process writes or reads at offsets; opened at its first use.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "arrays/blocks/file.h"

namespace forebay::blocks {

class StandardFile {
 public:
  StandardFile(std::string path, Access access) : path_(std::move(path)), access_(access) {}
  Status write(std::uint64_t offset, std::span<const std::byte> bytes);
  Status read(std::uint64_t offset, std::span<std::byte> bytes);
  // Waits for the disk where something was written.
  Status close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Status go_to(std::uint64_t offset);

  std::string path_;
  Access access_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace forebay::blocks
