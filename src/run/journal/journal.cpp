#include "run/journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace forebay::drain {
namespace {

constexpr std::string_view header_kind = "forebay-journal";
constexpr std::string_view format_version = "1";
// A checksum in hexadecimal digits and the blank behind it.
constexpr std::size_t checksum_width = 16;
// More than any run writes; nothing from outside makes us allocate without bound.
constexpr std::size_t size_limit = std::size_t{4} << 30;
// The bytes that are reserved at once: a part of what is free, or of the budget, enough for some ten thousand files at
// most, for some fifty at least.
constexpr std::uint64_t most_reserved = std::uint64_t{4} << 20, least_reserved = std::uint64_t{16} << 10;
constexpr std::uint64_t part_of_free = 8;

std::string line_of(const Record& record) {
  std::string words = escape(record.kind);
  for (const std::string& word : record.words) words += " " + escape(word);
  return hex(checksum(words)) + " " + words + "\n";
}

std::optional<Record> record_of(std::string_view line) {
  if (line.size() < checksum_width + 2 || line[checksum_width] != ' ') return std::nullopt;
  const std::string_view words = line.substr(checksum_width + 1);
  if (line.substr(0, checksum_width) != hex(checksum(words))) return std::nullopt;
  Record record;
  bool first = true;
  for (const std::string_view word : split(words, ' ')) {
    auto bytes = unescape(word);
    if (!bytes) return std::nullopt;
    if (first) {
      record.kind = std::move(*bytes);
    } else {
      record.words.push_back(std::move(*bytes));
    }
    first = false;
  }
  return record;
}

tl::unexpected<Error> damaged(const std::string& path, std::size_t line_number, std::string_view why) {
  return error(Code::lost, fmt::format("line {} {} in the journal", line_number, why), path,
               "the files it speaks of are untouched; compare the pool with the case by hand before cleaning");
}

// Passes on every whole line, without its line feed; returns the bytes of all of them. Bytes behind them are a torn
// line.
Result<std::uint64_t> each_line(int file, const std::string& path,
                                const std::function<Status(std::string_view line)>& take) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return errno_error("cannot stat", path);
  if (!S_ISREG(status.st_mode)) return error(Code::bad_input, "not a regular file, so not a journal:", path);
  if (static_cast<std::size_t>(status.st_size) > size_limit)
    return error(Code::bad_input, "too large for a journal:", path);
  constexpr std::size_t window = std::size_t{1} << 20;
  std::string content;
  std::uint64_t whole = 0;
  for (;;) {
    const std::size_t kept = content.size();
    content.resize(kept + window);
    const ssize_t got = ::pread(file, content.data() + kept, window, static_cast<off_t>(whole + kept));
    if (got < 0 && errno != EINTR) return errno_error("cannot read", path);
    content.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return whole;
    std::size_t begin = 0;
    for (std::size_t end = content.find('\n'); end != std::string::npos; end = content.find('\n', begin)) {
      if (auto taken = take(std::string_view(content).substr(begin, end - begin)); !taken) return forward(taken);
      begin = end + 1;
    }
    content.erase(0, begin);
    whole += begin;
  }
}

Status check_header(const Record& record, const std::string& path) {
  if (record.kind != header_kind || record.words.empty()) return error(Code::bad_input, "not a journal:", path);
  if (record.words[0] != format_version)
    return error(
        Code::bad_input,
        fmt::format("journal of version {}, this forebay reads {}:", printable(record.words[0]), format_version), path,
        "use the forebay that wrote it");
  return {};
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, bool durable, std::uint64_t budget) {
  auto file = open_file(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (!file) return forward(file);
  bool first = true;
  const auto whole = each_line(file->get(), path, [&](std::string_view line) -> Status {
    if (!std::exchange(first, false)) return {};
    const auto header = record_of(line);
    if (!header) return damaged(path, 1, "is damaged");
    return check_header(*header, path);
  });
  if (!whole) return forward(whole);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return errno_error("cannot stat", path);
  Journal journal(std::move(*file), path, durable, budget);
  journal.good_size_ = *whole;
  journal.torn_ = *whole != static_cast<std::uint64_t>(status.st_size);
  if (*whole == 0) {
    if (auto made = journal.append(Record{std::string(header_kind), {std::string(format_version)}}); !made)
      return forward(made);
    if (durable) {
      if (auto synced = sync_directory_of(path); !synced) return forward(synced);
    }
  }
  return journal;
}

Status Journal::replay(const std::string& path, const std::function<void(const Record&)>& take) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return forward(file);
  std::size_t number = 0;
  const auto whole = each_line(file->get(), path, [&](std::string_view line) -> Status {
    const auto record = record_of(line);
    if (!record) return damaged(path, number + 1, "is damaged");
    if (number++ == 0) return check_header(*record, path);
    take(*record);
    return {};
  });
  if (!whole) return forward(whole);
  return {};
}

Result<std::vector<Record>> Journal::read(const std::string& path) {
  std::vector<Record> records;
  auto replayed = replay(path, [&](const Record& record) { records.push_back(record); });
  if (!replayed) return forward(replayed);
  return records;
}

Status Journal::append(const std::vector<Record>& records) {
  std::string lines;
  for (const Record& record : records) lines += line_of(record);
  const std::lock_guard lock(mutex_);
  if (torn_) {
    if (::ftruncate(file_.get(), static_cast<off_t>(good_size_)) != 0)
      return errno_error("cannot cut a torn record off", path_);
    torn_ = false;
    renew_at_ = 0;
  }
  reserve();
  return write_lines(lines);
}

Status Journal::write_lines(const std::string& lines) {
  torn_ = true;
  if (auto written = write_all(file_.get(), lines, path_); !written) return written;
  if (durable_ && ::fdatasync(file_.get()) != 0) return errno_error("cannot sync", path_);
  good_size_ += lines.size();
  torn_ = false;
  return {};
}

void Journal::reserve() {
  struct statvfs room {};
  if (good_size_ < renew_at_ || ::fstatvfs(file_.get(), &room) != 0) return;
  const std::uint64_t free = std::min(budget_, std::uint64_t{room.f_bavail} * room.f_frsize);
  const std::uint64_t more = std::min(most_reserved, free / part_of_free);
  has_room_ = more >= least_reserved;
  if (!has_room_) return;
  if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(good_size_), static_cast<off_t>(more)) == 0)
    renew_at_ = good_size_ + more / 2;
}

Journal::Journal(Journal&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      good_size_(other.good_size_),
      renew_at_(other.renew_at_),
      has_room_(other.has_room_.load()),
      torn_(other.torn_),
      durable_(other.durable_),
      budget_(other.budget_) {}

}  // namespace forebay::drain
