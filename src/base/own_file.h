// A file that is one process's alone, and how a process tells that it was forked from another.
#pragma once

#include <utility>

#include "base/file.h"

namespace forebay {

// How many forks lie between this process and the first one that asked: another number means another process. A process
// that is to be told from its children asks before it forks.
unsigned forks();

// Closed in a child that is forked: it would keep the file's locks, and the room of one that has no name any more, for
// as long as it lives. Its end gives the locks back, also where a child has the file yet. In a child it is nothing.
class OwnFile {
 public:
  OwnFile() = default;
  explicit OwnFile(Descriptor file);
  OwnFile(OwnFile&& other) noexcept : file_(std::move(other.file_)), forks_(other.forks_) {}
  OwnFile& operator=(OwnFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(forks_, other.forks_);
    return *this;
  }
  ~OwnFile() { reset(); }
  void reset();
  int get() const { return file_.get(); }
  explicit operator bool() const { return static_cast<bool>(file_); }

 private:
  Descriptor file_;
  unsigned forks_ = 0;  // of the process whose file it is
};

}  // namespace forebay
