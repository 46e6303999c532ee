#include "meshes/multiply/grid_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::multiply {
namespace {

// Pieces are small and come from several threads: so many bytes at a time are worth a request of the disk.
constexpr std::uint64_t kWrittenBack = std::uint64_t{16} << 20;

}  // namespace

Status ask_for_room(const std::string& path, std::uint64_t bytes) {
  const std::string directory = directory_of(path);
  struct statvfs found {};
  if (::statvfs(directory.c_str(), &found) != 0) return errno_error("cannot ask for the room in", directory);
  const std::uint64_t free = std::uint64_t{found.f_bavail} * found.f_frsize;
  if (bytes <= free) return {};
  return error(Code::bad_input,
               fmt::format("needs {} where {} are left: no room in", human_bytes(bytes), human_bytes(free)), directory,
               "fewer levels, or another file system");
}

GridFile::GridFile(std::string path, array_file::Description description)
    : path_(std::move(path)),
      description_(std::move(description)),
      temporary_(temporary_of(path_)),
      checks_(description_.arrays.size()) {}

Result<std::unique_ptr<GridFile>> GridFile::make(const std::string& path, array_file::Description description) {
  std::unique_ptr<GridFile> made(new GridFile(path, std::move(description)));
  auto file = open_file(made->temporary_, O_RDWR | O_CREAT | O_EXCL, 0666);
  if (!file) return file.error().errno_value == EEXIST ? in_use(path) : forward(file);
  // Held as long as we live: make_way() of others sees it, where there are locks. Before that it may have taken the
  // file for one that was left, and its name away.
  const auto taken = take_lock(file->get(), made->temporary_);
  if (!taken) return forward(taken);
  if (!*taken) return in_use(path);
  made->file_ = std::move(*file);
  const auto laid_out = array_file::lay_out(made->file_.get(), path, made->description_);
  // Where there are no locks its name may be another program's by now; the library refuses a file that has lost its
  // own.
  if (!made->has_its_temporary()) return in_use(path);
  if (!laid_out) return forward(laid_out);
  return made;
}

GridFile::~GridFile() {
  if (file_ && has_its_temporary()) ::unlink(temporary_.c_str());
}

bool GridFile::has_its_temporary() const {
  struct stat mine {
  }, there{};
  return ::fstat(file_.get(), &mine) == 0 && ::lstat(temporary_.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

std::uint64_t GridFile::bytes() const {
  std::uint64_t bytes = 0;
  for (const array_file::Array& each : description_.arrays) bytes += each.bytes();
  return bytes;
}

Status GridFile::write(const array_file::Array& array, std::uint64_t first_byte, std::span<const std::byte> bytes) {
  if (auto ok = write_all_at(file_.get(), array.offset + first_byte, bytes, path_); !ok) return ok;
  const auto parts = array_file::part_checks(first_byte, bytes);
  const std::uint64_t before = written_.fetch_add(bytes.size());
  if (before / kWrittenBack != (before + bytes.size()) / kWrittenBack) begin_writing_back(file_.get(), 0, 0);
  const std::lock_guard lock(mutex_);
  auto& all = checks_[static_cast<std::size_t>(&array - description_.arrays.data())];
  all.insert(all.end(), parts.begin(), parts.end());
  return {};
}

Status GridFile::finish() {
  if (auto ok = array_file::write_checks(file_.get(), path_, description_, checks_); !ok) return forward(ok);
  if (::fsync(file_.get()) != 0) return errno_error("cannot sync", path_);
  return {};
}

Result<Unnamed> GridFile::unnamed() const {
  if (!has_its_temporary()) return in_use(path_);
  return Unnamed{temporary_, path_};
}

Status Column::flush() {
  if (auto ok = file_.write(array_, at_, pending_); !ok) return ok;
  at_ += pending_.size();
  pending_.clear();
  return {};
}

}  // namespace forebay::multiply
