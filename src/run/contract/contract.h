// contract: what whoever starts programs, the node's agent and libforebay_redirect.so in these programs agree on.
//
// contract.h has the names of environment variables and of directories. pages.h has the files that all of them map,
// time_name.h the names of times, kept_name.h those of purged files, and text.h the same for code with a C++ runtime.
// Promises: all but text.h are constants, structs and constexpr functions. They need no library, no
// allocation, no locale and no errno, so that they may stand in every program of a run. Must not know: any other room.
//
// A change of anything in these files that one side would not understand needs another `version`. The agent
// writes its own into the ranks' page (pages.h). A library that finds another one there leaves its program alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::contract {

inline constexpr std::uint64_t version = 2;

// The name of the run, for whoever looks for its processes. The library does not read it.
inline constexpr const char* run_variable = "FOREBAY_RUN";
// Absolute canonical path of the case on the shared file system.
inline constexpr const char* case_variable = "FOREBAY_CASE";
// Optional: further absolute prefixes that lead to the case, as a list (see next_of_word()).
inline constexpr const char* aliases_variable = "FOREBAY_CASE_ALIASES";
// Absolute canonical path of the local tree. Equal to the case where the tree is bound over it (namespace).
inline constexpr const char* tree_variable = "FOREBAY_TREE";
// The directory that staged links point into: a staged link is one whose text begins with this and a '/'.
inline constexpr const char* lower_variable = "FOREBAY_LOWER";
// Optional: run directories of the pools, as a list. A link whose text lies in one is shown as what it leads to; the
// tree's root holds such links for ranks' directories, named `processor...`.
inline constexpr const char* pools_variable = "FOREBAY_POOLS";
// Optional: a file of at least 4 bytes; while its first 32-bit word is not zero, opening for writing in the tree waits.
inline constexpr const char* gate_variable = "FOREBAY_GATE";
// Optional: where what this rank purges goes, named by the directory of the case that holds its times:
// ".../processor3", ".../processors4_2-3" for the first rank of a group, or ".../serial" for the case itself. A time
// that the program removes gets a name there, and so does each file that it removes by itself (kept_name.h). Only the
// agent frees them. Beside a namespace, and with the ranks' page, paths in that directory of the case, `processor3`, go
// at once to where it lies: as the next variable says, or where the tree's link of this name leads.
inline constexpr const char* keep_variable = "FOREBAY_KEEP";
// Optional, with it: the local directory that holds these times, where the tree that is bound over the case hides it:
// no link leads from one mount to another, though both be of one file system. It is the tree itself, or right in it.
inline constexpr const char* times_variable = "FOREBAY_TIMES";
// Optional: the ranks' page (pages.h). Its words are used with `keep_variable` only.
inline constexpr const char* page_variable = "FOREBAY_PAGE";
// Optional: the page of calls that failed (pages.h).
inline constexpr const char* errors_variable = "FOREBAY_ERRORS";
// Optional: in a run whose ranks share directories, and whose pools lie on several mounts, where this rank's new files
// are made: `<run directory of its pool>/placed`, and the tree gets a link to each. `home`: in the tree itself; other
// ranks' files may be such links.
inline constexpr const char* socket_pool_variable = "FOREBAY_SOCKET_POOL";

// The beginning of the names of ranks' directories: "processor3".
inline constexpr const char* rank_prefix = "processor";
inline constexpr std::size_t rank_prefix_size = 9;
inline constexpr const char* serial_name = "serial";
inline constexpr const char* placed_name = "placed";

// Unsuperseded times that are held at most (run/core/restartable.h).
inline constexpr std::size_t most_restart_points = 4;

constexpr int hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// In a list ':' separates paths; ':' and '%' in a path are written as %3A and %25 (text.h). The path's byte that is
// written at `at`, which moves behind it.
constexpr char next_of_word(const char* word, std::size_t size, std::size_t& at) {
  if (word[at] == '%' && at + 2 < size) {
    const int high = hexadecimal_digit(word[at + 1]), low = hexadecimal_digit(word[at + 2]);
    if (high >= 0 && low >= 0) {
      at += 3;
      return static_cast<char>(high * 16 + low);
    }
  }
  return word[at++];
}

// FNV-1a of so many bytes; `from`: of what stands before them.
inline constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;
constexpr std::uint64_t hash_of(const char* text, std::size_t size, std::uint64_t from = hash_of_nothing) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (std::size_t i = 0; i < size; ++i) from = (from ^ static_cast<unsigned char>(text[i])) * prime;
  return from;
}
// The library's own names begin so, then have the 16 hexadecimal digits of the hash of `lower_variable`'s value, and
// "-". They exist for a moment, while the library copies a staged link up or takes a placed file's name away. They are
// hidden from listings and must not be drained. The hash is that of one run: whatever else is named like this is a
// program's. (They stand in the tree, since beside a namespace no other place is on the same mount.)
inline constexpr const char* temporary_prefix = ".forebay-up-";

}  // namespace forebay::contract
