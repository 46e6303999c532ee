// The journal of a run: one append-only file in the home pool that tells, after any crash, what was staged, drained,
// deleted by the program and kept. Lines of text, each with its own checksum; a torn last line is dropped, a damaged line
// in the middle is an error. The format is in docs/format.md.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/base.h"

namespace forebay::drain {

// A line: a kind and its words. Words may be any bytes (they are escaped on the medium).
struct Record {
  std::string kind;
  std::vector<std::string> words;
};

class Journal {
 public:
  // Appends to `path` (made when missing, mode 0600, O_NOFOLLOW). `durable`: every append is followed by fdatasync, for
  // pools that survive the node.
  static Result<Journal> open(const std::string& path, bool durable);
  // Every whole record, in order.
  static Result<std::vector<Record>> read(const std::string& path);

  // All records reach the file by one write, in order. Thread-safe.
  Status append(const std::vector<Record>& records);
  Status append(const Record& record) { return append(std::vector<Record>{record}); }

  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

 private:
  Journal(Descriptor file, std::string path, bool durable)
      : file_(std::move(file)), path_(std::move(path)), durable_(durable) {}
  std::mutex mutex_;
  Descriptor file_;
  std::string path_;
  bool durable_ = false;
};

}  // namespace forebay::drain
