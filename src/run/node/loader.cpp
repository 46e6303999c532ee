#include "run/node/loader.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace forebay::node {
namespace {

constexpr int most_interpreters = 4;  // as the kernel follows
constexpr std::size_t longest_path = 4096;

std::optional<std::string> bytes_of(int file, std::uint64_t offset, std::size_t most) {
  std::string bytes(most, '\0');
  const ssize_t count = ::pread(file, bytes.data(), most, static_cast<off_t>(offset));
  if (count < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

std::optional<std::string> named_loader(int file, const std::string& head) {
  Elf64_Ehdr header;
  if (head.size() < sizeof header || !head.starts_with(ELFMAG) || head[EI_CLASS] != ELFCLASS64) return std::nullopt;
  std::memcpy(&header, head.data(), sizeof header);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const auto bytes = bytes_of(file, header.e_phoff + i * header.e_phentsize, sizeof part);
    if (!bytes || bytes->size() < sizeof part) return std::nullopt;
    std::memcpy(&part, bytes->data(), sizeof part);
    if (part.p_type != PT_INTERP || part.p_filesz > longest_path) continue;
    const auto path = bytes_of(file, part.p_offset, part.p_filesz);
    return path ? std::optional(std::string(path->c_str())) : std::nullopt;
  }
  return std::nullopt;
}

// A script's first line reads like "#! /bin/sh -e".
std::string interpreter_of(std::string_view head) {
  head = head.substr(2, head.find('\n') - 2);
  head.remove_prefix(std::min(head.find_first_not_of(" \t"), head.size()));
  return std::string(head.substr(0, head.find_first_of(" \t")));
}

}  // namespace

std::optional<std::string> loader_of(const std::string& path) {
  std::string at = path;
  for (int level = 0; level <= most_interpreters; ++level) {
    const auto file = open_file(at, O_RDONLY | O_NONBLOCK);
    const auto head = file ? bytes_of(file->get(), 0, longest_path) : std::nullopt;
    if (!head) return std::nullopt;
    if (!head->starts_with("#!")) return named_loader(file->get(), *head);
    at = interpreter_of(*head);
  }
  return std::nullopt;
}

bool is_of_musl(const std::string& loader) {
  return std::string_view(loader).substr(loader.rfind('/') + 1).starts_with("ld-musl-");
}

}  // namespace forebay::node
