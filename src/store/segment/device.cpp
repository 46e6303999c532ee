#include "store/segment/device.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

namespace forebay::segment {

// `state` is 0 (free), or the check of what stands before it combined with one of the two words below. It is written
// last and as one word, so an entry is there whole or not at all.
struct DeviceEntry {
  char name[232] = {};
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t state = 0;

  std::uint64_t check() const noexcept {
    constexpr std::uint64_t kSalt = 0x6465766963650001;
    return XXH3_64bits_withSeed(this, offsetof(DeviceEntry, state), kSalt);
  }
  std::uint64_t end() const noexcept { return begin + bytes; }
};
static_assert(sizeof(DeviceEntry) == 256);

namespace {

constexpr std::uint64_t kInUse = 0x494e555345494e55;
constexpr std::uint64_t kKept = 0x4b4550544b455054;

// The first word of a device that has a table: "forebay", and the version of the format as its last byte.
constexpr unsigned kVersionShift = 56;
constexpr std::uint64_t kDeviceVersion = 1;
constexpr std::uint64_t kMark = 0x0079616265726f66;
constexpr std::uint64_t kTableBytes = std::uint64_t{256} << 10;
constexpr std::size_t kEntries = kTableBytes / sizeof(DeviceEntry) - 1;

bool is_kept(const DeviceEntry& entry) {
  return entry.state == (entry.check() ^ kKept);
}

// Locks of the open file, not of the process (fcntl(2), "Open file description locks"): two trajectories of one process
// exclude each other, and a lock goes with its holder however that ends.
int lock_bytes(int file, int command, short type, std::uint64_t begin, std::uint64_t bytes, bool* held = nullptr) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(begin);
  lock.l_len = static_cast<off_t>(bytes);
  int failed = 0;
  do {
    failed = ::fcntl(file, command, &lock);
  } while (failed != 0 && errno == EINTR);
  if (held != nullptr) *held = lock.l_type != F_UNLCK;
  return failed;
}

std::uint64_t round_to_units(std::uint64_t bytes) {
  return (bytes + kDeviceUnit - 1) / kDeviceUnit * kDeviceUnit;
}

}  // namespace

// Held while the table is read or changed: microseconds.
class Device::TableLock {
 public:
  explicit TableLock(const Device& device)
      : file_(device.file_.get()), failed_(lock_bytes(file_, F_OFD_SETLKW, F_WRLCK, 0, kTableBytes) != 0) {}
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  ~TableLock() { (void)lock_bytes(file_, F_OFD_SETLK, F_UNLCK, 0, kTableBytes); }
  bool failed() const { return failed_; }

 private:
  int file_;
  bool failed_;
};

Result<Device> Device::open(const std::string& path) {
  auto file = open_file(path, O_RDWR);
  if (!file) return forward(file);
  auto bytes = bytes_of_device(file->get(), path);
  if (!bytes) return forward(bytes);
  auto memory = map_persistent(file->get(), 0, *bytes, path);
  if (!memory) return forward(memory);
  if (!*memory) return error(Code::bad_input, "not persistent memory:", path);
  // Locked through another one: the mapping that a forked child has would keep the locks of this.
  auto locks = open_file(path, O_RDWR);
  if (!locks) return forward(locks);
  return Device(std::move(*locks), std::move(**memory), path);
}

std::span<DeviceEntry> Device::entries() const {
  return {reinterpret_cast<DeviceEntry*>(memory_.mapping.bytes.data()) + 1, kEntries};
}

// A device that was never used begins with zeros. Anything else belongs to somebody.
Status Device::begin_table() {
  const std::span<std::byte> device = memory_.mapping.bytes;
  if (device.size() < 2 * kDeviceUnit) return error(Code::bad_input, "the device is too small:", path_);
  auto& magic = *reinterpret_cast<std::uint64_t*>(device.data());
  const std::uint64_t version = magic >> kVersionShift;
  if (magic == (kMark | version << kVersionShift)) {
    if (version == kDeviceVersion) return {};
    return error(
        Code::conflict,
        fmt::format("the device has version {} of the format, this forebay reads version {}:", version, kDeviceVersion),
        path_, "use it with the forebay that wrote it");
  }
  const auto table = device.first(kTableBytes);
  if (!std::all_of(table.begin(), table.end(), [](std::byte byte) { return byte == std::byte{0}; })) {
    return error(
        Code::lost, "the device holds something that is not forebay's:", path_,
        fmt::format("if nobody needs it, clear the beginning: daxio --zero --len={} --output={}", kTableBytes, path_));
  }
  memory_.persist.write_word(magic, kMark | kDeviceVersion << kVersionShift);
  return {};
}

// Frees what runs have left that did not keep it.
Status Device::reclaim() {
  for (DeviceEntry& entry : entries()) {
    if (entry.state == 0) continue;
    const std::uint64_t size = memory_.mapping.bytes.size();
    const bool lies_within = entry.begin >= kTableBytes && entry.begin < size && entry.bytes > kDeviceUnit &&
                             entry.bytes <= size - entry.begin;
    if (!lies_within || (!is_kept(entry) && entry.state != (entry.check() ^ kInUse))) {
      const auto place = reinterpret_cast<std::byte*>(&entry) - memory_.mapping.bytes.data();
      return error(Code::lost, fmt::format("the table of the device is damaged at byte {}:", place), path_,
                   fmt::format("when nothing that is kept there is needed any more, clear it: daxio --zero --len={} "
                               "--output={}",
                               kTableBytes, path_));
    }
    if (is_kept(entry)) continue;
    bool held = false;
    if (lock_bytes(file_.get(), F_OFD_GETLK, F_WRLCK, entry.begin, entry.bytes, &held) != 0) {
      return errno_error("cannot ask for locks of", path_);
    }
    if (!held) memory_.persist.write_word(entry.state, 0);
  }
  return {};
}

Status Device::lock_range(const DeviceEntry& entry) const {
  if (lock_bytes(file_.get(), F_OFD_SETLK, F_WRLCK, entry.begin, entry.bytes) == 0) return {};
  if (errno != EAGAIN && errno != EACCES) return errno_error("cannot lock a range of", path_);
  return error(Code::busy, fmt::format("the store {} is in use by another process:", entry.name), path_,
               "wait until that has closed it, or give this one another name");
}

// Where a range of `bytes` has room: the first gap between the others.
Result<std::uint64_t> Device::gap_of(std::uint64_t bytes) const {
  std::vector<const DeviceEntry*> used;
  for (const DeviceEntry& entry : entries()) {
    if (entry.state != 0) used.push_back(&entry);
  }
  std::sort(used.begin(), used.end(), [](const auto* a, const auto* b) { return a->begin < b->begin; });
  std::uint64_t at = round_to_units(kTableBytes);
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i <= used.size(); ++i) {
    const std::uint64_t end =
        i < used.size() ? used[i]->begin : memory_.mapping.bytes.size() / kDeviceUnit * kDeviceUnit;
    const std::uint64_t gap = end > at ? end - at : 0;
    if (gap >= bytes) return at;
    largest = std::max(largest, gap);
    if (i < used.size()) at = used[i]->end();
  }
  errno = ENOSPC;
  return errno_error(
      fmt::format("no range of {} is free (of {} in all, {}; the largest free one has {}) on", plural(bytes, "byte"),
                  memory_.mapping.bytes.size(), plural(used.size(), "store"), largest),
      path_, "ask for less, or open a store that is kept there and is not needed, without keep");
}

void Device::write_entry(DeviceEntry& entry, const std::string& name, std::uint64_t begin, std::uint64_t bytes) const {
  DeviceEntry made;
  name.copy(made.name, sizeof(made.name) - 1);
  made.begin = begin;
  made.bytes = bytes;
  memory_.persist.write_word(entry.state, 0);
  memory_.persist.write(&entry, &made, offsetof(DeviceEntry, state));
  memory_.persist.write_word(entry.state, made.check() ^ kInUse);
}

Result<Device::Range> Device::found(DeviceEntry& entry) {
  if (auto ok = lock_range(entry); !ok) return forward(ok);
  return Range{memory_.mapping.bytes.subspan(entry.begin, entry.bytes), &entry, is_kept(entry)};
}

Result<Device::Range> Device::take(const std::string& name, std::uint64_t bytes) {
  const TableLock lock(*this);
  if (lock.failed()) return errno_error("cannot lock", path_);
  if (auto ok = begin_table(); !ok) return forward(ok);
  if (auto ok = reclaim(); !ok) return forward(ok);
  const auto all = entries();
  if (!name.empty()) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const DeviceEntry& entry) { return entry.state != 0 && name == entry.name; });
    if (same != all.end()) return found(*same);
  }
  const auto free = std::find_if(all.begin(), all.end(), [](const DeviceEntry& entry) { return entry.state == 0; });
  if (free == all.end()) {
    errno = ENOSPC;
    return errno_error(fmt::format("all {} ranges are taken of", kEntries), path_);
  }
  bytes = round_to_units(bytes);
  auto begin = gap_of(bytes);
  if (!begin) return forward(begin);
  write_entry(*free, name, *begin, bytes);
  return found(*free);
}

Status Device::rename(Range& range, const std::string& name) {
  const TableLock lock(*this);
  if (lock.failed()) return errno_error("cannot lock", path_);
  for (const DeviceEntry& entry : entries()) {
    if (&entry != range.entry && entry.state != 0 && !name.empty() && name == entry.name) {
      return error(Code::bad_input, fmt::format("cannot keep the store as {}: another one has that name on", name),
                   path_, "ask for keep when it is opened");
    }
  }
  write_entry(*range.entry, name, range.entry->begin, range.entry->bytes);
  range.kept = false;
  return {};
}

void Device::set_kept(const Range& range) const {
  memory_.persist.write_word(range.entry->state, range.entry->check() ^ kKept);
}

}  // namespace forebay::segment
