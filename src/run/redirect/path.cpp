#include "run/redirect/path.h"

#include <dirent.h>

#include "run/redirect/link.h"
#include "run/redirect/recent.h"

namespace forebay::redirect {
namespace {

constexpr int link_budget = 40;  // as the kernel's

constinit RecentDirectory recent{};

bool is_dots(const char* name, size_t size) {
  return name[0] == '.' && (size == 1 || (size == 2 && name[1] == '.'));
}

// The properties of a path's text.
struct Shape {
  size_t size;
  size_t parent;  // the size without the last component and the slashes around it
  bool climbs;    // has a component ".."
};

bool has_dots_component(const char* path) {
  for (const char* at = path;; ++at) {
    if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || at[2] == '\0')) return true;
    at = strchr(at, '/');
    if (at == nullptr) return false;
  }
}

size_t parent_size(const char* path, size_t size) {
  while (size > 0 && path[size - 1] == '/') --size;
  while (size > 0 && path[size - 1] != '/') --size;
  return size > 0 ? size - 1 : 0;
}

HOT Shape shape_of(const char* path) {
  const size_t size = strlen(path);
  return {size, parent_size(path, size), has_dots_component(path)};
}

// The text begins with a component that occurs in the path of the case.
bool begins_with_name(const char* text) {
  const auto initial = static_cast<unsigned char>(*text);
  if ((state.names.initials[initial / 64] >> (initial % 64) & 1) == 0) [[likely]]
    return false;
  for (int i = 0; i < state.names.count; ++i) {
    const Prefix& name = state.names.items[i];
    if (strncmp(name.text, text, name.size) == 0 && (text[name.size] == '/' || text[name.size] == '\0')) return true;
  }
  return false;
}

// A component is a name in the path of the case: only such a relative path can lead into the case from outside.
HOT bool names_way_to_case(const char* path) {
  for (; path != nullptr; path = strchr(path, '/')) {
    path += *path == '/';
    if (begins_with_name(path)) return true;
  }
  return false;
}

// The text behind the case's prefix or an alias of it, or nullptr.
const char* rest_in_case(const char* path) {
  if (const char* rest = state.case_root.rest(path)) return rest;
  for (int i = 0; i < state.alias_count; ++i)
    if (const char* rest = state.beside.aliases[i].rest(path)) return rest;
  return nullptr;
}

bool in_pool(const char* path) {
  for (int i = 0; i < state.pool_count; ++i)
    if (state.beside.pools[i].rest(path) != nullptr) return true;
  return false;
}

// "//" and dots taken out by text alone.
void tidy(const char* path, Path& out) {
  out.clear();
  while (*path != '\0') {
    const char* end = strchrnul(path, '/');
    const auto size = static_cast<size_t>(end - path);
    if (size == 2 && is_dots(path, size)) {
      out.pop();
    } else if (size > 0 && !is_dots(path, size)) {
      out.append("/", 1);
      out.append(path, size);
    }
    path = *end == '/' ? end + 1 : end;
  }
}

// The case's path begins with `path`: canonical by contract, so it holds no links.
bool leads_to_case(const Path& path) {
  return path.size == 0 ||
         (path.size <= state.case_root.size && memcmp(path.text, state.case_root.text, path.size) == 0 &&
          (path.size == state.case_root.size || state.case_root.text[path.size] == '/'));
}

HOT uint64_t hash(const char* text, size_t size) {
  uint64_t value = 0x9e3779b97f4a7c15ULL ^ (uint64_t{state.known.changes.load(std::memory_order_relaxed)} << 32) ^ size;
  const auto mix = [&value](uint64_t part) {
    value = (value ^ part) * 0xff51afd7ed558ccdULL;
    value ^= value >> 32;
  };
  const auto eight = [](const char* at) {
    uint64_t part;
    memcpy(&part, at, 8);
    return part;
  };
  size_t at = 0;
  for (; at + 8 <= size; at += 8) mix(eight(text + at));
  if (at == size) return value | 1;
  if (size >= 8) {
    mix(eight(text + size - 8));  // some bytes twice, which does no harm
  } else {
    uint64_t part = 0;
    while (at < size) part = part << 8 | static_cast<unsigned char>(text[at++]);
    mix(part);
  }
  return value | 1;
}

// The slow half of is_plain: reads each directory as a link.
COLD bool is_plain_anew(const char* path, size_t from, size_t end, std::atomic<uint64_t>& slot, uint64_t key) {
  Path directory;
  for (size_t at = from; at < end;) {
    while (at < end && path[at] == '/') ++at;
    while (at < end && path[at] != '/') ++at;
    Path text;
    directory.assign(path, at);
    const long size = sys_readlinkat(AT_FDCWD, directory.text, text.text, PATH_MAX);
    if (size == -EINVAL) continue;
    if (size < 0) return true;  // missing: nothing to lead astray, and nothing to remember
    text.text[size] = '\0';
    if (classify(text.text) == Link::genuine) return false;
  }
  slot.store(key, std::memory_order_relaxed);
  return true;
}

// No component of path[from..end) is a genuine link. The answer "yes" is remembered by `name`, which is the same text
// but was not written just now: reading bytes that were written in pieces a moment ago stalls the processor.
HOT bool is_plain(const char* name, const char* path, size_t from, size_t end) {
  if (end <= from) return true;
  const uint64_t key = hash(name, end - from) ^ (from << 1);  // names below the tree, and relative ones
  std::atomic<uint64_t>& slot = state.known.plain[(key >> 8) % State::Known::plain_slots];
  if (slot.load(std::memory_order_relaxed) == key) [[likely]]
    return true;
  return is_plain_anew(path, from, end, slot, key);
}

// A location that the kernel refuses as too long.
COLD Location too_long(Path& buffer) {
  memset(buffer.text, 'x', Path::capacity);
  buffer.text[Path::capacity] = '\0';
  return {AT_FDCWD, buffer.text, Where::inside};
}

// Through the case's own eyes: for paths whose text alone does not say where they lead. `from` is absolute and virtual.
COLD Location locate_by_resolving(const Path& from, Path& buffer, Reach reach) {
  Path resolved;
  const bool slash = from.size > 0 && from.text[from.size - 1] == '/';
  const bool found = resolve(from.text, resolved, reach == Reach::whole, true) == 0;
  if (slash && found) resolved.append("/", 1);
  const bool inside = to_kernel(resolved, buffer);
  if (buffer.too_long()) return too_long(buffer);
  return {AT_FDCWD, buffer.text, inside ? Where::inside : Where::outside};
}

// The case's path with `rest` behind it, resolved.
COLD Location locate_rest_by_resolving(const char* rest, Path& buffer, Reach reach) {
  Path text;
  text.append(state.case_root.text, state.case_root.size);
  text.append(rest);
  return locate_by_resolving(text, buffer, reach);
}

// A local path that climbs.
COLD Location locate_local_by_resolving(const char* path, Path& buffer, Reach reach) {
  Path text;
  text.append(path);
  to_virtual(text);
  return locate_by_resolving(text, buffer, reach);
}

// Outside by its beginning, but with dots or double slashes.
COLD Location locate_untidy(const Location& asked, Path& buffer, Reach reach) {
  Path tidied;
  tidy(asked.path, tidied);
  if (rest_in_case(tidied.text) == nullptr && state.tree.rest(tidied.text) == nullptr) return asked;
  Path text;
  text.append(asked.path);
  return locate_by_resolving(text, buffer, reach);
}

// The size of the first component of "/processor3/name...", where it is known to lead to this rank's directory; else 0.
HOT size_t in_rank_directory(const char* rest) {
  if (state.rank.directory.size == 0 || state.times.node->renamed.load(std::memory_order_acquire) != 0) return 0;
  const char* behind = state.rank.name.rest(rest + (*rest == '/'));
  if (behind == nullptr || behind[0] != '/' || behind[1] == '/' || behind[1] == '\0') return 0;
  return static_cast<size_t>(behind - rest);
}

HOT Location locate_absolute(const Location& asked, Path& buffer, Reach reach) {
  const char* path = asked.path;
  const char* rest = rest_in_case(path);
  if (rest == nullptr) {
    if (state.tree.rest(path) == nullptr && !in_pool(path))
      return is_untidy(path) ? locate_untidy(asked, buffer, reach) : asked;
    if (shape_of(path).climbs) return locate_local_by_resolving(path, buffer, reach);
    return {AT_FDCWD, path, Where::inside};
  }
  const uint32_t changes = state.known.changes.load(std::memory_order_relaxed);
  const Shape shape = shape_of(rest);
  if (shape.climbs) return locate_rest_by_resolving(rest, buffer, reach);
  if (state.flags.beside_namespace) {
    if (const size_t name = in_rank_directory(rest); name > 0) {
      // Not noted below: another process may tell that this is no longer so.
      buffer.assign(state.rank.directory.text, state.rank.directory.size);
      buffer.append(rest + name, shape.size - name);
      if (!buffer.too_long()) return {AT_FDCWD, buffer.text, Where::inside};
    }
    if (state.case_root.rest(path) != nullptr) return {AT_FDCWD, path, Where::inside};
  }
  buffer.assign(state.tree.text, state.tree.size);
  buffer.append(rest, shape.size);
  if (buffer.too_long()) return too_long(buffer);
  const size_t end = state.tree.size + (reach == Reach::whole ? shape.size : shape.parent);
  if (!is_plain(rest, buffer.text, state.tree.size, end)) [[unlikely]]
    return locate_rest_by_resolving(rest, buffer, reach);
  // The directory and one slash, where a plain name comes behind.
  const size_t front = shape.parent + 1;
  if (reach == Reach::parent && front < shape.size && rest[shape.parent] == '/' && rest[front] != '/' &&
      rest[shape.size - 1] != '/')
    recent.note(path, static_cast<size_t>(rest - path) + front, buffer.text, state.tree.size + front, changes);
  return {AT_FDCWD, buffer.text, Where::inside};
}

// A relative path whose text alone does not say where it leads: from where the kernel is.
COLD Location locate_from_here(const Location& asked, Path& buffer, Reach reach) {
  Path text;
  if (!absolute(asked.directory, "", text)) return {asked.directory, asked.path, Where::perhaps};
  const bool from_inside = rest_in_case(text.text) != nullptr;
  text.append("/", 1);
  text.append(asked.path);
  const Location found = locate_by_resolving(text, buffer, reach);
  return from_inside || found.where == Where::inside ? found : asked;
}

HOT Location locate_relative(const Location& asked, Path& buffer, Reach reach) {
  const bool here = asked.directory == AT_FDCWD;
  const bool possible = !here || state.flags.maybe_inside.load(std::memory_order_relaxed);
  if (names_way_to_case(asked.path)) return locate_from_here(asked, buffer, reach);
  if (!possible) return asked;
  const Shape shape = shape_of(asked.path);
  if (shape.climbs) return locate_from_here(asked, buffer, reach);
  if (here && !state.flags.beside_namespace &&
      !is_plain(asked.path, asked.path, 0, reach == Reach::whole ? shape.size : shape.parent))
    return locate_from_here(asked, buffer, reach);
  return {asked.directory, asked.path, Where::perhaps};
}

// Takes a resolved virtual path.
bool is_directory(const Path& path) {
  Path kernel;
  struct stat status;
  to_kernel(path, kernel);
  return sys_fstatat(AT_FDCWD, kernel.text, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

// The link `name` of the tree's root leads to path[0..end) or to a directory above: then the path becomes the case's.
bool from_link(Path& path, const char* name, size_t size) {
  Path link, text;
  link.append(state.tree.text, state.tree.size);
  link.append("/", 1);
  link.append(name, size);
  const long length = sys_readlinkat(AT_FDCWD, link.text, text.text, PATH_MAX);
  if (length <= 0) return false;
  text.text[length] = '\0';
  const Prefix target{text.text, static_cast<size_t>(length)};
  if (target.rest(path.text) == nullptr) return false;
  link.replace_front(state.tree.size, state.case_root.text, state.case_root.size);
  path.replace_front(target.size, link.text, link.size);
  return true;
}

// A pool's directory is what the case calls it: nearly always by the name of one of its components, `processorK`, or
// else by a name that a rename gave to the link.
bool from_pool(Path& path) {
  if (!in_pool(path.text)) return false;
  for (size_t at = path.size; at > 0;) {
    const size_t end = at;
    while (path.text[at - 1] != '/') --at;
    if (from_link(path, path.text + at, end - at)) return true;
    --at;
  }
  const int root = sys_openat(AT_FDCWD, state.tree.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return false;
  alignas(dirent64) char bytes[4096];
  bool found = false;
  for (long count; !found && (count = system_call(SYS_getdents64, root, word(bytes), sizeof bytes)) > 0;)
    for (long at = 0; !found && at < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(bytes + at);
      at += entry->d_reclen;
      found = entry->d_type == DT_LNK && from_link(path, entry->d_name, strlen(entry->d_name));
    }
  sys_close(root);
  return found;
}

}  // namespace

bool is_outside_relative(const char* path) {
  if (path == nullptr || path[0] == '\0') return true;
  if (path[0] == '/') return is_elsewhere(path) && !is_untidy(path);
  return !state.flags.maybe_inside.load(std::memory_order_relaxed) && !names_way_to_case(path);
}

bool is_outside_early(const char* path) {
  return !active() || is_outside_relative(path);
}

namespace {
HOT [[gnu::noinline]] Location locate_anew(int directory, const char* path, Path& buffer, Reach reach) {
  const Location asked{directory, path, Where::outside};
  return path[0] == '/' ? locate_absolute(asked, buffer, reach) : locate_relative(asked, buffer, reach);
}
}  // namespace

Location locate_near(int directory, const char* path, Path& buffer, Reach reach) {
  if (path[0] == '/' && reach == Reach::parent && recent.map(path, buffer))
    return {AT_FDCWD, buffer.text, Where::inside};
  return locate_anew(directory, path, buffer, reach);
}

Location locate(int directory, const char* path, Path& buffer, Reach reach) {
  if (is_outside(directory, path)) return {directory, path, Where::outside};
  return locate_near(directory, path, buffer, reach);
}

bool to_virtual(Path& path) {
  if (state.rank.local_tree.rest(path.text) != nullptr) {
    path.replace_front(state.rank.local_tree.size, state.case_root.text, state.case_root.size);
    return true;
  }
  if (state.tree.rest(path.text) != nullptr) {
    if (!state.flags.beside_namespace) path.replace_front(state.tree.size, state.case_root.text, state.case_root.size);
    return true;
  }
  if (state.case_root.rest(path.text) != nullptr) return true;
  if (state.lower.rest(path.text) != nullptr) {
    path.replace_front(state.lower.size, state.case_root.text, state.case_root.size);
    return true;
  }
  for (int i = 0; i < state.alias_count; ++i)
    if (state.beside.aliases[i].rest(path.text) != nullptr) {
      path.replace_front(state.beside.aliases[i].size, state.case_root.text, state.case_root.size);
      return true;
    }
  return from_pool(path);
}

bool to_kernel(const Path& path, Path& out) {
  const char* rest = state.case_root.rest(path.text);
  out.clear();
  if (rest == nullptr) {
    out.append(path.text, path.size);
    return false;
  }
  out.append(state.tree.text, state.tree.size);
  out.append(rest);
  return true;
}

bool below_mount(Location& location, Path& buffer) {
  Path text;
  if (state.rank.local_tree.size == 0 || !absolute(location.directory, location.path, text)) return false;
  const char* rest = state.case_root.rest(text.text);
  if (rest == nullptr) return false;
  buffer.assign(state.rank.local_tree.text, state.rank.local_tree.size);
  buffer.append(rest);
  if (buffer.too_long()) return false;
  location = {AT_FDCWD, buffer.text, Where::inside};
  return true;
}

bool absolute(int directory, const char* path, Path& out) {
  out.clear();
  if (path[0] != '/') {
    long size;
    if (directory == AT_FDCWD) {
      size = sys_getcwd(out.text, PATH_MAX) - 1;
    } else {
      const DescriptorPath name(directory);
      size = sys_readlinkat(AT_FDCWD, name.text, out.text, PATH_MAX);
    }
    if (size <= 0 || out.text[0] != '/') return false;
    out.size = static_cast<size_t>(size);
    out.text[size] = '\0';
    to_virtual(out);
    if (path[0] == '\0') return true;
    out.append("/", 1);
  }
  out.append(path);
  if (path[0] == '/') to_virtual(out);
  return !out.too_long();
}

int resolve(const char* from, Path& out, bool last, bool may_miss) {
  Path rest;
  rest.append(from);
  out.clear();
  int budget = link_budget;
  size_t at = 0;
  const auto fail = [&](long error) {
    out.append(rest.text + at);
    return static_cast<int>(error);
  };
  for (;;) {
    while (rest.text[at] == '/') ++at;
    if (rest.text[at] == '\0') return 0;
    const size_t begin = at;
    while (rest.text[at] != '/' && rest.text[at] != '\0') ++at;
    const size_t size = at - begin;
    if (is_dots(rest.text + begin, size)) {
      if (size == 2) out.pop();
      continue;
    }
    out.append("/", 1);
    out.append(rest.text + begin, size);
    if (out.too_long()) return fail(-ENAMETOOLONG);
    if (leads_to_case(out)) continue;
    const bool final = rest.text[at] == '\0';
    if (final && !last) return 0;

    Path link;
    to_kernel(out, link);
    long length = sys_readlinkat(AT_FDCWD, link.text, link.text, PATH_MAX);
    if (length == -ENOENT && final && may_miss) return 0;
    if (length >= 0) {
      link.text[length] = '\0';
      const Link kind = classify(link.text);
      if (kind == Link::pool) continue;
      // Nearly always a file; a link of the case that could not be staged as it is may stand there too.
      if (kind == Link::staged) length = sys_readlinkat(AT_FDCWD, link.text, link.text, PATH_MAX);
    }
    if (length == -EINVAL) {
      if (!final && !is_directory(out)) return fail(-ENOTDIR);
      continue;
    }
    if (length < 0) return fail(length);
    link.size = static_cast<size_t>(length);
    link.text[length] = '\0';
    if (--budget < 0) return fail(-ELOOP);
    if (link.text[0] == '/') {
      to_virtual(link);
      out.clear();
    } else {
      out.pop();
    }
    link.append(rest.text + at);
    if (link.too_long()) return fail(-ENAMETOOLONG);
    rest.assign(link.text, link.size);
    at = 0;
  }
}

bool really_inside(const Location& location) {
  if (location.where != Where::perhaps) return location.where == Where::inside;
  Path text;
  return absolute(location.directory, "", text) && rest_in_case(text.text) != nullptr;
}

}  // namespace forebay::redirect
