#include "arrays/array_file/checks.h"

#include <fcntl.h>

#include "arrays/array_file/read_at.h"

namespace forebay::array_file {
namespace {

// The checksum of numbers, little endian as they are in the file.
class Content {
 public:
  explicit Content(const Description& description) : words_{checksum_of(description)} {}
  void add(std::span<const std::uint32_t> checks) { words_.insert(words_.end(), checks.begin(), checks.end()); }
  std::uint32_t checksum() const { return crc32(std::as_bytes(std::span(words_))); }

 private:
  std::vector<std::uint32_t> words_;
};

}  // namespace

Result<std::uint32_t> write_checks(int file, const std::string& path_for_errors, const Description& description,
                                   const Checks& checks) {
  Content content(description);
  for (std::size_t i = 0; i < description.arrays.size(); ++i) {
    const Array& array = description.arrays[i];
    const auto whole = whole_checks(checks[i], array.bytes());
    if (!whole) return forward(whole);
    const auto bytes = std::as_bytes(std::span(*whole));
    if (auto ok = write_all_at(file, array.checks_offset, bytes, path_for_errors); !ok) return forward(ok);
    content.add(*whole);
  }
  return content.checksum();
}

Result<std::uint32_t> content_checksum(const std::string& path, const Description& description) {
  const auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  Content content(description);
  for (const Array& array : description.arrays) {
    const auto checks = read_checks(file->get(), path, array);
    if (!checks) return forward(checks);
    content.add(*checks);
  }
  return content.checksum();
}

}  // namespace forebay::array_file
