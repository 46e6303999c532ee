// A file of a grid while it is written: laid out, filled by threads in any order, checked; then its name may be given.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "arrays/array_file/array_file.h"
#include "meshes/multiply/names.h"

namespace forebay::multiply {

// ok where the file system of a path has so many bytes left.
Status ask_for_room(const std::string& path, std::uint64_t bytes);

class GridFile {
 public:
  // Lays the file out under a temporary name in the same directory; what was not given its name goes with this.
  static Result<std::unique_ptr<GridFile>> make(const std::string& path, array_file::Description description);
  ~GridFile();
  GridFile(const GridFile&) = delete;
  GridFile& operator=(const GridFile&) = delete;

  // The one of this name, which exists.
  const array_file::Array& array(std::string_view location, std::string_view name) const {
    return *description_.array(location, name);
  }
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const;  // of all arrays
  std::uint64_t written() const { return written_; }

  // Any thread may call this. Every byte of every array is written once.
  Status write(const array_file::Array& array, std::uint64_t first_byte, std::span<const std::byte> bytes);

  // Everything is written: the checksums, too; and on the disk.
  Status finish();
  // Its names; it has the final one once they are given.
  Result<Unnamed> unnamed() const;

 private:
  GridFile(std::string path, array_file::Description description);

  // False once it has its name, and where another program has taken the temporary one.
  bool has_its_temporary() const;

  const std::string path_;
  array_file::Description description_;
  const std::string temporary_;
  Descriptor file_;
  std::atomic<std::uint64_t> written_ = 0;
  std::mutex mutex_;  // of what follows
  array_file::Checks checks_;
};

// The bytes of one array from its beginning to its end, handed on in large pieces.
class Column {
 public:
  Column(GridFile& file, const array_file::Array& array) : file_(file), array_(array) {}

  template <class T>
  Status add(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return pending_.size() < kPending ? Status{} : flush();
  }
  Status flush();

 private:
  static constexpr std::size_t kPending = std::size_t{1} << 20;

  GridFile& file_;
  const array_file::Array& array_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> pending_;
};

}  // namespace forebay::multiply
