#include <fmt/format.h>

#include <cerrno>

#include "store/segment/copy.h"
#include "store/segment/medium.h"
#include "store/segment/range.h"

namespace forebay::segment {
namespace {

// Segments in a range of a device, which is mapped and has its room already.
class RangeMemory final : public Medium {
 public:
  explicit RangeMemory(StoreRange& range) : range_(range), persist_(range.device().persist()) {}

  std::string_view kind() const override { return "devdax"; }

  Result<Mapping> make(std::uint32_t slot, std::uint64_t bytes) override {
    auto mapping = map(slot, bytes);
    if (!mapping) return mapping;
    if (auto ok = touch(mapping->bytes, range_.path()); !ok) return forward(ok);
    return mapping;
  }

  Result<Mapping> map(std::uint32_t slot, std::uint64_t bytes) override {
    const auto all = range_.segments();
    if ((slot + std::uint64_t{1}) * bytes > all.size()) {
      errno = ENOSPC;
      return errno_error(fmt::format("no room for a segment behind the first {} in", slot), range_.path());
    }
    return Mapping{all.subspan(slot * bytes, bytes), range_.device().owner()};
  }

  int store(void* to, const void* from, std::size_t bytes) noexcept override {
    persist_.copy(to, from, bytes, persist_.copy_flags);
    return 0;
  }
  int flush(const void* from, std::size_t bytes) noexcept override {
    if (durable_) persist_.flush(from, bytes);
    return 0;
  }
  int fence() noexcept override {
    durable_ ? persist_.drain() : order_stores();
    return 0;
  }

  bool persistent() const override { return true; }
  void set_durable(bool durable) override { durable_ = durable; }

 private:
  StoreRange& range_;
  Persist persist_;
  bool durable_ = false;
};

}  // namespace

std::unique_ptr<Medium> memory_of_range(StoreRange& range) {
  return std::make_unique<RangeMemory>(range);
}

}  // namespace forebay::segment
