#include "arrays/carry/carry.h"

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
constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16;  // bytes that stay near while both checksums are made

Status write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  return write_all_at(file, offset, bytes, path, "the checkpoint stays in the pool, and the next run carries it");
}

Result<MappedFile> mapped_whole(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  if (!file && file.error().errno_value == ENOENT) file.error().code = Code::lost;
  if (!file) return forward(file);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return errno_error("cannot examine", path);
  return MappedFile::of(file->get(), 0, static_cast<std::size_t>(status.st_size), PROT_READ, path);
}

Status carry_layout(const StagedRecord& record, int file) {
  for (const slots::Stretch& each : record.layout) {
    const auto bytes = std::as_bytes(std::span(each.bytes));
    if (auto ok = write_at(file, each.offset, bytes, record.temporary()); !ok) return ok;
  }
  return {};
}

// Whether the record speaks of bytes that the image and the arrays have, in whole items.
bool fits(const StagedRecord& record, const array_file::Description& description, std::uint64_t image_bytes) {
  if (record.sums.size() != description.arrays.size()) return false;
  return std::all_of(record.extents.begin(), record.extents.end(), [&](const Extent& each) {
    if (each.array >= description.arrays.size()) return false;
    const array_file::Array& array = description.arrays[each.array];
    return each.bytes <= image_bytes && each.image <= image_bytes - each.bytes && each.bytes <= array.bytes() &&
           each.first <= array.bytes() - each.bytes && each.first % array.item_bytes() == 0 &&
           each.bytes % array.item_bytes() == 0;
  });
}

// The checksums that an image is found to have.
struct Sums {
  Checks checks;                     // for the file
  std::vector<slots::ItemSum> sums;  // for the record, of each array
};

// Each byte is read once, for both.
Sums sum_up(const StagedRecord& record, const array_file::Description& description, std::span<const std::byte> image) {
  Sums found{Checks(description.arrays.size()), std::vector<slots::ItemSum>(description.arrays.size())};
  for (const Extent& extent : record.extents) {
    const std::uint64_t item_bytes = description.arrays[extent.array].item_bytes();
    const std::uint64_t most = std::max<std::uint64_t>(1, kAtOnce / item_bytes) * item_bytes;
    for (std::uint64_t done = 0; done < extent.bytes; done += most) {
      const auto bytes = image.subspan(extent.image + done, std::min(most, extent.bytes - done));
      const std::uint64_t first = extent.first + done;
      found.sums[extent.array].add(item_bytes, bytes.data(), bytes.size() / item_bytes, first / item_bytes);
      array_file::add_checks(first, bytes, found.checks[extent.array]);
    }
  }
  return found;
}

Status check(const StagedRecord& record, const array_file::Description& description, const Sums& found,
             const std::string& image) {
  for (std::size_t i = 0; i < found.sums.size(); ++i) {
    if (found.sums[i].value() == record.sums[i]) continue;
    const array_file::Array& array = description.arrays[i];
    return error(Code::lost,
                 fmt::format("array {}/{} of {} is not as it was staged in", array.location, array.name, record.path),
                 image, "the image was changed since, cut, or mixed up with another: restart from another checkpoint");
  }
  return {};
}

Status carry_extents(const StagedRecord& record, const array_file::Description& description,
                     std::span<const std::byte> image, int file) {
  for (const Extent& extent : record.extents) {
    const std::uint64_t offset = description.arrays[extent.array].offset + extent.first;
    for (std::uint64_t done = 0; done < extent.bytes; done += array_file::kPieceBytes) {
      const auto bytes = image.subspan(extent.image + done, std::min(array_file::kPieceBytes, extent.bytes - done));
      if (Status ok = write_at(file, offset + done, bytes, record.temporary()); !ok) return ok;
      begin_writing_back(file, offset + done, bytes.size());
    }
  }
  return {};
}

constexpr std::size_t kMostPartBytes = std::size_t{1} << 30;

constexpr std::string_view kLost = "lost\n";  // told instead of a part: the checkpoint will never be whole

// A part as text: one line for each check, and a last line.
std::string text_of(const Checks& checks) {
  std::string text;
  for (std::size_t array = 0; array < checks.size(); ++array) {
    for (const array_file::PartCheck& each : checks[array]) {
      text += fmt::format("{} {} {} {}\n", array, each.first, each.bytes, each.crc);
    }
  }
  return text + "carried\n";
}

Status write_part(const StagedRecord& record, std::string_view text) {
  return replace_file_through(record.unfinished_part(record.node), record.part(record.node), text);
}

// Adds what the part of another node says; false where it is not whole.
bool add_part(std::string_view text, Checks& checks) {
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

bool has_written_part(const StagedRecord& record, std::size_t arrays) {
  const auto text = read_file(record.part(record.node), kMostPartBytes);
  Checks unused(arrays);
  return text && add_part(*text, unused);
}

tl::unexpected<Error> lost_by(int node, const StagedRecord& record) {
  return error(Code::lost, fmt::format("node {} has lost its part of", node), record.path,
               "restart from another checkpoint");
}

Status add_parts_of_others(const StagedRecord& record, Checks& checks, const std::atomic<bool>& stop) {
  for (int node = 1; node < record.nodes; ++node) {
    milliseconds pause(5);
    for (;;) {
      const auto text = read_file(record.part(node), kMostPartBytes);
      if (text) {
        if (add_part(*text, checks)) break;
        if (*text == kLost) return lost_by(node, record);
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

// None where this node has nothing to do any more: it has written its part, or the file has its name, and no other must
// be begun then, for nobody would end it. Opened first and asked then: once it was seen missing, and its name not
// given, only our own part can let that name be given. The node with rank 0 asks, too: it may have failed behind the
// name.
Result<std::optional<Descriptor>> open_temporary(const StagedRecord& record, std::size_t arrays) {
  const std::string path = record.temporary();
  auto file = open_file(path, O_WRONLY | O_NOFOLLOW);
  const bool begun = file || file.error().errno_value != ENOENT;
  const bool served =
      begun ? record.node != 0 && has_written_part(record, arrays) : what_stands(record) == Standing::same_or_later;
  if (served) return std::nullopt;
  if (begun) return file;
  // Any node may be the first. The file is what the program itself would have made: readable by whom its mask lets.
  return open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0666);
}

// `forgotten`: what the other nodes told is gone, whatever becomes of it.
Status carry_part(const StagedRecord& record, const std::string& image, const std::atomic<bool>& stop,
                  bool& forgotten) {
  const auto description = array_file::decode(record.description);
  if (!description) return forward(description);
  auto mapped = mapped_whole(image);
  if (!mapped) return forward(mapped);
  if (!fits(record, *description, mapped->bytes().size()))
    return error(Code::lost, "the record of a checkpoint does not fit its image:", image);
  if (record.node != 0 && read_file(record.part(0)) == std::string(kLost)) return lost_by(0, record);
  auto opened = open_temporary(record, description->arrays.size());
  if (!opened) return forward(opened);
  if (!*opened) return record.node == 0 ? sync_directory_of(record.path) : Status{};
  Result<Descriptor> file = *std::move(*opened);
  std::optional<Sidecar> sidecar;
  if (record.node == 0) {
    if (auto ok = carry_layout(record, file->get()); !ok) return ok;
  }
  // Beside the writing, so that the file system never waits for them; nor for the name of the sidecar, which takes as
  // long as a megabyte where nothing is on its way.
  auto working_out = std::async(std::launch::async, [&] {
    Sums found = sum_up(record, *description, mapped->bytes());
    if (record.node == 0) sidecar.emplace(record.temporary(), record.sidecar);
    return found;
  });
  if (auto ok = carry_extents(record, *description, mapped->bytes(), file->get()); !ok) return ok;
  Sums found = working_out.get();
  if (auto ok = check(record, *description, found, image); !ok) return ok;
  Checks& checks = found.checks;
  if (record.nodes > 1) {
    if (::fsync(file->get()) != 0) return errno_error("cannot sync", record.temporary());
    if (record.node != 0) return write_part(record, text_of(checks));
    if (auto ok = add_parts_of_others(record, checks, stop); !ok) return ok;
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

Status carry_once(const StagedRecord& record, const std::string& image, const std::atomic<bool>& stop,
                  bool& forgotten) {
  Status done = carry_part(record, image, stop, forgotten);
  if (done || done.error().code != Code::lost || what_stands(record) != Standing::older) return done;
  if (record.node == 0) ::unlink(record.temporary().c_str());
  if (record.nodes > 1) (void)write_part(record, kLost);  // or others would wait for this part for ever
  return done;
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

Status carry_image(const StagedRecord& record, const std::string& image, const std::atomic<bool>& stop) {
  bool forgotten = false;
  return carry_once(record, image, stop, forgotten);
}

Status carry_until_done(const StagedRecord& record, const std::string& image, Background& background) {
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLastPause)) {
    bool forgotten = false;
    Status done = carry_once(record, image, background.stop, forgotten);
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
