// fts: as with nftw, libc's own would go past this library. Tcl copies and removes directories by it (`file copy`,
// `file delete -force`): with libc's own it leaves a directory of the tree as it is without a word, and copies no
// staged link. Never changes the working directory, whatever the options say: fts_accpath is the whole path.
#include <dirent.h>
#include <fts.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {
namespace {

using Order = int (*)(const FTSENT**, const FTSENT**);

bool is_dot(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// An entry with its name, its path and its status in one piece of memory.
FTSENT* make_entry(FTSENT* parent, const char* path, size_t path_size, const char* name) {
  const size_t name_size = strlen(name);
  const size_t head = sizeof(FTSENT) + name_size + 1;
  const size_t status_at = (head + alignof(struct stat) - 1) & ~(alignof(struct stat) - 1);
  const size_t slash = path_size > 0 && path[path_size - 1] != '/' ? 1 : 0;
  const size_t full = path_size + slash + name_size;
  auto* bytes = static_cast<char*>(calloc(1, status_at + sizeof(struct stat) + full + 1));
  if (bytes == nullptr) return nullptr;
  auto* entry = reinterpret_cast<FTSENT*>(bytes);
  memcpy(entry->fts_name, name, name_size + 1);
  entry->fts_namelen = static_cast<unsigned short>(name_size);
  entry->fts_statp = reinterpret_cast<struct stat*>(bytes + status_at);
  entry->fts_path = bytes + status_at + sizeof(struct stat);
  memcpy(entry->fts_path, path, path_size);
  if (slash != 0) entry->fts_path[path_size] = '/';
  memcpy(entry->fts_path + path_size + slash, name, name_size + 1);
  entry->fts_pathlen = static_cast<unsigned short>(full);
  entry->fts_accpath = entry->fts_path;
  entry->fts_parent = parent;
  entry->fts_level = static_cast<short>(parent != nullptr ? parent->fts_level + 1 : FTS_ROOTPARENTLEVEL);
  entry->fts_instr = FTS_NOINSTR;
  entry->fts_symfd = -1;
  return entry;
}

void free_list(FTSENT* entry) {
  while (entry != nullptr) {
    FTSENT* next = entry->fts_link;
    free(entry);
    entry = next;
  }
}

// A directory of a pool lies on another device, but in the case.
bool leads_into_pool(const char* path) {
  Path text;
  const Located location(AT_FDCWD, path);
  return !location.outside() && link_at(location.directory, location.path, text) == Link::pool;
}

unsigned short inspect(const FTS* traversal, FTSENT* entry, bool following) {
  struct stat* status = entry->fts_statp;
  if ((traversal->fts_options & FTS_LOGICAL) != 0 || following) {
    if (stat(entry->fts_accpath, status) != 0) {
      const int failed = errno;
      if (lstat(entry->fts_accpath, status) == 0) {
        errno = 0;
        return FTS_SLNONE;
      }
      entry->fts_errno = failed;
      memset(status, 0, sizeof *status);
      return FTS_NS;
    }
  } else if (lstat(entry->fts_accpath, status) != 0) {
    entry->fts_errno = errno;
    memset(status, 0, sizeof *status);
    return FTS_NS;
  }
  if (S_ISLNK(status->st_mode)) return FTS_SL;
  if (S_ISREG(status->st_mode)) return FTS_F;
  if (!S_ISDIR(status->st_mode)) return FTS_DEFAULT;
  entry->fts_dev = status->st_dev;
  entry->fts_ino = status->st_ino;
  entry->fts_nlink = status->st_nlink;
  const FTSENT* parent = entry->fts_parent;
  if ((traversal->fts_options & FTS_XDEV) != 0 && entry->fts_level > FTS_ROOTLEVEL &&
      parent->fts_dev != entry->fts_dev && leads_into_pool(entry->fts_accpath))
    entry->fts_dev = parent->fts_dev;
  if (is_dot(entry->fts_name) && entry->fts_level > FTS_ROOTLEVEL) return FTS_DOT;
  for (FTSENT* above = entry->fts_parent; above->fts_level >= FTS_ROOTLEVEL; above = above->fts_parent)
    if (above->fts_ino == entry->fts_ino && above->fts_statp->st_dev == status->st_dev) {
      entry->fts_cycle = above;
      return FTS_DC;
    }
  return FTS_D;
}

FTSENT* sorted(FTS* traversal, FTSENT* list, size_t count) {
  if (traversal->fts_compar == nullptr || count < 2) return list;
  auto** array = static_cast<FTSENT**>(malloc(count * sizeof(FTSENT*)));
  if (array == nullptr) return list;
  size_t at = 0;
  for (FTSENT* entry = list; entry != nullptr; entry = entry->fts_link) array[at++] = entry;
  qsort(array, count, sizeof *array, traversal->fts_compar);
  for (at = 0; at + 1 < count; ++at) array[at]->fts_link = array[at + 1];
  array[count - 1]->fts_link = nullptr;
  list = array[0];
  free(array);
  return list;
}

// The entries of a directory; nullptr when there are none or it cannot be read, which the directory's fts_info says.
FTSENT* list_children(FTS* traversal, FTSENT* directory, bool names_only) {
  DIR* stream = opendir(directory->fts_accpath);
  if (stream == nullptr) {
    if (!names_only) {
      directory->fts_info = FTS_DNR;
      directory->fts_errno = errno;
    }
    return nullptr;
  }
  FTSENT* first = nullptr;
  FTSENT** end = &first;
  size_t count = 0;
  while (const dirent* found = readdir(stream)) {
    if ((traversal->fts_options & FTS_SEEDOT) == 0 && is_dot(found->d_name)) continue;
    FTSENT* entry = make_entry(directory, directory->fts_path, directory->fts_pathlen, found->d_name);
    if (entry == nullptr) {
      const int failed = errno;
      free_list(first);
      closedir(stream);
      errno = failed;
      directory->fts_info = FTS_ERR;
      traversal->fts_options |= FTS_STOP;
      return nullptr;
    }
    const bool known = found->d_type != DT_UNKNOWN && found->d_type != DT_DIR && found->d_type != DT_LNK;
    if (names_only || ((traversal->fts_options & FTS_NOSTAT) != 0 && known))
      entry->fts_info = FTS_NSOK;
    else
      entry->fts_info = inspect(traversal, entry, false);
    *end = entry;
    end = &entry->fts_link;
    ++count;
  }
  closedir(stream);
  if (count == 0 && !names_only) directory->fts_info = FTS_DP;
  return sorted(traversal, first, count);
}

// A root's name becomes its last component when the traversal comes to it.
void load_root(FTS* traversal, FTSENT* root) {
  const char* slash = strrchr(root->fts_name, '/');
  if (slash != nullptr && (slash != root->fts_name || slash[1] != '\0')) {
    const size_t size = strlen(slash + 1);
    memmove(root->fts_name, slash + 1, size + 1);
    root->fts_namelen = static_cast<unsigned short>(size);
  }
  traversal->fts_dev = root->fts_dev;
}

void apply_follow(FTS* traversal, FTSENT* entry) {
  if (entry->fts_instr != FTS_FOLLOW) return;
  entry->fts_info = inspect(traversal, entry, true);
  entry->fts_instr = FTS_NOINSTR;
}

FTSENT* now_at(FTS* traversal, FTSENT* entry) {
  traversal->fts_cur = entry;
  traversal->fts_path = entry->fts_path;
  return entry;
}

// The entry behind the current one: its next sibling, or its parent on the way up.
FTSENT* go_on(FTS* traversal, FTSENT* entry) {
  FTSENT* parent = entry->fts_parent;
  while (FTSENT* next = entry->fts_link) {
    free(entry);
    entry = next;
    if (entry->fts_level == FTS_ROOTLEVEL) load_root(traversal, entry);
    if (entry->fts_instr == FTS_SKIP) continue;
    apply_follow(traversal, entry);
    return now_at(traversal, entry);
  }
  free(entry);
  if (parent->fts_level == FTS_ROOTPARENTLEVEL) {
    free(parent);
    traversal->fts_cur = nullptr;
    errno = 0;
    return nullptr;
  }
  parent->fts_info = parent->fts_errno != 0 ? FTS_ERR : FTS_DP;
  return now_at(traversal, parent);
}

}  // namespace

ENTRY(FTS*, fts_open, (char* const* paths, int options, Order order)) {
  if (!active()) return NEXT(fts_open)(paths, options, order);
  if ((options & ~FTS_OPTIONMASK) != 0) return errno = EINVAL, nullptr;
  auto* traversal = static_cast<FTS*>(calloc(1, sizeof(FTS)));
  FTSENT* above = make_entry(nullptr, "", 0, "");
  FTSENT* start = above != nullptr ? make_entry(above, "", 0, "") : nullptr;
  int failed = traversal == nullptr || start == nullptr ? ENOMEM : 0;
  FTSENT* first = nullptr;
  FTSENT** end = &first;
  size_t count = 0;
  for (; failed == 0 && *paths != nullptr; ++paths, ++count) {
    FTSENT* root = **paths != '\0' ? make_entry(above, "", 0, *paths) : nullptr;
    if (root == nullptr) {
      failed = **paths != '\0' ? ENOMEM : ENOENT;
      break;
    }
    traversal->fts_options = options;
    root->fts_info = inspect(traversal, root, (options & FTS_COMFOLLOW) != 0);
    *end = root;
    end = &root->fts_link;
  }
  if (failed != 0) {
    free_list(first);
    free(start);
    free(above);
    free(traversal);
    errno = failed;
    return nullptr;
  }
  traversal->fts_options = options | FTS_NOCHDIR;
  traversal->fts_compar = reinterpret_cast<int (*)(const void*, const void*)>(order);
  traversal->fts_rfd = -1;
  start->fts_info = FTS_INIT;
  start->fts_link = sorted(traversal, first, count);
  traversal->fts_cur = start;
  return traversal;
}
ENTRY_ALIAS(fts64_open, fts_open);

ENTRY(FTSENT*, fts_read, (FTS * traversal)) {
  if (!active()) return NEXT(fts_read)(traversal);
  FTSENT* entry = traversal->fts_cur;
  if (entry == nullptr || (traversal->fts_options & FTS_STOP) != 0) return nullptr;
  const int instruction = entry->fts_instr;
  entry->fts_instr = FTS_NOINSTR;
  if (instruction == FTS_AGAIN) {
    entry->fts_info = inspect(traversal, entry, false);
    return entry;
  }
  if (instruction == FTS_FOLLOW && (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)) {
    entry->fts_info = inspect(traversal, entry, true);
    return entry;
  }
  if (entry->fts_info != FTS_D) return go_on(traversal, entry);

  const bool elsewhere = (traversal->fts_options & FTS_XDEV) != 0 && entry->fts_dev != traversal->fts_dev;
  if (instruction == FTS_SKIP || elsewhere || (traversal->fts_options & FTS_NAMEONLY) != 0) {
    free_list(traversal->fts_child);
    traversal->fts_child = nullptr;
    traversal->fts_options &= ~FTS_NAMEONLY;
  }
  if (instruction == FTS_SKIP || elsewhere) {
    entry->fts_info = FTS_DP;
    return entry;
  }
  FTSENT* child = traversal->fts_child != nullptr ? traversal->fts_child : list_children(traversal, entry, false);
  traversal->fts_child = nullptr;
  if (child == nullptr) return (traversal->fts_options & FTS_STOP) != 0 ? nullptr : entry;
  // Skipped children count as visited: go_on sees to them, from an entry before the first.
  apply_follow(traversal, child);
  if (child->fts_instr != FTS_SKIP) return now_at(traversal, child);
  child->fts_instr = FTS_NOINSTR;
  return go_on(traversal, child);
}
ENTRY_ALIAS(fts64_read, fts_read);

ENTRY(FTSENT*, fts_children, (FTS * traversal, int option)) {
  if (!active()) return NEXT(fts_children)(traversal, option);
  if (option != 0 && option != FTS_NAMEONLY) return errno = EINVAL, nullptr;
  FTSENT* entry = traversal->fts_cur;
  errno = 0;
  if (entry == nullptr || (traversal->fts_options & FTS_STOP) != 0) return nullptr;
  if (entry->fts_info == FTS_INIT) return entry->fts_link;
  if (entry->fts_info != FTS_D) return nullptr;
  free_list(traversal->fts_child);
  if (option == FTS_NAMEONLY) traversal->fts_options |= FTS_NAMEONLY;
  const auto info = entry->fts_info;
  traversal->fts_child = list_children(traversal, entry, option == FTS_NAMEONLY);
  if (traversal->fts_child == nullptr && entry->fts_info == FTS_DP) entry->fts_info = info;
  return traversal->fts_child;
}
ENTRY_ALIAS(fts64_children, fts_children);

ENTRY(int, fts_set, (FTS * traversal, FTSENT* entry, int instruction)) {
  if (!active()) return NEXT(fts_set)(traversal, entry, instruction);
  if (instruction != 0 && instruction != FTS_AGAIN && instruction != FTS_FOLLOW && instruction != FTS_NOINSTR &&
      instruction != FTS_SKIP)
    return errno = EINVAL, 1;
  entry->fts_instr = static_cast<unsigned short>(instruction);
  return 0;
}
ENTRY_ALIAS(fts64_set, fts_set);

ENTRY(int, fts_close, (FTS * traversal)) {
  if (!active()) return NEXT(fts_close)(traversal);
  if (traversal->fts_cur != nullptr) {
    FTSENT* entry = traversal->fts_cur;
    while (entry->fts_level >= FTS_ROOTLEVEL) {
      FTSENT* next = entry->fts_link != nullptr ? entry->fts_link : entry->fts_parent;
      free(entry);
      entry = next;
    }
    free(entry);
  }
  free_list(traversal->fts_child);
  free(traversal);
  return 0;
}
ENTRY_ALIAS(fts64_close, fts_close);

}  // namespace forebay::redirect
