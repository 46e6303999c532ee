// The loader that a program asks the kernel for. A library for LD_PRELOAD fits the C library of that loader only.
#pragma once

#include <optional>
#include <string>

namespace forebay::node {

// The path of the dynamic loader (PT_INTERP of the ELF format, elf(5)) that the program at `path` names; of a script,
// the one of its interpreter. nullopt: the program is static, is of another format, or cannot be read.
std::optional<std::string> loader_of(const std::string& path);
// The loader is that of musl, whose C library has not the symbols of glibc.
bool is_of_musl(const std::string& loader);

}  // namespace forebay::node
