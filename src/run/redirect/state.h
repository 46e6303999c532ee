// redirect: libforebay_redirect.so, loaded by LD_PRELOAD, leads every path of a case to its local tree.
//
// Promises: what a program does in the case has the same observable result as in a plain directory. It hands out real
// kernel descriptors, and data goes between the program and the kernel as without it: read, mmap, dup and fork are not
// touched, and of write and its kin only the result is looked at. A call that fails for want of room, or by an error of
// the device, is noted in a page for the agent; a file that the kernel wrote a part of is written on. An input that is
// only a link (a *staged link*) is shown as the file it stands for and copied up before anything changes it; the file
// that it stands for is never written. Calls that POSIX names async-signal-safe stay so: no allocation, no locks. Paths
// outside the case cost one comparison of their first bytes, a write without an error one of its result.
// Must not know: any other room, but the headers of the contract. It stands alone, since it is loaded into every
// program of a run.
//
// docs/run/redirect.md tells how it works, what it covers, and its limits; run/contract/contract.h what it agrees on
// with whoever starts programs. Here is its one mutable state: what the environment said, and hints that spare system
// calls.
#pragma once

#include <pthread.h>

#include <atomic>

#include "run/contract/pages.h"
#include "run/redirect/system.h"

struct _IO_FILE;

namespace forebay::redirect {

struct Prefix {
  const char* text;
  size_t size;

  // The text behind the prefix ("" or "/..."), or nullptr where `path` does not lie in it.
  const char* rest(const char* path) const {
    if (size == 0 || strncmp(path, text, size) != 0) return nullptr;
    const char* behind = path + size;
    return *behind == '/' || *behind == '\0' ? behind : nullptr;
  }
};

// How an absolute path is told apart from ours: eight bytes at one offset (fewer where the shortest prefix has fewer),
// as far behind as the shortest prefix allows, since prefixes share their beginnings with their neighbours.
struct Marks {
  static constexpr int capacity = 32;
  size_t offset;
  uint64_t mask;
  int count;
  uint64_t bytes[capacity];  // of the case, its aliases, the tree and the pools, each value once
};

enum Phase : int { unknown, starting, active_phase, inactive_phase };

struct State {
  static constexpr int max_aliases = 16, max_pools = 64, max_names = 128, max_variables = 16;

  // First what every call looks at, side by side: after a system call each line of it comes from afar.
  std::atomic<int> phase;
  // These and all that is not atomic are set once by start(), and read-only from then on.
  short alias_count, pool_count;
  struct Flags {
    // A hint that errs on the side of true: the working directory may lie in the tree.
    std::atomic<bool> maybe_inside;
    bool beside_namespace;  // the tree is bound over the case: only what lies in `rank.directory` is to be mapped
    bool meets_placed;      // files of the tree may be links to files in the pool of another socket (placed.h)
    bool places;            // and this rank makes such
    bool closing_fails;     // close() may be the first to tell that a file was not written (pages.h)
  } flags;
  std::atomic<uint32_t>* gate;
  Prefix case_root, tree;
  struct Rank {
    // Beside a namespace: what `name` in the case leads to, as long as the page `times.node` does not tell otherwise.
    Prefix directory, name;  // the name is that of the directory that holds times, empty for the case itself
    Prefix local_tree;       // beside a namespace: where the tree lies without the mount over the case, if known
    Prefix keep;             // where what this rank purges goes
    Prefix times;            // where these lie without the mount over the case; empty: as the program sees them
  } rank;
  dev_t lower_device;  // st_dev of what staged links lead to
  struct Names {
    uint64_t initials[4];     // a bit for each
    Prefix items[max_names];  // the components of the case's path and its aliases
    int count;
  } names;
  Marks marks;
  struct Known {
    static constexpr size_t plain_slots = 512;
    std::atomic<uint32_t> changes;  // counts what can make a known directory name lead elsewhere; `plain` then forgets
    // Hashes of names of directories that are known to be free of links which the kernel would follow astray.
    std::atomic<uint64_t> plain[plain_slots];
  } known;

  Prefix lower;
  Prefix temporary;  // how the library's own names in the tree begin
  struct Placed {
    Prefix directory;            // where this rank's new files are made
    std::atomic<uint64_t> made;  // counts them, from a number that no other process began with
  } placed;
  struct Errors {
    contract::WriteErrors* page;   // where calls are noted that fail, or null
    std::atomic<_IO_FILE*> noted;  // the stream whose error was noted last
  } errors;
  struct Times {
    contract::NodePage* node;  // or null
    contract::RankPage* page;  // this rank's in it, or null
    pthread_t main_thread;
  } times;
  struct Beside {
    Prefix aliases[max_aliases];
    Prefix pools[max_pools];
  } beside;
  pid_t pid;  // of the process that started the library
  struct Stored {
    const char* variables[max_variables];  // "FOREBAY_...=...", for children whose environment lost them
    int variable_count;
    size_t size;
    char bytes[64 * 1024];  // the texts above
  } stored;
};

extern State state;

// Reads the environment; idempotent, thread-safe, async-signal-safe. True when there is a case to redirect.
bool start();

inline bool active() {
  const int phase = state.phase.load(std::memory_order_acquire);
  if (phase == active_phase) [[likely]]
    return true;
  return phase != inactive_phase && start();
}

// Looks where the kernel's working directory is now and keeps the hint.
void note_working_directory();
// To be called when a link was made, a directory removed or something renamed.
inline void forget_plain_directories() {
  state.known.changes.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace forebay::redirect
