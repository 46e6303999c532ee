// The journal of a run: one append-only file in the home pool that tells, after any crash, what was staged, drained,
// deleted by the program and kept. Lines of text, each with its own checksum; a torn last line is dropped, a damaged
// whole line is an error (Code::lost). The format is in docs/format.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
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
  // pools that survive the node. A torn last line, which a crash left, is cut off. One writer at a time. `budget`: the
  // bytes that the run may have in this pool, of which the journal reserves a part.
  static Result<Journal> open(const std::string& path, bool durable, std::uint64_t budget = UINT64_MAX);
  // Tells every whole record, in order; safe while another process appends. A caller that gets an error must not
  // believe what was told before it. The memory needed is small, however long the journal is.
  static Status replay(const std::string& path, const std::function<void(const Record&)>& take);
  // Reads all records at once.
  static Result<std::vector<Record>> read(const std::string& path);

  // All records reach the file by one write, in order. After a failure none of them counts: what was written of them is
  // cut off before anything else is appended. Thread-safe.
  Status append(const std::vector<Record>& records);
  Status append(const Record& record) { return append(std::vector<Record>{record}); }
  // Some room is reserved ahead, where the journal goes on when the pool is full. False: it is nearly used up, and the
  // pool has no more.
  bool has_room() const { return has_room_; }

  Journal(Journal&&) noexcept;

 private:
  Journal(Descriptor file, std::string path, bool durable, std::uint64_t budget)
      : file_(std::move(file)), path_(std::move(path)), durable_(durable), budget_(budget) {}
  Status write_lines(const std::string& lines);
  void reserve();
  std::mutex mutex_;
  Descriptor file_;
  std::string path_;
  std::uint64_t good_size_ = 0;  // everything before it is whole lines
  std::uint64_t renew_at_ = 0;   // what is reserved is half used up there
  std::atomic<bool> has_room_{true};
  bool torn_ = false;  // a failed append may have left bytes behind good_size_
  bool durable_ = false;
  std::uint64_t budget_;
};

}  // namespace forebay::drain
