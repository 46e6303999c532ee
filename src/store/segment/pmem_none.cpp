#include "store/segment/pmem.h"

namespace forebay::segment {

Result<std::optional<PersistentMapping>> map_persistent(int, std::uint64_t, std::uint64_t, const std::string&) {
  return std::nullopt;
}

Result<std::uint64_t> bytes_of_device(int, const std::string& path) {
  return error(Code::bad_input, "this forebay is built without libpmem2, which devices need:", path,
               "make a file system on it and mount that, or build forebay with libpmem2");
}

}  // namespace forebay::segment
