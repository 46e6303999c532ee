#include "meshes/multiply/names.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

namespace forebay::multiply {
namespace {

// Where a file that is replaced stays until all have their names.
std::string aside_of(const Unnamed& file) {
  return file.temporary + "-was";
}

Status rename_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return errno_error("cannot rename to", to);
  // A file system without that flag.
  if (::link(from.c_str(), to.c_str()) != 0) return errno_error("cannot give its name to", to);
  ::unlink(from.c_str());
  return {};
}

// True for a file system without hard links, or with as many of this file as it allows. EPERM may also be the kernel's,
// which lets nobody link what belongs to others (protected_hardlinks).
bool is_without_links(int errno_value) {
  return errno_value == EPERM || errno_value == EOPNOTSUPP || errno_value == ENOSYS || errno_value == EMLINK;
}

// Remembers what has been done, and undoes it unless all is.
class Naming {
 public:
  Naming() = default;
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;
  ~Naming() {
    for (; !done_.empty(); done_.pop_back()) {
      const auto& [file, before] = done_.back();
      if (before == Before::nothing) std::rename(file.path.c_str(), file.temporary.c_str());
      if (before == Before::aside) std::rename(aside_of(file).c_str(), file.path.c_str());
    }
  }

  Status name_new(const Unnamed& file) {
    if (auto ok = rename_new(file.temporary, file.path); !ok) return ok;
    done_.push_back({file, Before::nothing});
    return {};
  }
  Status replace(const Unnamed& file) {
    const std::string aside = aside_of(file);
    const bool linked = ::link(file.path.c_str(), aside.c_str()) == 0;
    if (!linked && errno == ENOENT) return name_new(file);
    if (!linked && !is_without_links(errno)) return errno_error("cannot keep until all have their names", file.path);
    if (std::rename(file.temporary.c_str(), file.path.c_str()) != 0) {
      auto failed = errno_error("cannot rename to", file.path);
      if (linked) ::unlink(aside.c_str());
      return failed;
    }
    done_.push_back({file, linked ? Before::aside : Before::lost});
    return {};
  }
  void accept() {
    for (const auto& [file, before] : done_)
      if (before == Before::aside) ::unlink(aside_of(file).c_str());
    done_.clear();
  }

 private:
  enum class Before { nothing, aside, lost };
  struct Done {
    const Unnamed& file;
    Before before;
  };
  std::vector<Done> done_;
};

}  // namespace

std::string temporary_of(const std::string& path) {
  return join(directory_of(path), ".fb-" + hex(checksum(name_of(path))));
}

tl::unexpected<Error> in_use(const std::string& path) {
  return error(Code::busy, "another program writes", path, "wait for it, or choose another name");
}

Status make_way(const std::string& path, bool replace) {
  struct stat there {};
  const bool taken = ::lstat(path.c_str(), &there) == 0;
  if (taken && S_ISDIR(there.st_mode)) return error(Code::bad_input, "a directory, where a file shall be:", path);
  if (taken && !replace)
    return error(Code::bad_input, "exists already:", path, "choose another name, or let it be replaced with --force");
  const std::string directory = directory_of(path), temporary = temporary_of(path);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) return errno_error("cannot write in", directory);
  const auto left = open_file(temporary, O_RDWR | O_NOFOLLOW);
  if (!left && left.error().errno_value != ENOENT) return forward(left);
  if (left) {
    const auto unused = take_lock(left->get(), temporary);
    if (!unused) return forward(unused);
    if (!*unused) return in_use(path);
    if (::unlink(temporary.c_str()) != 0) return errno_error("cannot remove", temporary);
  }
  ::unlink(aside_of({temporary, path}).c_str());
  return {};
}

Status give_names(std::span<const Unnamed> files, bool replace) {
  Naming naming;
  for (const Unnamed& file : files) {
    if (auto ok = replace ? naming.replace(file) : naming.name_new(file); !ok) return ok;
  }
  for (const Unnamed& file : files) {
    if (auto ok = sync_directory_of(file.path); !ok) return ok;
  }
  naming.accept();
  return {};
}

}  // namespace forebay::multiply
