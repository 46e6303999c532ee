#include <sys/stat.h>

#include <algorithm>

#include "arrays/array_file/read_at.h"
#include "arrays/carry/carry.h"

namespace forebay::carry {
namespace {

// The arrays and their checksums in rising order of offsets, to know what lies between them.
std::vector<std::pair<std::uint64_t, std::uint64_t>> occupied(const array_file::Description& description) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const array_file::Array& each : description.arrays) {
    ranges.emplace_back(each.offset, each.bytes());
    ranges.emplace_back(each.checks_offset, array_file::pieces_of(each.bytes()) * sizeof(std::uint32_t));
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

}  // namespace

Result<std::vector<slots::Stretch>> layout_of(int file, const std::string& path_for_errors,
                                              const array_file::Description& description) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return errno_error("cannot examine", path_for_errors);
  auto ranges = occupied(description);
  ranges.emplace_back(status.st_size, 0);
  std::vector<slots::Stretch> layout;
  std::uint64_t end = 0;
  for (const auto& [first, bytes] : ranges) {
    if (first > end) {
      std::string between(first - end, '\0');
      if (auto ok = array_file::read_at(file, end, std::as_writable_bytes(std::span(between)), path_for_errors); !ok)
        return forward(ok);
      // The following bytes come later, and leave a hole: a megabyte of zeros before an aligned array need not travel.
      if (bytes > 0) between.resize(between.find_last_not_of('\0') + 1);
      if (!between.empty()) layout.push_back({end, std::move(between)});
    }
    end = std::max(end, first + bytes);
  }
  return layout;
}

}  // namespace forebay::carry
