// tree: the case as one node sees it, made of links, copies and directories in a pool.
//
// Directories of the case become directories, and files with several names in it copies with these names. Other files
// become symbolic links that point below `lower` (read once, no copy) or copies (read often, may be rewritten, or asked
// for). Symbolic links of the case stay as they are. A file that a program then makes is an ordinary file; telling
// outputs from inputs is one lstat. Promises: the case is only read. Nothing is followed out of it, but for the
// directory that is to be staged itself. A copy is verified before it gets its name. Staging twice into the same place
// does only what is missing. Must not know: how outputs go home (drain), how processes get here (launch).
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"

namespace forebay::tree {

// So begins the name of what forebay makes ready beside a local tree.
inline constexpr std::string_view beside_prefix = ".fb-";

enum class Kind {
  directory,  // made
  link,       // a regular file of the case, or a directory that may not be read, as a symbolic link to <lower>/<path>
  copy,       // a regular file of the case, copied
  symlink,    // a symbolic link of the case, made anew with the same text
};

// A copy in the local tree. Where it still is this file, and nothing opened it for writing, it has its content.
struct Copied {
  std::uint64_t inode = 0;  // 0: not known
  std::int64_t ctime_ns = 0;
  friend bool operator==(const Copied&, const Copied&) = default;
};

// One entry of the case as it was staged.
struct Entry {
  std::string path;  // relative to the case; "" is the case itself
  Kind kind = Kind::link;
  mode_t mode = 0;             // permission bits
  Identity identity;           // of the entry on the case when it was staged
  std::string target;          // symlink only
  Owner owner = {};            // on the case
  std::string first = {};      // copy only: the entry that brings the content, where this is another name of that file
  Copied copied = {};          // copy only, see note_copies()
  std::uint64_t checksum = 0;  // copy only: XXH3-64 of its content; 0: not known
};

struct StageRequest {
  std::string case_path;   // absolute, resolved
  std::string below;       // stage only this directory of the case ("processor3"), or "" for all of it
  std::string local_root;  // becomes the local image of <case_path>/<below>
  std::string lower;       // what links point into: <lower>/<path relative to the case>
  std::function<bool(const std::string& path)>
      skip;  // entries (and what is below them) that are left out; may be empty
  std::function<bool(const std::string& path)> copy;  // regular files that are copied; may be empty
  int threads = 4;
  // The way in which the bytes of copies reach the pool.
  using Write = std::function<Status(int fd, std::span<const std::byte> bytes, const std::string& path)>;
  Write write = [](int fd, std::span<const std::byte> bytes, const std::string& path) {
    return write_all(fd, bytes, path);
  };
};
// The path of an entry in the local image.
std::string local_path(const StageRequest& request, const Entry& entry);
std::string local_path(const StageRequest& request, const std::string& path);
// Where it is made before it gets that name: beside the image, in which nothing of ours may be taken for a program's.
std::string temporary_path(const StageRequest& request, const Entry& entry);

// Reads the case and decides; makes nothing. Parents come before their children. Other kinds of file (sockets, pipes,
// devices) are left out and named in `left_out`.
struct Inputs {
  std::vector<Entry> entries;
  std::vector<std::string> left_out;
  std::uint64_t copy_bytes = 0, copy_files = 0, link_files = 0;
};
Result<Inputs> list_inputs(const StageRequest& request);

// How far carry_out is; may be read by another thread.
struct StageProgress {
  std::atomic<std::uint64_t> bytes{0}, files{0};
  std::atomic<std::uint64_t> kept_bytes{0}, kept_files{0};  // of these: were there already
};
// Makes what `inputs` lists, and notes the checksums of what it copies. A copy that is already there with the size and
// time of its original is kept, so an interrupted stage goes on where it stopped. A file that changes while it is
// copied is an error, of kind conflict: what was read may be a mixture. An error names the first entry that failed.
Status carry_out(const StageRequest& request, Inputs& inputs, StageProgress& progress);
// Notes which local files the copies are, before any program finds them.
void note_copies(const StageRequest& request, std::vector<Entry>& entries);

// Shows beside the local tree what lies beside the case, as links: for a program whose ".." is the directory above it.
Result<std::vector<std::string>> show_beside(const std::string& case_path, const std::string& tree);

// True when `target` (the text of a symbolic link) is one that staging made for `path`: "<lower>/<path>".
bool is_staged_link(std::string_view target, std::string_view lower);

// Shell patterns (fnmatch without FNM_PATHNAME, so "*" also matches "/"); a pattern that names a directory matches all
// below it.
bool matches_any(const std::vector<std::string>& patterns, const std::string& path);

}  // namespace forebay::tree
