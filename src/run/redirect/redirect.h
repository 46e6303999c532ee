// redirect: libforebay_redirect.so, loaded by LD_PRELOAD, leads every path of a case to its local tree.
//
// Promises: what a program does in the case has the same observable result as in a plain directory. It hands out real
// kernel descriptors, and data goes between the program and the kernel as without it: read, mmap, dup and fork are not
// touched, and of write and its kin only the result is looked at. A call that fails for want of room, or by an error of
// the device, is noted in a page for the agent; a file that the kernel wrote a part of is written on. An input that is
// only a link (a *staged link*) is shown as the file it stands for and copied up before anything changes it; the file
// that it stands for is never written. Calls that POSIX names async-signal-safe stay so: no allocation, no locks. Paths
// outside the case cost one comparison of their first bytes, a write without an error one of its result.
// Must not know: any other room. It stands alone, since it is loaded into every program of a run.
//
// docs/run/redirect.md tells how it works, what it covers, and its limits. This header is the contract with whoever
// starts programs: the environment that configures the library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace forebay::redirect {

// Absolute canonical path of the case on the shared file system.
inline constexpr const char* case_variable = "FOREBAY_CASE";
// Optional: further absolute prefixes that lead to the case, separated by ':'; ':' and '%' inside are %XX-escaped.
inline constexpr const char* aliases_variable = "FOREBAY_CASE_ALIASES";
// Absolute canonical path of the local tree. Equal to the case where the tree is bound over it (namespace).
inline constexpr const char* tree_variable = "FOREBAY_TREE";
// The directory that staged links point into: a staged link is one whose text begins with this and a '/'.
inline constexpr const char* lower_variable = "FOREBAY_LOWER";
// Optional: run directories of the pools, separated by ':', escaped as the aliases. A link whose text lies in one is
// shown as what it leads to; the tree's root holds such links for ranks' directories, named `processor...`.
inline constexpr const char* pools_variable = "FOREBAY_POOLS";
// Optional: a file of at least 4 bytes; while its first 32-bit word is not zero, opening for writing in the tree waits.
inline constexpr const char* gate_variable = "FOREBAY_GATE";
// Optional: where the agent keeps the files of this rank's times, named by the directory of the case that holds the
// times: ".../processor3", or ".../serial" for the case itself. A file of a time that the program removes gets a link
// in the directory below it that is named next, unless the agent keeps it already or a newer time is complete. A time
// that OpenFOAM removes becomes a directory there, by its name. Beside a namespace, and with the page below, paths in
// that directory of the case, `processor3`, go at once to where it lies: as the next variable says, or where the tree's
// link of this name leads.
inline constexpr const char* keep_variable = "FOREBAY_KEEP";
inline constexpr const char* handed_over_name = "handed-over";
// Optional, with it: the local directory that holds these times, where the tree that is bound over the case hides it:
// no link leads from one mount to another, though both be of one file system. It is the tree itself, or right in it.
inline constexpr const char* times_variable = "FOREBAY_TIMES";
// Optional, with the last one: a file of 64-bit words that the ranks of a node and their agent map together. While the
// first is not zero, ranks free nothing that they have handed over. The second is the number of places, one for each
// rank of the run (the first for the case itself): `hold_line` words behind the first so many. A place begins with the
// time (a double) that the rank left last, when it began another, and of which it lacks nothing; -infinity: none;
// infinity: the rank is not to be waited for. Then come the first and the last time that may lack something, where the
// first is no later than the last: the rank could not hand something over, or found the pool full when it had written
// it. The oldest of the times that ranks left last is complete where it lies between no rank's two: then it is told in
// the third word of all (-infinity: none), and what is older is freed by the rank that has handed it over. While the
// fourth is not zero, a rank's directory may have another name than it had, or hold a link that leads out of the case,
// and no path goes there at once.
inline constexpr const char* hold_variable = "FOREBAY_HOLD";
inline constexpr unsigned long hold_line = 8, hold_complete = 2, hold_renamed = 3, hold_left = 0,
                               hold_first_lacking = 1, hold_last_lacking = 2;
// A file system with less than this left gives no-space to nearly every write.
inline constexpr std::uint64_t as_good_as_full = std::uint64_t{64} << 10;
// Optional: a file that holds one WriteErrors, made and allocated by the agent before any program starts (a full pool
// must not kill who notes that it is full). All processes of a node write to it, the agent reads it while they run, and
// who resumes the run reads it afterwards.
inline constexpr const char* errors_variable = "FOREBAY_ERRORS";
struct WriteErrors {
  static constexpr std::uint64_t current_version = 1;
  static constexpr int slots = 7;

  // One call that failed with ENOSPC, EDQUOT or EIO on what lies in the tree.
  struct Slot {
    std::atomic<std::uint32_t> written;  // not zero: the rest of the slot is there
    std::int32_t error;                  // errno; 0: a stream had it, and kept no reason
    char path[1008];                     // in the case, or absolute; of a longer one the end, behind "..."
  };

  std::uint64_t version;             // set last by who makes the file; with another one nothing is noted
  std::uint64_t closing_fails;       // not zero: the pools' file systems may tell an error only when a file is closed
  std::atomic<std::uint64_t> count;  // of the calls that failed: each takes the slot of its number, if there is one
  std::atomic<std::uint64_t> programs;  // that have begun to note what fails
  std::uint64_t unused[4];
  Slot slot[slots];
};
static_assert(sizeof(WriteErrors) <= 8192);
// Optional: in a run whose ranks share directories, and whose pools lie on several mounts, where this rank's new files
// are made: `<run directory of its pool>/placed`, and the tree gets a link to each. `home`: in the tree itself; other
// ranks' files may be such links.
inline constexpr const char* socket_pool_variable = "FOREBAY_SOCKET_POOL";
inline constexpr const char* placed_name = "placed";
// FNV-1a of so many bytes; `from`: of what stands before them.
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;
constexpr std::uint64_t hash_of(const char* text, std::size_t size, std::uint64_t from = hash_of_nothing) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (std::size_t i = 0; i < size; ++i) from = (from ^ static_cast<unsigned char>(text[i])) * prime;
  return from;
}
// Names that begin so, then with the 16 hexadecimal digits of the FNV-1a hash of what `lower_variable` says, and "-",
// are the library's own, for a moment, while it copies a staged link up or takes a placed file's name away. They are
// hidden from listings and must not be drained. The hash is that of one run: whatever else is named like this is a
// program's. (They stand in the tree, since beside a namespace no other place is on the same mount.)
inline constexpr const char* temporary_prefix = ".forebay-up-";

}  // namespace forebay::redirect
