// Opens ranges of a device whose table and heads were changed in any way, and uses what opens: never a crash, a hang or
// a byte outside of the range. A file without a name stands for the device. Changed entries can be sealed again, so
// that their checks fit.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "store/segment/medium.h"
#include "store/segment/range.h"

namespace {

using namespace forebay;
using namespace forebay::segment;

constexpr std::uint64_t kBytes = 6 * kDeviceUnit;
constexpr std::uint64_t kTable = std::uint64_t{256} << 10;
constexpr int kEntries = 6;

void must(bool holds) {
  if (!holds) std::abort();
}

// As docs/format.md says, "On a device".
struct Entry {
  char name[232];
  std::uint64_t begin, bytes, state;
};
static_assert(sizeof(Entry) == 256);
constexpr std::uint64_t kSalt = 0x6465766963650001;
constexpr std::array<std::uint64_t, 2> kStates{0x494e555345494e55, 0x4b4550544b455054};

class Memory {
 public:
  Memory() : file_(::memfd_create("device", MFD_CLOEXEC)) {
    must(file_ >= 0 && ::ftruncate(file_, kBytes) == 0);
    void* const at = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    must(at != MAP_FAILED);
    bytes_ = {static_cast<std::byte*>(at), kBytes};
  }
  std::span<std::byte> bytes() const { return bytes_; }
  // Each has locks of its own.
  Device device() const {
    auto file = open_file("/proc/self/fd/" + std::to_string(file_), O_RDWR);
    must(file.has_value());
    PersistentMapping mapping;
    mapping.mapping.bytes = bytes_;
    mapping.persist.flush = [](const void*, std::size_t) {};
    mapping.persist.drain = [] {};
    mapping.persist.copy = [](void* to, const void* from, std::size_t count, unsigned) {
      return std::memcpy(to, from, count);
    };
    return {std::move(*file), std::move(mapping), "device"};
  }

 private:
  int file_;
  std::span<std::byte> bytes_;
};

std::string name_from(FuzzedDataProvider& input) {
  return input.ConsumeBool() ? "wake-0" : input.ConsumeRandomLengthString(231);
}

void write_table(FuzzedDataProvider& input, std::span<std::byte> device) {
  std::memset(device.data(), 0, kTable);
  std::memcpy(device.data(), "forebay\1", 8);
  for (int i = input.ConsumeIntegralInRange(0, kEntries); i > 0; --i) {
    Entry entry{};
    name_from(input).copy(entry.name, sizeof(entry.name));
    const std::uint64_t unit = input.ConsumeIntegralInRange<std::uint64_t>(0, kBytes / kDeviceUnit);
    entry.begin = input.ConsumeBool() ? unit * kDeviceUnit : input.ConsumeIntegral<std::uint64_t>();
    entry.bytes = input.ConsumeBool() ? 2 * kDeviceUnit : input.ConsumeIntegral<std::uint64_t>();
    entry.state = XXH3_64bits_withSeed(&entry, offsetof(Entry, state), kSalt) ^ kStates[input.ConsumeBool() ? 1 : 0];
    if (input.ConsumeBool()) entry.state = input.ConsumeBool() ? 0 : input.ConsumeIntegral<std::uint64_t>();
    std::memcpy(device.data() + static_cast<std::size_t>(i) * sizeof(entry), &entry, sizeof(entry));
  }
}

// At the beginning of any unit, where a range may begin.
void write_head(FuzzedDataProvider& input, std::span<std::byte> device) {
  StoreHead head;
  head.store = 0x1234;
  head.segment_bytes = input.ConsumeBool() ? 8192 : input.ConsumeIntegral<std::uint64_t>();
  head.fields = {{"u", 2, 100}};
  std::string bytes = encode_head(head, 1);
  const std::string with = input.ConsumeRandomLengthString(64);
  with.copy(bytes.data() + input.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 64), with.size());
  const auto unit = input.ConsumeIntegralInRange<std::uint64_t>(1, kBytes / kDeviceUnit - 1);
  std::memcpy(device.data() + unit * kDeviceUnit, bytes.data(), bytes.size());
}

void use(FuzzedDataProvider& input, StoreRange& range) {
  const auto head = range.read_head();
  (void)range.has_segments();
  const std::uint64_t segment_bytes = head && *head ? (*head)->head.segment_bytes : 8192;
  std::array<std::byte, 256> bytes{};
  (void)range.read(input.ConsumeIntegral<std::uint64_t>(), bytes);
  if (segment_bytes % page_bytes() != 0 || segment_bytes == 0) return;  // what Store::open refuses
  must(range.room(segment_bytes).has_value());
  StoreHead made;
  made.store = 1;
  made.segment_bytes = 8192;
  if (input.ConsumeBool()) must(range.write_head(made, 1, {}).has_value());
  (void)range.keep(input.ConsumeBool());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Memory memory;
  FuzzedDataProvider input(bytes, size);
  write_table(input, memory.bytes());
  for (int i = input.ConsumeIntegralInRange(0, 3); i > 0; --i) write_head(input, memory.bytes());
  for (int i = 0; i < 3; ++i) {
    auto range = StoreRange::open(memory.device(), name_from(input), input.ConsumeBool(), kDeviceUnit / 2);
    if (range) use(input, *range);
  }
  return 0;
}
