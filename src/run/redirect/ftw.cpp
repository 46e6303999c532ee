// ftw and nftw: libc goes through directories by calls of its own, past this library, so it is done here.
#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {
namespace {

using Visit = int (*)(const char*, const struct stat*, int, struct FTW*);
using PlainVisit = int (*)(const char*, const struct stat*, int);

// The names in a directory, one behind the other, each ended by NUL.
struct Names {
  char* text = nullptr;
  size_t size = 0, room = 0;

  ~Names() { free(text); }
  bool add(const char* name) {
    const size_t length = strlen(name) + 1;
    if (size + length > room) {
      const size_t more = room * 2 + length + 1024;
      auto* grown = static_cast<char*>(realloc(text, more));
      if (grown == nullptr) return false;
      text = grown;
      room = more;
    }
    memcpy(text + size, name, length);
    size += length;
    return true;
  }
};

class Traversal {
 public:
  Traversal(Visit visit, PlainVisit plain, int flags) : visit_(visit), plain_(plain), flags_(flags) {}
  ~Traversal() {
    if (start_ >= 0) close(start_);
    free(path_);
    free(seen_);
  }

  int run(const char* root) {
    size_ = strlen(root);
    while (size_ > 1 && root[size_ - 1] == '/') --size_;
    if (size_ == 0) return with_errno_int(-ENOENT);
    if (!reserve(size_)) return -1;
    memcpy(path_, root, size_);
    path_[size_] = '\0';
    const char* slash = static_cast<const char*>(memrchr(path_, '/', size_));
    where_.base = slash != nullptr && size_ > 1 ? static_cast<int>(slash - path_) + 1 : 0;
    where_.level = 0;
    if ((flags_ & FTW_CHDIR) != 0) {
      start_ = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (start_ < 0 || !enter(static_cast<size_t>(where_.base))) return -1;
    }
    struct stat status;
    int type = 0;
    if (!inspect(&status, &type) || type == FTW_NS) return back(-1);
    device_ = status.st_dev;
    int result = type == FTW_D ? directory(status) : call(status, type);
    if ((flags_ & FTW_ACTIONRETVAL) != 0 && (result == FTW_SKIP_SUBTREE || result == FTW_SKIP_SIBLINGS)) result = 0;
    return back(result);
  }

 private:
  bool reserve(size_t size) {
    if (size + 1 <= room_) return true;
    auto* grown = static_cast<char*>(realloc(path_, size * 2 + 256));
    if (grown == nullptr) return false;
    path_ = grown;
    room_ = size * 2 + 256;
    return true;
  }

  // The name of the entry from the program's working directory.
  const char* name() const { return (flags_ & FTW_CHDIR) != 0 ? path_ + where_.base : path_; }

  // FTW_CHDIR: the working directory becomes the directory that the first `size` bytes of the path name.
  bool enter(size_t size) {
    if ((flags_ & FTW_CHDIR) == 0) return true;
    if (fchdir(start_) != 0) return false;
    if (size == 0) return true;
    const char kept = path_[size];
    path_[size] = '\0';
    const bool entered = chdir(path_) == 0;
    path_[size] = kept;
    return entered;
  }
  int back(int result) {
    const int failed = errno;
    if (start_ >= 0 && fchdir(start_) != 0) return -1;
    errno = failed;
    return result;
  }

  // False for a failure that ends the traversal.
  bool inspect(struct stat* status, int* type) {
    const bool physical = (flags_ & FTW_PHYS) != 0;
    if ((physical ? lstat(name(), status) : stat(name(), status)) == 0) {
      *type = S_ISDIR(status->st_mode) ? FTW_D : S_ISLNK(status->st_mode) ? FTW_SL : FTW_F;
      return true;
    }
    if (errno != EACCES && errno != ENOENT) return false;
    if (!physical && lstat(name(), status) == 0 && S_ISLNK(status->st_mode))
      *type = FTW_SLN;
    else
      *type = FTW_NS;
    return true;
  }

  int call(const struct stat& status, int type) {
    if (plain_ == nullptr) return visit_(path_, &status, type, &where_);
    const int shown = type == FTW_SL ? FTW_F : type == FTW_DP ? FTW_D : type == FTW_SLN ? FTW_NS : type;
    return plain_(path_, &status, shown);
  }

  // Directories that were seen, so that a traversal that follows links ends. 1: new, 0: seen before, -1: no memory.
  int remember(const struct stat& status) {
    for (size_t i = 0; i < seen_count_; ++i)
      if (seen_[i].device == status.st_dev && seen_[i].inode == status.st_ino) return 0;
    if (seen_count_ == seen_room_) {
      const size_t more = seen_room_ * 2 + 64;
      auto* grown = static_cast<Seen*>(realloc(seen_, more * sizeof *seen_));
      if (grown == nullptr) return -1;
      seen_ = grown;
      seen_room_ = more;
    }
    seen_[seen_count_++] = {status.st_dev, status.st_ino};
    return 1;
  }

  // A directory of a pool lies on another device, but in the case.
  bool is_other_device(const struct stat& status) {
    if ((flags_ & FTW_MOUNT) == 0 || status.st_dev == device_) return false;
    Path text;
    const Located location(AT_FDCWD, name());
    if (location.outside()) return true;
    if (!S_ISDIR(status.st_mode)) return !really_inside(location);
    return link_at(location.directory, location.path, text) != Link::pool && !passed_pool_;
  }

  int list(Names& names) {
    DIR* stream = opendir(name());
    if (stream == nullptr) return errno == EACCES ? FTW_DNR : -1;
    bool kept = true;
    while (const dirent* entry = readdir(stream))
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) kept = kept && names.add(entry->d_name);
    closedir(stream);
    return kept ? 0 : -1;
  }

  int directory(const struct stat& status) {
    if ((flags_ & FTW_PHYS) == 0) {
      const int fresh = remember(status);
      if (fresh <= 0) return fresh;
    }
    const bool passed_before = passed_pool_;
    passed_pool_ = passed_pool_ || status.st_dev != device_;
    Names names;
    const int listed = list(names);
    int result = listed < 0 ? -1 : listed == FTW_DNR ? call(status, FTW_DNR) : 0;
    if (listed == 0) {
      if ((flags_ & FTW_DEPTH) == 0) result = call(status, FTW_D);
      if (result == 0) result = children(names);
      if (result == 0 && (flags_ & FTW_DEPTH) != 0) result = call(status, FTW_DP);
    }
    passed_pool_ = passed_before;
    return (flags_ & FTW_ACTIONRETVAL) != 0 && result == FTW_SKIP_SUBTREE ? 0 : result;
  }

  int children(const Names& names) {
    const size_t size = size_;
    const int base = where_.base;
    if (!enter(size)) return -1;
    int result = 0;
    for (size_t at = 0; result == 0 && at < names.size;) {
      const char* child = names.text + at;
      const size_t length = strlen(child);
      at += length + 1;
      if (!reserve(size + length + 2)) return -1;
      size_t end = size;
      if (path_[end - 1] != '/') path_[end++] = '/';
      memcpy(path_ + end, child, length + 1);
      size_ = end + length;
      where_.base = static_cast<int>(end);
      ++where_.level;
      result = entry();
      --where_.level;
    }
    size_ = size;
    path_[size] = '\0';
    where_.base = base;
    if (!enter(base > 1 ? static_cast<size_t>(base - 1) : static_cast<size_t>(base))) return -1;
    return (flags_ & FTW_ACTIONRETVAL) != 0 && result == FTW_SKIP_SIBLINGS ? 0 : result;
  }

  int entry() {
    struct stat status;
    int type = 0;
    if (!inspect(&status, &type)) return -1;
    if (type != FTW_NS && is_other_device(status)) return 0;
    const int result = type == FTW_D ? directory(status) : call(status, type);
    return (flags_ & FTW_ACTIONRETVAL) != 0 && result == FTW_SKIP_SUBTREE ? 0 : result;
  }

  struct Seen {
    dev_t device;
    ino_t inode;
  };

  Visit visit_;
  PlainVisit plain_;
  int flags_;
  struct FTW where_ {};
  char* path_ = nullptr;
  size_t size_ = 0, room_ = 0;
  int start_ = -1;
  dev_t device_ = 0;
  bool passed_pool_ = false;
  Seen* seen_ = nullptr;
  size_t seen_count_ = 0, seen_room_ = 0;
};

constexpr int known_flags = FTW_PHYS | FTW_MOUNT | FTW_CHDIR | FTW_DEPTH | FTW_ACTIONRETVAL;

}  // namespace

ENTRY(int, nftw, (const char* path, Visit visit, int descriptors, int flags)) {
  if (!active()) return NEXT(nftw)(path, visit, descriptors, flags);
  if ((flags & ~known_flags) != 0) return with_errno_int(-EINVAL);
  return Traversal(visit, nullptr, flags).run(path);
}
ENTRY_ALIAS(nftw64, nftw);

ENTRY(int, ftw, (const char* path, PlainVisit visit, int descriptors)) {
  if (!active()) return NEXT(ftw)(path, visit, descriptors);
  return Traversal(nullptr, visit, 0).run(path);
}
ENTRY_ALIAS(ftw64, ftw);

}  // namespace forebay::redirect
