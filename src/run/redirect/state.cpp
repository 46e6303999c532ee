#include "run/redirect/state.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>

#include "run/redirect/link.h"

namespace forebay::redirect {

alignas(64) constinit State state{};

namespace {

const char* variable(const char* name) {
  const size_t length = strlen(name);
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry;
  return nullptr;
}

const char* store(const char* bytes, size_t count) {
  if (count + 1 > sizeof state.stored.bytes - state.stored.size) return nullptr;
  char* at = state.stored.bytes + state.stored.size;
  memcpy(at, bytes, count);
  at[count] = '\0';
  state.stored.size += count + 1;
  return at;
}

// A stored prefix without slashes at its end; empty unless it is absolute and not the root.
Prefix prefix_from(const char* bytes, size_t count, bool escaped) {
  char text[PATH_MAX];
  size_t size = 0;
  for (size_t at = 0; at < count;) {
    if (size + 1 >= sizeof text) return {"", 0};
    text[size++] = escaped ? contract::next_of_word(bytes, count, at) : bytes[at++];
  }
  while (size > 0 && text[size - 1] == '/') --size;
  if (size < 2 || text[0] != '/') return {"", 0};
  const char* stored = store(text, size);
  return stored != nullptr ? Prefix{stored, size} : Prefix{"", 0};
}

// Keeps the variable for children, and returns its value.
const char* configured(const char* name) {
  const char* entry = variable(name);
  if (entry == nullptr) return nullptr;
  const char* kept = store(entry, strlen(entry));
  if (kept != nullptr) state.stored.variables[state.stored.variable_count++] = kept;
  return entry + strlen(name) + 1;
}

Prefix configured_prefix(const char* name) {
  const char* value = configured(name);
  return value != nullptr ? prefix_from(value, strlen(value), false) : Prefix{"", 0};
}

short configured_list(const char* name, Prefix* list, int capacity) {
  const char* value = configured(name);
  short count = 0;
  while (value != nullptr && *value != '\0' && count < capacity) {
    const char* end = strchrnul(value, ':');
    const Prefix prefix = prefix_from(value, static_cast<size_t>(end - value), true);
    if (prefix.size > 0) list[count++] = prefix;
    value = *end == ':' ? end + 1 : end;
  }
  return count;
}

void note_names(const Prefix& prefix) {
  const char* at = prefix.text + 1;
  while (state.names.count < State::max_names) {
    const char* end = strchrnul(at, '/');
    state.names.items[state.names.count++] = {at, static_cast<size_t>(end - at)};
    state.names.initials[static_cast<unsigned char>(*at) / 64] |= uint64_t{1} << (static_cast<unsigned char>(*at) % 64);
    if (*end == '\0') return;
    at = end + 1;
  }
}

template <class Visit>
void for_each_prefix(Visit visit) {
  visit(state.case_root);
  visit(state.tree);
  for (int i = 0; i < state.alias_count; ++i) visit(state.beside.aliases[i]);
  for (int i = 0; i < state.pool_count; ++i) visit(state.beside.pools[i]);
}

void make_marks() {
  Marks& marks = state.marks;
  size_t shortest = state.case_root.size;
  for_each_prefix([&](const Prefix& prefix) { shortest = prefix.size < shortest ? prefix.size : shortest; });
  const size_t count = shortest < 8 ? shortest : 8;
  marks.offset = shortest - count;
  marks.mask = count == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * count)) - 1;
  for_each_prefix([&](const Prefix& prefix) {
    uint64_t bytes = 0;
    memcpy(&bytes, prefix.text + marks.offset, count);
    for (int i = 0; i < marks.count; ++i)
      if (marks.bytes[i] == bytes) return;
    if (marks.count < Marks::capacity) {
      marks.bytes[marks.count++] = bytes;
    } else {
      marks.mask = 0;  // too many: none is told apart
      marks.bytes[0] = 0;
    }
  });
}

// A file, from its beginning to `size`, which is set when it is 0; nullptr where it cannot be had.
void* map_shared(const char* path, bool writable, size_t& size) {
  const int fd = sys_openat(AT_FDCWD, path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return nullptr;
  struct stat status;
  if (size == 0 && sys_fstat(fd, &status) == 0) size = static_cast<size_t>(status.st_size);
  const long mapped =
      system_call(SYS_mmap, 0, word(size), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  sys_close(fd);
  return mapped > 0 || mapped < -4096 ? reinterpret_cast<void*>(mapped) : nullptr;
}

void open_gate() {
  size_t size = sizeof *state.gate;
  if (const char* path = configured(contract::gate_variable))
    state.gate = static_cast<std::atomic<uint32_t>*>(map_shared(path, false, size));
}

void open_errors() {
  const char* path = configured(contract::errors_variable);
  size_t size = 0;
  auto* errors = path != nullptr ? static_cast<contract::WriteErrors*>(map_shared(path, true, size)) : nullptr;
  if (errors == nullptr || size < sizeof *errors || errors->version != contract::version) return;
  state.errors.page = errors;
  errors->programs.fetch_add(1, std::memory_order_relaxed);
  state.flags.closing_fails = errors->closing_fails != 0;
}

// The ranks' page; nullptr where there is none.
contract::NodePage* map_page(size_t& size) {
  const char* path = configured(contract::page_variable);
  auto* page = path != nullptr ? static_cast<contract::NodePage*>(map_shared(path, true, size)) : nullptr;
  return page != nullptr && size >= contract::bytes_of_pages(1) ? page : nullptr;
}

void say_other_version() {
  static const char text[] =
      "forebay: the redirection library in this program and the agent of its run are of different versions: the "
      "program "
      "goes on without the library, and what it writes may go straight to the case; start the run again with one "
      "version "
      "of forebay on all nodes\n";
  system_call(SYS_write, STDERR_FILENO, word(text), sizeof text - 1);
}

// In a container, say. Its opens would fail without a word of why.
void say_unseen() {
  Path text;
  text.append("forebay: this program has a file system of its own, without ");
  text.append(state.lower.text, state.lower.size);
  text.append(", where its inputs lie: bind the pool and the case into it\n");
  system_call(SYS_write, STDERR_FILENO, word(text.text), word(text.size));
}

// The rank whose times lie in this rank's directory: 3 for "processor3", 2 for "processors4_2-3", 0 for "processors4"
// and for the case in one piece.
uint64_t rank_of_times() {
  if (state.rank.name.size == 0) return 0;
  const char* at = state.rank.name.text + contract::rank_prefix_size;
  if (*at == 's') at = strchrnul(at, '_') + (strchr(at, '_') != nullptr);
  uint64_t rank = 0;
  for (; *at >= '0' && *at <= '9'; ++at) rank = rank * 10 + static_cast<uint64_t>(*at - '0');
  return rank;
}

void take_page(contract::NodePage* page, size_t size) {
  if (page == nullptr || state.rank.keep.size == 0) return;
  const uint64_t rank = rank_of_times();
  const uint64_t ranks = page->ranks.load();
  if (rank >= ranks || contract::bytes_of_pages(ranks) > size) return;
  state.times.node = page;
  state.times.page = page->pages() + rank;
  // The thread that starts the library is the main one as a rule. If it is not, nothing is called complete.
  if (system_call(SYS_gettid) == system_call(SYS_getpid)) state.times.main_thread = pthread_self();
}

// The kernel looks through the directories above the case for each path in it, and has to ask the shared file system
// for them, again and again where that lets what it said expire. This rank's own directory needs none of them: it is
// known where its times lie, or the link in the tree tells where it is. Without the page nobody would tell that the
// link was moved, or that the directory got a link which leads out of the case.
void find_rank_directory() {
  if (!state.flags.beside_namespace) return;
  const size_t below = state.rank.name.size > 0 ? state.rank.name.size + 1 : 0;
  if (state.rank.times.size > below)
    state.rank.local_tree = prefix_from(state.rank.times.text, state.rank.times.size - below, false);
  if (state.rank.name.size == 0 || state.times.node == nullptr) return;
  if (state.rank.times.size > 0) {
    state.rank.directory = state.rank.times;
    return;
  }
  Path link, text;
  link.append(state.case_root.text, state.case_root.size);
  link.append("/", 1);
  link.append(state.rank.name.text, state.rank.name.size);
  if (link_at(AT_FDCWD, link.text, text) != Link::pool) return;
  state.rank.directory = prefix_from(text.text, text.size, false);
}

Prefix temporary_names() {
  char text[64];
  const size_t size = strlen(contract::temporary_prefix);
  memcpy(text, contract::temporary_prefix, size);
  put_digits(text + size, contract::hash_of(state.lower.text, state.lower.size));
  text[size + 16] = '-';
  const char* stored = store(text, size + 17);
  return {stored, stored != nullptr ? size + 17 : 0};
}

bool configure() {
  state.case_root = configured_prefix(contract::case_variable);
  state.tree = configured_prefix(contract::tree_variable);
  state.lower = configured_prefix(contract::lower_variable);
  if (state.case_root.size == 0 || state.tree.size == 0 || state.lower.size == 0) return false;
  size_t page_size = 0;
  contract::NodePage* const page = map_page(page_size);
  if (page != nullptr && page->version.load() != contract::version) {
    say_other_version();
    return false;
  }
  state.temporary = temporary_names();
  if (state.temporary.size == 0) return false;
  state.flags.beside_namespace = strcmp(state.case_root.text, state.tree.text) == 0;
  state.alias_count = configured_list(contract::aliases_variable, state.beside.aliases, State::max_aliases);
  state.pool_count = configured_list(contract::pools_variable, state.beside.pools, State::max_pools);
  state.rank.keep = configured_prefix(contract::keep_variable);
  if (const char* name = state.rank.keep.size > 0 ? strrchr(state.rank.keep.text, '/') + 1 : contract::serial_name;
      strcmp(name, contract::serial_name) != 0)
    state.rank.name = {name, strlen(name)};
  state.rank.times = configured_prefix(contract::times_variable);
  if (const char* value = configured(contract::socket_pool_variable)) {
    state.flags.meets_placed = true;
    state.placed.directory = prefix_from(value, strlen(value), false);
    state.flags.places = state.placed.directory.size > 0;
    uint64_t first = 0;
    system_call(SYS_getrandom, word(&first), sizeof first, 0);
    state.placed.made.store(first, std::memory_order_relaxed);
  }
  open_gate();
  open_errors();
  take_page(page, page_size);
  find_rank_directory();
  note_names(state.case_root);
  for (int i = 0; i < state.alias_count; ++i) note_names(state.beside.aliases[i]);
  make_marks();
  struct stat status;
  const int seen = sys_fstatat(AT_FDCWD, state.lower.text, &status, 0);
  if (seen == 0) state.lower_device = status.st_dev;
  if (seen == -ENOENT) say_unseen();
  state.pid = static_cast<pid_t>(system_call(SYS_getpid));
  return true;
}

// A program that was started with its working directory in the case itself goes on in the tree.
void enter_tree() {
  Path here;
  if (sys_getcwd(here.text, PATH_MAX) < 0) return;
  const char* rest = state.case_root.rest(here.text);
  if (rest == nullptr || state.flags.beside_namespace) return;
  Path there;
  there.append(state.tree.text, state.tree.size);
  there.append(rest);
  system_call(SYS_chdir, word(there.text));
}

}  // namespace

bool start() {
  if (environ == nullptr) return false;  // too early in the life of the process to know
  const SignalsBlocked blocked;
  int expected = unknown;
  if (!state.phase.compare_exchange_strong(expected, starting, std::memory_order_acq_rel)) {
    while ((expected = state.phase.load(std::memory_order_acquire)) == starting) system_call(SYS_sched_yield);
    return expected == active_phase;
  }
  const bool usable = configure();
  if (usable) {
    enter_tree();
    note_working_directory();
  }
  state.phase.store(usable ? active_phase : inactive_phase, std::memory_order_release);
  return usable;
}

namespace {
bool working_directory_is_inside() {
  Path here;
  if (sys_getcwd(here.text, PATH_MAX) < 0) return true;
  if (state.case_root.rest(here.text) != nullptr || state.tree.rest(here.text) != nullptr) return true;
  for (int i = 0; i < state.pool_count; ++i)
    if (state.beside.pools[i].rest(here.text) != nullptr) return true;
  return false;
}
}  // namespace

void note_working_directory() {
  forget_plain_directories();
  if (working_directory_is_inside()) {
    state.flags.maybe_inside.store(true);
    return;
  }
  // A child of vfork shares this memory but not the working directory: it may only ever raise the flag.
  if (static_cast<pid_t>(system_call(SYS_getpid)) != state.pid) return;
  state.flags.maybe_inside.store(false);
  // Another thread may have gone inside in between.
  if (working_directory_is_inside()) state.flags.maybe_inside.store(true);
}

namespace {
__attribute__((constructor)) void start_early() {
  active();
}
}  // namespace

}  // namespace forebay::redirect
