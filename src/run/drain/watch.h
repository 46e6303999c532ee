// Watches local trees by inotify and tells what happened there in terms of case paths.
//
// Promises: after add_tree, every entry that comes to be below is told, as `found` or by the event of its making. A
// directory made later is watched before its content is listed, so nothing falls between (an entry may be told twice).
// Two kinds of directories are not watched: those that the caller wants only listed, and those that this user may not
// read. Links are never followed. An `overflow` tells that inotify cannot tell all (a full queue, no watches left). One
// thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/base.h"

namespace forebay::drain {

struct Event {
  enum class Kind {
    found,      // seen by listing a new directory: whether it is complete is not known
    created,    // a new name: file, directory or link
    closed,     // a file that was open for writing was closed
    moved_in,   // got this name by rename
    deleted,    // the name was removed
    moved_out,  // the name went away by rename
    overflow,   // events were lost; path empty
  };
  Kind kind;
  std::string path;  // relative to the case
  bool directory = false;
  bool link = false;  // found only: a symbolic link
  double when = -1;   // it came from the kernel then, or shortly before; of what was found it is not known

  bool gone() const { return kind == Kind::deleted || kind == Kind::moved_out; }
};

class Watcher {
 public:
  static Result<Watcher> open();

  // Watches `local_root`, which is the image of <case>/<prefix>, and all directories below it. Everything already in it
  // is staged, not told.
  Status add_tree(const std::string& local_root, const std::string& prefix);
  // Likewise a directory of such an image that has come to it since.
  Status add_directory(const std::string& local, const std::string& path);
  // Tells nothing of an image any more.
  void forget_tree(const std::string& local_root);
  // The events since the last call; never blocks. `now` is noted for events that come from the kernel only now. For the
  // content of a directory that was made or moved here, the caller asks descend().
  Result<std::vector<Event>> read(double now);
  // Whether what happens in a directory from now on is to be told.
  enum class Follow { watch, list };
  // Appends what is in and below a directory that read() has told of, nothing where it is gone; and `overflow` where it
  // cannot be watched. Again, for one that was only listed, to have it watched from now on.
  void descend(const std::string& path, Follow follow, std::vector<Event>& found);
  // Readable when there is something to read() that has not been taken in.
  int descriptor() const { return inotify_.get(); }
  // Takes what the kernel's queue holds (fs.inotify.max_queued_events, 16384 by default) for the next read(), as
  // long as that is not crowded. Cheaper than to ask how much it is, since it must be taken once.
  Status take_in(double now);
  bool has_taken_in() const { return taken_in_ > 0; }
  // True when an event that was taken in, or may still wait in the kernel, tells that `path`, or something below it,
  // was closed after writing. With `any`, it may also tell that the name was made, or given by a rename.
  enum class Change { closing, any };
  bool waits_for(std::string_view path, double now, Change change = Change::closing);
  // True when so much was taken in that it had better be read.
  bool crowded() const;

 private:
  struct Directory {
    std::string local, path;
  };

  explicit Watcher(Descriptor inotify);
  bool watch(const std::string& local, const std::string& path, Follow follow, std::vector<Event>* found);
  void forget_below(const std::string& path);
  void translate(std::uint32_t mask, int watch, const char* name, std::vector<Event>& events);

  Descriptor inotify_;
  std::unordered_map<int, Directory> directories_;  // by watch descriptor
  std::map<std::string, int> watches_;              // by case path
  std::vector<Directory> roots_;
  std::unique_ptr<char[]> events_;                           // as the kernel tells them
  std::size_t taken_in_ = 0;                                 // bytes of these
  std::vector<std::pair<std::size_t, double>> taken_until_;  // so many of the bytes were there then
};

}  // namespace forebay::drain
