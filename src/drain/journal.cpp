#include "drain/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::drain {
namespace {

constexpr std::string_view header_kind = "forebay-journal";
constexpr std::string_view version = "1";
// A checksum in hexadecimal digits and the blank behind it.
constexpr std::size_t checksum_width = 16;
// More than any run writes; nothing from outside makes us allocate without bound.
constexpr std::size_t size_limit = std::size_t{4} << 30;

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

Result<std::string> content_of(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return errno_error("cannot stat", path);
  if (!S_ISREG(status.st_mode)) return error(Code::bad_input, "not a regular file, so not a journal:", path);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > size_limit) return error(Code::bad_input, "too large for a journal:", path);
  std::string content(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(file, content.data() + filled, size - filled, static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

// The bytes up to and with the last line feed; what follows is torn.
std::string_view whole_lines(std::string_view content) {
  const std::size_t end = content.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : content.substr(0, end + 1);
}

Status check_header(const Record& record, const std::string& path) {
  if (record.kind != header_kind || record.words.empty()) return error(Code::bad_input, "not a journal:", path);
  if (record.words[0] != version)
    return error(Code::bad_input,
                 fmt::format("journal of version {}, this forebay reads {}:", printable(record.words[0]), version),
                 path, "use the forebay that wrote it");
  return {};
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, bool durable) {
  auto file = open_file(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (!file) return forward(file);
  auto content = content_of(file->get(), path);
  if (!content) return forward(content);
  const std::string_view whole = whole_lines(*content);
  if (!whole.empty()) {
    const auto first = record_of(whole.substr(0, whole.find('\n')));
    if (!first) return damaged(path, 1, "is damaged");
    if (auto known = check_header(*first, path); !known) return forward(known);
  }
  Journal journal(std::move(*file), path, durable);
  journal.good_size_ = whole.size();
  journal.torn_ = whole.size() != content->size();
  if (whole.empty()) {
    if (auto made = journal.append(Record{std::string(header_kind), {std::string(version)}}); !made)
      return forward(made);
    if (durable) {
      const std::string parent(parent_of(path));
      auto directory = open_file(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
      if (!directory) return forward(directory);
      if (::fsync(directory->get()) != 0) return errno_error("cannot sync", parent);
    }
  }
  return journal;
}

Result<std::vector<Record>> Journal::read(const std::string& path) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return forward(file);
  auto content = content_of(file->get(), path);
  if (!content) return forward(content);
  std::vector<Record> records;
  std::string_view rest = whole_lines(*content);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    auto record = record_of(rest.substr(0, end));
    if (!record) return damaged(path, number, "is damaged");
    rest.remove_prefix(end + 1);
    if (number > 1) {
      records.push_back(std::move(*record));
    } else if (auto known = check_header(*record, path); !known) {
      return forward(known);
    }
  }
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
  }
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

Journal::Journal(Journal&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      good_size_(other.good_size_),
      torn_(other.torn_),
      durable_(other.durable_) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  if (this != &other) {
    const std::scoped_lock both(mutex_, other.mutex_);
    file_ = std::move(other.file_);
    path_ = std::move(other.path_);
    good_size_ = other.good_size_;
    torn_ = other.torn_;
    durable_ = other.durable_;
  }
  return *this;
}

}  // namespace forebay::drain
