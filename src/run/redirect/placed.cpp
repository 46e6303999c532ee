#include "run/redirect/placed.h"

#include "run/contract/time_name.h"
#include "run/redirect/open.h"
#include "run/redirect/parent.h"

namespace forebay::redirect {
namespace {

void append_number(Path& path, uint64_t value) {
  char digits[16];
  put_digits(digits, value);
  path.append(digits, sizeof digits);
}

// A name that no other process and no other call makes up.
void append_own_name(Path& path) {
  append_number(path, static_cast<uint64_t>(system_call(SYS_getpid)));
  append_number(path, state.placed.made.fetch_add(1, std::memory_order_relaxed));
}

struct HiddenName : Path {
  HiddenName() {
    append(state.temporary.text, state.temporary.size);
    append_own_name(*this);
  }
};

// The name of a file that is about to be made in `directory`.
struct PoolName : Path {
  explicit PoolName(const char* directory, size_t length) {
    append(directory, length);
    append("/", 1);
    append_own_name(*this);
  }
};

// A directory of the tree that is neither a rank's own nor a time's, whose files are kept aside by their directory.
bool is_shared_directory(int fd) {
  Path text;
  const DescriptorPath name(fd);
  const long size = sys_readlinkat(AT_FDCWD, name.text, text.text, PATH_MAX);
  if (size <= 0) return false;
  text.text[size] = '\0';
  const char* rest = state.tree.rest(text.text);
  if (rest == nullptr || *rest == '\0') return rest != nullptr;
  const char* first = rest + 1;
  const auto length = static_cast<size_t>(strchrnul(first, '/') - first);
  return !contract::is_time_name(first, length) &&
         strncmp(first, contract::rank_prefix, contract::rank_prefix_size) != 0;
}

// The link is at a name that is ours alone: when it has no other, the file has none either.
void let_go(int directory, const char* hidden) {
  Path text;
  struct stat link;
  const bool last = sys_fstatat(directory, hidden, &link, AT_SYMLINK_NOFOLLOW) == 0 && link.st_nlink == 1;
  if (last && link_at(directory, hidden, text) == Link::pool && is_placed(text.text))
    sys_unlinkat(AT_FDCWD, text.text, 0);
  sys_unlinkat(directory, hidden, 0);
}

int rename_plainly(int from, const char* name, int to, const char* new_name) {
  return static_cast<int>(system_call(SYS_renameat2, from, word(name), to, word(new_name), 0));
}

}  // namespace

bool is_placed(const char* text) {
  const size_t size = strlen(contract::placed_name);
  for (int i = 0; i < state.pool_count; ++i) {
    const char* rest = state.beside.pools[i].rest(text);
    if (rest == nullptr || *rest != '/' || strncmp(rest + 1, contract::placed_name, size) != 0 || rest[size + 1] != '/')
      continue;
    const char* name = rest + size + 2;
    if (*name != '\0' && *name != '.' && strchr(name, '/') == nullptr) return true;
  }
  return false;
}

bool leads_to_placed(const Location& location, Path& text) {
  return !location.outside() && link_at(location.directory, location.path, text) == Link::pool && is_placed(text.text);
}

int open_placed(const Location& location, int flags, mode_t mode) {
  // A file that is opened for reading only is not placed: its reader need not be its writer. And the drain tells by a
  // file open for writing that its link is still to come.
  if ((flags & (O_PATH | O_DIRECTORY)) != 0 || (flags & O_ACCMODE) == O_RDONLY) return -1;
  if ((flags & O_EXCL) == 0) {
    const int fd = sys_openat(location.directory, location.path, (flags & ~O_CREAT) | O_NOFOLLOW);
    if (fd != -ENOENT) return fd < 0 ? -1 : fd;
  }
  const Parent parent(location.directory, location.path);
  const bool named = parent.name[0] != '\0' && strcmp(parent.name, ".") != 0 && strcmp(parent.name, "..") != 0;
  if (parent.fd < 0 || !named || !is_shared_directory(parent.fd)) return -1;
  const PoolName own(state.placed.directory.text, state.placed.directory.size);
  const int fd = sys_openat(AT_FDCWD, own.text, flags | O_EXCL | O_NOFOLLOW, mode);
  if (fd < 0) return -1;
  if (system_call(SYS_symlinkat, word(own.text), parent.fd, word(parent.name)) == 0) return fd;
  sys_unlinkat(AT_FDCWD, own.text, 0);
  sys_close(fd);
  return -1;
}

int unlink_placed(const Location& location) {
  const SignalsBlocked blocked;
  const Parent parent(location.directory, location.path);
  if (parent.fd < 0) return parent.fd;
  const HiddenName hidden;
  if (const int failed = rename_plainly(parent.fd, parent.name, parent.fd, hidden.text); failed < 0) return failed;
  let_go(parent.fd, hidden.text);
  return 0;
}

int rename_over_placed(const Location& source, const Location& target) {
  const SignalsBlocked blocked;
  const Parent parent(target.directory, target.path);
  if (parent.fd < 0) return parent.fd;
  const HiddenName hidden;
  const bool linked = system_call(SYS_linkat, parent.fd, word(parent.name), parent.fd, word(hidden.text), 0) == 0;
  const int result = rename_plainly(source.directory, source.path, parent.fd, parent.name);
  if (linked && result == 0)
    let_go(parent.fd, hidden.text);
  else if (linked)
    sys_unlinkat(parent.fd, hidden.text, 0);
  return result;
}

int link_placed(const Path& text, const Location& target) {
  const auto directory = static_cast<size_t>(strrchr(text.text, '/') - text.text);
  const PoolName own(text.text, directory);
  const long linked = system_call(SYS_linkat, AT_FDCWD, word(text.text), AT_FDCWD, word(own.text), 0);
  if (linked < 0) return static_cast<int>(linked);
  const long made = system_call(SYS_symlinkat, word(own.text), target.directory, word(target.path));
  if (made < 0) sys_unlinkat(AT_FDCWD, own.text, 0);
  return static_cast<int>(made);
}

}  // namespace forebay::redirect
