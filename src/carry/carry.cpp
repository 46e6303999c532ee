#include "carry/carry.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace forebay::carry {
namespace {

using slots::Extent;
using slots::StagedRecord;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause(200), kLastPause(20'000);

Status write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  return write_all_at(file, offset, bytes, path, "the checkpoint stays in the pool, and the next run carries it");
}

Result<MappedFile> mapped_whole(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return errno_error("cannot examine", path);
  return MappedFile::of(file->get(), 0, static_cast<std::size_t>(status.st_size), PROT_READ, path);
}

// The arrays and their checksums in rising order of offsets, to know what lies between them.
std::vector<std::pair<std::uint64_t, std::uint64_t>> occupied(const arrays::Description& description) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const arrays::Array& each : description.arrays) {
    ranges.emplace_back(each.offset, each.bytes());
    ranges.emplace_back(each.checks_offset, arrays::pieces_of(each.bytes()) * sizeof(std::uint32_t));
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

std::span<const std::byte> without_zeros_behind(std::span<const std::byte> bytes) {
  const auto last = std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte each) { return each != std::byte{}; });
  return bytes.first(static_cast<std::size_t>(bytes.rend() - last));
}

Status carry_layout(const StagedRecord& record, const arrays::Description& description, const std::string& layout,
                    int file) {
  auto mapped = mapped_whole(layout);
  if (!mapped) return forward(mapped);
  const std::string path = record.temporary();
  const std::uint64_t size = mapped->bytes().size();
  auto ranges = occupied(description);
  if (std::any_of(ranges.begin(), ranges.end(),
                  [&](auto& each) { return each.second > size || each.first > size - each.second; }))
    return error(Code::lost, "the record of a checkpoint does not fit", layout);
  std::uint64_t end = 0;
  ranges.emplace_back(size, 0);
  for (const auto& [first, bytes] : ranges) {
    if (first > end) {
      const std::span between = mapped->bytes().subspan(end, first - end);
      // What follows comes later, and leaves a hole: a megabyte of zeros before an aligned array need not travel.
      const std::span told = bytes > 0 ? without_zeros_behind(between) : between;
      if (auto ok = write_at(file, end, told, path); !ok) return ok;
    }
    end = std::max(end, first + bytes);
  }
  return {};
}

// Calls act(array, first, bytes) for every piece of this node's image, `first` being a byte of the array, until one
// fails.
template <class Act>
Status each_piece(const StagedRecord& record, std::span<const std::byte> image, Act act) {
  for (const Extent& extent : record.extents) {
    std::span<const std::byte> bytes = image.subspan(extent.image, extent.bytes);
    std::uint64_t first = extent.first;
    while (!bytes.empty()) {
      const auto piece = std::min<std::uint64_t>(bytes.size(), arrays::kPieceBytes - first % arrays::kPieceBytes);
      if (Status ok = act(extent.array, first, bytes.first(piece)); !ok) return ok;
      bytes = bytes.subspan(piece);
      first += piece;
    }
  }
  return {};
}

// Whether the record speaks of bytes that the image and the arrays have.
bool fits(const StagedRecord& record, const arrays::Description& description, std::uint64_t image_bytes) {
  return std::all_of(record.extents.begin(), record.extents.end(), [&](const Extent& each) {
    if (each.array >= description.arrays.size()) return false;
    const std::uint64_t array_bytes = description.arrays[each.array].bytes();
    return each.bytes <= image_bytes && each.image <= image_bytes - each.bytes && each.bytes <= array_bytes &&
           each.first <= array_bytes - each.bytes;
  });
}

Checks checks_of(const StagedRecord& record, std::size_t count, std::span<const std::byte> image) {
  Checks checks(count);
  (void)each_piece(record, image, [&](std::size_t array, std::uint64_t first, std::span<const std::byte> bytes) {
    checks[array].push_back(arrays::part_checks(first, bytes).front());
    return Status{};
  });
  return checks;
}

Status carry_extents(const StagedRecord& record, const arrays::Description& description,
                     std::span<const std::byte> image, int file) {
  return each_piece(record, image, [&](std::size_t array, std::uint64_t first, std::span<const std::byte> bytes) {
    const std::uint64_t offset = description.arrays[array].offset + first;
    if (Status ok = write_at(file, offset, bytes, record.temporary()); !ok) return ok;
    begin_writing_back(file, offset, bytes.size());
    return Status{};
  });
}

constexpr std::size_t kMostTold = std::size_t{1} << 30;

// A part as text: one line for each check, and a last line.
std::string told(const Checks& checks) {
  std::string text;
  for (std::size_t array = 0; array < checks.size(); ++array) {
    for (const arrays::PartCheck& each : checks[array]) {
      text += fmt::format("{} {} {} {}\n", array, each.first, each.bytes, each.crc);
    }
  }
  return text + "carried\n";
}

Status tell(const StagedRecord& record, const Checks& checks) {
  return replace_file_through(record.unfinished_part(record.node), record.part(record.node), told(checks));
}

// Adds what another node told; false where it is not whole.
bool hear(std::string_view text, Checks& checks) {
  for (const std::string_view line : split(text, '\n')) {
    if (line == "carried") return true;
    std::vector<std::uint64_t> numbers;
    for (const std::string_view word : split(line, ' ')) {
      numbers.push_back(static_cast<std::uint64_t>(parse_integer(word).value_or(-1)));
    }
    if (numbers.size() != 4 || numbers[0] >= checks.size()) return false;
    checks[numbers[0]].push_back(
        {numbers[1], static_cast<std::uint32_t>(numbers[2]), static_cast<std::uint32_t>(numbers[3])});
  }
  return false;
}

bool has_told(const StagedRecord& record, std::size_t arrays) {
  const auto text = read_file(record.part(record.node), kMostTold);
  Checks heard(arrays);
  return text && hear(*text, heard);
}

Status hear_others(const StagedRecord& record, Checks& checks, const std::atomic<bool>& stop) {
  for (int node = 1; node < record.nodes; ++node) {
    milliseconds pause(5);
    for (;;) {
      const auto text = read_file(record.part(node), kMostTold);
      if (text) {
        if (hear(*text, checks)) break;
        return error(Code::failed, "what a node told of its part is damaged:", record.part(node));
      }
      if (text.error().errno_value != ENOENT) return forward(text);
      if (stop) return error(Code::undrained, fmt::format("node {} has not carried its part of", node), record.path);
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, milliseconds(500));  // gentle with a busy file system
    }
  }
  return {};
}

// Any other failure tells nothing about the file, which may be the only whole one.
bool is_gone(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
}

// None where this node has nothing to do any more: it has told its part, or the file has its name, and no other must be
// begun then, for nobody would end it. Opened first and asked then: once it was seen missing, and its name not given,
// only our own part can let that name be given. The node with rank 0 asks, too: it may have failed behind the name.
Result<std::optional<Descriptor>> open_temporary(const StagedRecord& record, std::size_t arrays) {
  const std::string path = record.temporary();
  auto file = open_file(path, O_WRONLY | O_NOFOLLOW);
  const bool begun = file || file.error().errno_value != ENOENT;
  const bool served =
      begun ? record.node != 0 && has_told(record, arrays) : what_stands(record) == Standing::same_or_later;
  if (served) return std::nullopt;
  if (begun) return file;
  // Any node may be the first. The file is what the program itself would have made: readable by whom its mask lets.
  return open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0666);
}

// `forgotten`: what the other nodes told is gone, whatever becomes of it.
Status carry_once(const StagedRecord& record, const std::string& image, const std::string& layout,
                  const std::atomic<bool>& stop, bool& forgotten) {
  const auto description = arrays::decode(record.description);
  if (!description) return forward(description);
  auto mapped = mapped_whole(image);
  if (!mapped) return forward(mapped);
  if (!fits(record, *description, mapped->bytes().size()))
    return error(Code::lost, "the record of a checkpoint does not fit its image:", image);
  auto opened = open_temporary(record, description->arrays.size());
  if (!opened) return forward(opened);
  if (!*opened) return record.node == 0 ? sync_directory_of(record.path) : Status{};
  Result<Descriptor> file = *std::move(*opened);
  std::optional<Sidecar> sidecar;
  if (record.node == 0) {
    if (auto ok = carry_layout(record, *description, layout, file->get()); !ok) return ok;
  }
  // Beside the writing, so that the file system never waits for them; nor for the name of the sidecar, which takes as
  // long as a megabyte where nothing is on its way.
  auto working_out = std::async(std::launch::async, [&] {
    Checks checks = checks_of(record, description->arrays.size(), mapped->bytes());
    if (record.node == 0) sidecar.emplace(record.temporary(), record.sidecar);
    return checks;
  });
  if (auto ok = carry_extents(record, *description, mapped->bytes(), file->get()); !ok) return ok;
  Checks checks = working_out.get();
  if (record.nodes > 1) {
    if (::fsync(file->get()) != 0) return errno_error("cannot sync", record.temporary());
    if (record.node != 0) return tell(record, checks);
    if (auto ok = hear_others(record, checks, stop); !ok) return ok;
    // Before the file has its name: whoever carries this record once more must not take them for what it is told then.
    forgotten = true;
    for (int node = 1; node < record.nodes; ++node) {
      if (::unlink(record.part(node).c_str()) != 0) return errno_error("cannot remove", record.part(node));
    }
    // On NFS what others wrote is seen, and left alone, only through a new opening.
    file = open_file(record.temporary(), O_WRONLY | O_NOFOLLOW);
    if (!file) return forward(file);
  }
  const Verify verify = record.read_back ? Verify::read_back : Verify::written;
  return publish(file->get(), record.temporary(), record.path, *description, checks, *sidecar, verify);
}

// Whether it ended by itself.
bool pause_for(milliseconds pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any asleep;
  asleep.wait_for(lock, stop, pause, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

Status carry_image(const StagedRecord& record, const std::string& image, const std::string& layout,
                   const std::atomic<bool>& stop) {
  bool forgotten = false;
  return carry_once(record, image, layout, stop, forgotten);
}

Status carry_until_done(const StagedRecord& record, const std::string& image, const std::string& layout,
                        Background& background) {
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLastPause)) {
    bool forgotten = false;
    Status done = carry_once(record, image, layout, background.stop, forgotten);
    if (done || forgotten || done.error().code == Code::lost || background.stop) return done;
    if (!pause_for(pause, background.no_more_tries.get_token())) return done;
    background.again = true;
  }
}

Standing what_stands(const StagedRecord& record) {
  struct stat file {};
  if (::lstat(record.path.c_str(), &file) != 0) return Standing::older;
  const auto sequence = sequence_in(read_file(record.path + ".json").value_or(""), record);
  // The sidecar gets its name just before the file does.
  const bool served = sequence > record.sequence || (sequence == record.sequence && is_gone(record.temporary()));
  if (served) return Standing::same_or_later;
  const std::int64_t written = std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
  return sequence || written <= record.committed ? Standing::older : Standing::foreign;
}

}  // namespace forebay::carry
