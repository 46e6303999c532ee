#include "run/tree/own_copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string_view>

namespace forebay::tree {
namespace {

// Whether an entry is a file that the kernel starts, and this user may read.
bool is_program(const StageRequest& request, const Entry& entry) {
  if ((entry.mode & 0111) == 0 || entry.path.ends_with(".so") || name_of(entry.path).find(".so.") != std::string::npos)
    return false;
  const auto file = open_file(join(request.case_path, entry.path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  char head[4] = {};
  if (!file || ::pread(file->get(), head, sizeof head, 0) < 2) return false;
  const std::string_view begins(head, sizeof head);
  return begins == "\177ELF" || begins.starts_with("#!");
}

bool outlives(const Entry& file, const Entry& directory) {
  if (::geteuid() != 0) return (file.mode & 0222) != 0 && (directory.mode & S_IWUSR) == 0;
  // In a sticky directory others replace their own files only, and links are root's.
  const auto all_may = [&](mode_t bit) { return (directory.mode & bit) != 0 && (directory.mode & S_ISVTX) == 0; };
  const bool others = all_may(S_IWOTH);
  const bool group = directory.owner.group == file.owner.group ? all_may(S_IWGRP) : others;
  const bool owner = directory.owner.user == file.owner.user ? (directory.mode & S_IWUSR) != 0 : others;
  return (file.owner.user != 0 && (file.mode & S_IWUSR) != 0 && !owner) || ((file.mode & S_IWGRP) != 0 && !group) ||
         ((file.mode & S_IWOTH) != 0 && !others);
}

void make_copy(Inputs& inputs, Entry& entry) {
  entry.kind = Kind::copy;
  --inputs.link_files;
  ++inputs.copy_files;
  inputs.copy_bytes += entry.identity.size;
}

}  // namespace

void copy_programs(const StageRequest& request, Inputs& inputs) {
  for (Entry& entry : inputs.entries)
    if (entry.kind == Kind::link && is_program(request, entry)) make_copy(inputs, entry);
}

void copy_what_cannot_be_replaced(const StageRequest& request, Inputs& inputs) {
  std::map<std::string_view, const Entry*> directories;
  for (Entry& entry : inputs.entries) {
    if (entry.kind == Kind::directory) directories[entry.path] = &entry;
    const auto above = directories.find(parent_of(entry.path));
    if (entry.kind != Kind::link || above == directories.end() || !outlives(entry, *above->second)) continue;
    struct stat status {};
    const std::string path = join(request.case_path, entry.path);
    if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0)
      make_copy(inputs, entry);
  }
}

}  // namespace forebay::tree
