#include <libpmem2.h>

#include <cerrno>
#include <memory>

#include "store/segment/pmem.h"

namespace forebay::segment {
namespace {

tl::unexpected<Error> failed(const char* what, const std::string& path, int code) {
  // libpmem2 has error numbers of its own, from 100000 on, beyond those of the system.
  constexpr int kOwn = 100000;
  errno = -code < kOwn ? -code : EIO;
  return errno_error(what, path, pmem2_errormsg());
}

}  // namespace

Result<std::optional<PersistentMapping>> map_persistent(int file, std::uint64_t offset, std::uint64_t bytes,
                                                        const std::string& path) {
  pmem2_config* config = nullptr;
  if (const int code = pmem2_config_new(&config); code != 0) return failed("cannot prepare to map", path, code);
  const std::unique_ptr<pmem2_config, void (*)(pmem2_config*)> config_owner(config,
                                                                            [](auto* c) { pmem2_config_delete(&c); });
  pmem2_source* source = nullptr;
  if (const int code = pmem2_source_from_fd(&source, file); code != 0) return failed("cannot map", path, code);
  const std::unique_ptr<pmem2_source, void (*)(pmem2_source*)> source_owner(source,
                                                                            [](auto* s) { pmem2_source_delete(&s); });
  pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_CACHE_LINE);
  pmem2_config_set_offset(config, offset);
  pmem2_config_set_length(config, bytes);
  pmem2_map* map = nullptr;
  if (const int code = pmem2_map_new(&map, config, source); code != 0) {
    if (code == PMEM2_E_GRANULARITY_NOT_SUPPORTED) return std::nullopt;
    return failed("cannot map", path, code);
  }
  PersistentMapping made;
  made.mapping.owner = std::shared_ptr<void>(map, [](void* m) {
    auto* owned = static_cast<pmem2_map*>(m);
    pmem2_map_delete(&owned);
  });
  made.mapping.bytes = {static_cast<std::byte*>(pmem2_map_get_address(map)), bytes};
  made.persist = {pmem2_get_flush_fn(map), pmem2_get_drain_fn(map), pmem2_get_memcpy_fn(map),
                  PMEM2_F_MEM_NONTEMPORAL | PMEM2_F_MEM_NODRAIN};
  return std::optional(std::move(made));
}

Result<std::uint64_t> bytes_of_device(int file, const std::string& path) {
  pmem2_source* source = nullptr;
  std::size_t bytes = 0;
  int code = pmem2_source_from_fd(&source, file);
  if (code == 0) code = pmem2_source_size(source, &bytes);
  pmem2_source_delete(&source);
  if (code != 0) return failed("cannot examine the device", path, code);
  return bytes;
}

}  // namespace forebay::segment
