#include "arrays/checks.h"

namespace forebay::arrays {

Status write_checks(int file, const std::string& path_for_errors, const Description& description,
                    const Checks& checks) {
  for (std::size_t i = 0; i < description.arrays.size(); ++i) {
    const Array& array = description.arrays[i];
    const auto whole = whole_checks(checks[i], array.bytes());
    if (!whole) return forward(whole);
    const auto bytes = std::as_bytes(std::span(*whole));
    if (auto ok = write_all_at(file, array.checks_offset, bytes, path_for_errors); !ok) return ok;
  }
  return {};
}

}  // namespace forebay::arrays
