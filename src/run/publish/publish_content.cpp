// The bytes of an output file: from its pieces to the case, and read again.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/page_buffer.h"
#include "run/publish/publish_parts.h"

namespace forebay::drain {
namespace {

// Fits in a core's second-level cache, so that hashing and writing find what reading brought.
constexpr std::size_t chunk = std::size_t{256} << 10;
// One sync of all of a large file could take longer than anybody waits for a single call.
constexpr std::uint64_t sync_interval = std::uint64_t{1} << 30;
constexpr mode_t set_id = S_ISUID | S_ISGID;
constexpr std::string_view changed_text = "changed while it was drained:";
constexpr std::string_view unreadable_text = "cannot be read in the local tree:";

// One buffer for each thread that publishes, kept: a fresh one would cost its page faults for every file.
std::span<std::byte> thread_buffer() {
  thread_local const PageBuffer buffer(chunk);
  return buffer.bytes();
}

tl::unexpected<Error> changed(const std::string& path, int errno_value, std::string_view advice = {}) {
  return tl::unexpected<Error>(Error{Code::failed, std::string(changed_text), path, errno_value, std::string(advice)});
}

// Gathers pieces into chunks: one write for each full buffer, whatever the sizes of the pieces. Without a
// context they are only read.
class ContentWriter {
 public:
  ContentWriter(const parts::Context* context, const layouts::OutputFile& file, int fd, const std::string& path)
      : context_(context), file_(file), fd_(fd), path_(path), buffer_(thread_buffer()) {}

  Status all_pieces() {
    for (const layouts::Piece& piece : file_.pieces) {
      auto put = piece.source.empty() ? literal(piece.literal) : range(piece);
      if (!put) return put;
    }
    struct stat now {};
    if (file_.must_keep_time && source_ && ::fstat(source_.get(), &now) == 0 &&
        identity_of(now).mtime_ns != file_.mtime_ns)
      return changed(source_path_, 0, "it was written to");
    return flush();
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t checksum() const { return checksum_.value(); }

 private:
  Status literal(std::string_view text) {
    while (!text.empty()) {
      if (auto room = make_room(); !room) return room;
      const std::size_t length = std::min(text.size(), buffer_.size() - filled_);
      std::memcpy(buffer_.data() + filled_, text.data(), length);
      filled_ += length;
      text.remove_prefix(length);
    }
    return {};
  }

  Status range(const layouts::Piece& piece) {
    if (auto opened = open_source(piece.source); !opened) return opened;
    std::uint64_t done = 0;
    while (done < piece.length) {
      if (auto room = make_room(); !room) return room;
      const std::size_t length =
          static_cast<std::size_t>(std::min<std::uint64_t>(piece.length - done, buffer_.size() - filled_));
      const ssize_t got =
          ::pread(source_.get(), buffer_.data() + filled_, length, static_cast<off_t>(piece.offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_error("cannot read", piece.source);
      if (got == 0)
        return changed(piece.source, 0, fmt::format("only {} of {} found there", done, plural(piece.length, "byte")));
      filled_ += static_cast<std::size_t>(got);
      done += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  Status flush() {
    auto rest = std::span<const std::byte>(buffer_.data(), filled_);
    if (rest.empty()) return {};
    if (context_ != nullptr && context_->settings.pace && !context_->settings.pace(rest.size()))
      return tl::unexpected<Error>(Error{Code::failed, "stopped while writing", path_, ECANCELED, {}});
    checksum_.add(rest);
    bytes_ += rest.size();
    while (context_ != nullptr && !rest.empty()) {
      auto put = context_->shared.write(fd_, rest, path_);
      if (!put) return forward(put);
      if (*put == 0) return error(Code::failed, "the shared file system takes no bytes of", path_);
      rest = rest.subspan(*put);
    }
    filled_ = 0;
    if (context_ != nullptr && bytes_ - synced_ >= sync_interval) {
      synced_ = bytes_;
      return context_->shared.sync(fd_, path_);
    }
    return {};
  }

  Status make_room() { return filled_ == buffer_.size() ? flush() : Status(); }

  Status open_source(const std::string& path) {
    if (source_ && path == source_path_) return {};
    // O_NONBLOCK: a pipe that took the file's name must not hold the mover up.
    // Without links on the way: a directory of the tree may have been replaced by one that leads elsewhere.
    // O_NOATIME: the time of access tells whether the program has read it.
    auto file = open_unlinked(path, O_RDONLY | O_NONBLOCK | O_NOATIME);
    if (!file && (file.error().errno_value == ENOENT || file.error().errno_value == ELOOP))
      return changed(path, file.error().errno_value);
    if (!file) return tl::unexpected<Error>(as_unreadable(file.error()));
    struct stat status {};
    if (::fstat(file->get(), &status) != 0) return errno_error("cannot stat", path);
    if (!S_ISREG(status.st_mode)) return changed(path, 0, "it is no regular file any more");
    // Set-id bits are for this very content.
    const bool same_rights = (status.st_mode & 07777) == file_.mode && owner_of(status) == file_.owner;
    if ((file_.mode & set_id) != 0 && file_.owner && !same_rights)
      return changed(path, 0, "it has another owner or mode");
    source_ = std::move(*file);
    source_path_ = path;
    return {};
  }

  const parts::Context* context_;
  const layouts::OutputFile& file_;
  int fd_;
  const std::string& path_;
  std::span<std::byte> buffer_;
  std::size_t filled_ = 0;
  Checksum checksum_;
  std::uint64_t bytes_ = 0, synced_ = 0;
  Descriptor source_;
  std::string source_path_;
};

struct Content {
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

Result<Content> read_content(SharedFiles& shared, const std::string& path) {
  auto file = shared.open_read(path);
  if (!file) return forward(file);
  Content content;
  Checksum sum;
  const auto buffer = thread_buffer();
  for (;;) {
    auto got = shared.read(file->get(), buffer, path);
    if (!got) return forward(got);
    if (*got == 0) break;
    sum.add(buffer.first(*got));
    content.bytes += *got;
  }
  content.checksum = sum.value();
  return content;
}

Status verify(const parts::Context& context, const parts::Written& written, const std::string& path) {
  if (static_cast<std::uint64_t>(written.made.st_size) != written.bytes)
    return error(Code::failed,
                 fmt::format("{} written, but {} found in", plural(written.bytes, "byte"), written.made.st_size), path);
  if (context.settings.verify != Verify::read_back) return {};
  const auto found = read_content(context.shared, path);
  if (!found) return forward(found);
  if (found->bytes != written.bytes || found->checksum != written.checksum)
    return error(Code::failed, "reads back different from what was written:", path);
  return {};
}

Result<parts::Written> write_link(const parts::Context& context, const layouts::OutputFile& file,
                                  const std::string& path, const parts::Made& made) {
  if (auto linked = context.shared.make_link(file.link_target, path); !linked) return forward(linked);
  const auto status = context.shared.status(path);
  if (!status) return forward(status);
  if (!*status) return error(Code::failed, "vanished from the case:", path);
  made(**status);
  if (const auto owner = given_to(file.owner, context.settings.local_group))
    (void)context.shared.set_link_owner(path, *owner);  // as far as this user may
  if (auto timed = context.shared.set_link_times(path, file.mtime_ns); !timed) return forward(timed);
  return parts::Written{{}, 0, checksum(file.link_target), **status};
}

}  // namespace

std::optional<Owner> given_to(const std::optional<Owner>& owner, std::optional<gid_t> local_group) {
  const bool by_itself =
      !owner || (owner->user == ::geteuid() && (owner->group == ::getegid() || owner->group == local_group));
  return by_itself ? std::nullopt : owner;
}

bool source_changed(const Error& error) {
  return error.what == changed_text;
}

bool source_unreadable(const Error& error) {
  return error.what == unreadable_text;
}

Result<bool> holds_same(SharedFiles& shared, const layouts::OutputFile& file, const std::string& path,
                        std::uint64_t expected) {
  ContentWriter reader(nullptr, file, -1, path);
  if (auto read = reader.all_pieces(); !read) return forward(read);
  if (expected != 0) return reader.checksum() == expected;
  return parts::same_content(shared, path, file, reader.bytes(), reader.checksum());
}

Result<std::uint64_t> checksum_of(const layouts::OutputFile& file) {
  ContentWriter reader(nullptr, file, -1, file.path);
  if (auto read = reader.all_pieces(); !read) return forward(read);
  return reader.checksum();
}

namespace {

layouts::OutputFile part_of(const std::string& local, std::uint64_t from, std::uint64_t until) {
  layouts::OutputFile file;
  file.pieces.push_back({"", local, from, until - from});
  return file;
}

}  // namespace

Result<bool> holds_beginning(SharedFiles& shared, const std::string& path, const std::string& local,
                             std::uint64_t size) {
  return holds_same(shared, part_of(local, 0, size), path, 0);
}

Result<std::uint64_t> checksum_of_part(const std::string& local, std::uint64_t from, std::uint64_t until) {
  return checksum_of(part_of(local, from, until));
}

Error as_unreadable(Error error) {
  const int reason = error.errno_value;
  if (reason == EACCES || reason == EPERM || reason == ENAMETOOLONG) error.what = unreadable_text;
  return error;
}

namespace parts {

Result<Written> write_output(const Context& context, const layouts::OutputFile& file, const std::string& path,
                             const Made& made, const std::optional<struct stat>& replaced) {
  if (!file.link_target.empty()) return write_link(context, file, path, made);
  SharedFiles& shared = context.shared;
  const bool has_set_id = (file.mode & set_id) != 0;
  // Whom it is to belong to; of what the program gave to nobody, whom the file that it replaces belongs to.
  auto owner = has_set_id ? file.owner : given_to(file.owner, context.settings.local_group);
  if (!owner && replaced) owner = owner_of(*replaced);
  // Until then it is of this user alone.
  auto created = shared.create(path, owner || has_set_id ? S_IRUSR | S_IWUSR : file.mode);
  if (!created) return forward(created);
  Written written;
  written.file = std::move(*created);
  const int fd = written.file.get();
  const auto fresh = shared.status(fd, path);
  if (!fresh) return forward(fresh);
  made(*fresh);

  ContentWriter writer(&context, file, fd, path);
  if (auto put = writer.all_pieces(); !put) return forward(put);
  written.bytes = writer.bytes();
  written.checksum = writer.checksum();

  mode_t mode = file.mode & ~set_id;
  if (owner && *owner != owner_of(*fresh)) (void)shared.set_owner(fd, owner->user, owner->group, path);
  if (has_set_id && file.owner) {
    const auto now = shared.status(fd, path);
    if (!now) return forward(now);
    if (now->st_uid == file.owner->user) mode |= file.mode & S_ISUID;
    if (now->st_gid == file.owner->group) mode |= file.mode & S_ISGID;
  }
  // The umask or an inherited access list changed the mode, too.
  if ((fresh->st_mode & 07777) != mode)
    if (auto set = shared.set_mode(fd, mode, path); !set) return forward(set);
  if (auto timed = shared.set_times(fd, file.mtime_ns, path); !timed) return forward(timed);
  if (auto synced = shared.sync(fd, path); !synced) return forward(synced);
  const auto status = shared.status(fd, path);
  if (!status) return forward(status);
  written.made = *status;
  written.without_set_id = (file.mode & set_id & ~status->st_mode) != 0;
  if (auto verified = verify(context, written, path); !verified) return forward(verified);
  return written;
}

Result<std::uint64_t> write_pieces(const Context& context, const layouts::OutputFile& file, int fd,
                                   const std::string& path) {
  ContentWriter writer(&context, file, fd, path);
  if (auto put = writer.all_pieces(); !put) return forward(put);
  return writer.bytes();
}

Result<std::optional<Written>> write_hard_link(const Context& context, const std::string& existing,
                                               const std::optional<Identity>& expected, const std::string& path,
                                               const Made& made) {
  if (auto linked = context.shared.make_hard_link(existing, path); !linked) {
    constexpr std::array impossible{EPERM, EMLINK, EOPNOTSUPP, ENOSYS, EXDEV, ENOENT};
    if (std::ranges::find(impossible, linked.error().errno_value) != impossible.end()) return std::nullopt;
    return forward(linked);
  }
  const auto status = context.shared.status(path);
  if (!status) return forward(status);
  if (!*status) return error(Code::failed, "vanished from the case:", path);
  made(**status);
  const Identity now = identity_of(**status);
  const bool same =
      !expected || (now.inode == expected->inode && now.size == expected->size && now.mtime_ns == expected->mtime_ns);
  if (same) return Written{{}, now.size, 0, **status};
  if (auto removed = context.shared.remove_file(path); !removed) return forward(removed);
  return std::nullopt;
}

Result<bool> same_content(SharedFiles& shared, const std::string& path, const layouts::OutputFile& file,
                          std::uint64_t bytes, std::uint64_t checksum) {
  const auto status = shared.status(path);
  if (!status) return forward(status);
  if (!*status) return false;
  if (!file.link_target.empty()) {
    if (!S_ISLNK((*status)->st_mode)) return false;
    const auto text = shared.read_link(path);
    if (!text) return forward(text);
    return *text == file.link_target;
  }
  if (!S_ISREG((*status)->st_mode) || static_cast<std::uint64_t>((*status)->st_size) != bytes) return false;
  const auto found = read_content(shared, path);
  if (!found) return forward(found);
  return found->bytes == bytes && found->checksum == checksum;
}

}  // namespace parts
}  // namespace forebay::drain
