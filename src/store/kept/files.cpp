#include "store/kept/files.h"

#include <unistd.h>

#include <cerrno>

namespace forebay::kept {
namespace {

// Neither a pipe nor a device may stand there: opening those waits, or does something.
Result<Descriptor> open_regular(const Descriptor& directory, const std::string& name, const std::string& path) {
  auto file = open_file_at(directory.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (!file && file.error().errno_value == ENOENT) return Descriptor();
  struct stat status {};
  const bool regular = file && ::fstat(file->get(), &status) == 0 && S_ISREG(status.st_mode);
  if (regular || (!file && file.error().errno_value != ELOOP)) return file;
  return error(Code::lost, "no regular file:", join(path, name), "it is not followed");
}

}  // namespace

Result<Files> open_directory(const std::string& pool, const std::string& name) {
  Files files;
  auto opened = open_file(pool, O_PATH | O_DIRECTORY);
  if (!opened) return forward(opened);
  files.pool = std::move(*opened);
  opened = open_file_at(files.pool.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened) return forward(opened);
  files.directory = std::move(*opened);
  return files;
}

Status open_files(Files& files, const std::string& path) {
  auto store = open_regular(files.directory, "store", path);
  if (!store) return forward(store);
  auto segments = open_regular(files.directory, "segments", path);
  if (!segments) return forward(segments);
  files.store = std::move(*store);
  files.segments = std::move(*segments);
  return {};
}

Result<Files> open_part(const Part& part) {
  auto files = open_directory(part.pool, part.name);
  if (!files) return files;
  if (auto ok = open_files(*files, part.path); !ok) return forward(ok);
  return files;
}

Result<std::size_t> read_at(const Descriptor& file, std::uint64_t at, std::span<std::byte> to,
                            const std::string& path) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got = ::pread(file.get(), to.data() + done, to.size() - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace forebay::kept
