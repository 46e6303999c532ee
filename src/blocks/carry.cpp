#include "blocks/carry.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "blocks/mapped_file.h"
#include "blocks/publish.h"

namespace forebay::blocks {
namespace {

using std::chrono::milliseconds;

Status write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  return write_all_at(file, offset, bytes, path, "the checkpoint stays in the pool, and the next run carries it");
}

Result<MappedFile> mapped_whole(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  if (!file) return forward(file);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return errno_error("cannot examine", path);
  return MappedFile::of(file->get(), static_cast<std::size_t>(status.st_size), PROT_READ, path);
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

Status carry_layout(const StagedRecord& record, const std::string& layout, int file) {
  auto mapped = mapped_whole(layout);
  if (!mapped) return forward(mapped);
  const std::string path = record.temporary();
  if (::ftruncate(file, static_cast<off_t>(mapped->bytes().size())) != 0)
    return errno_error("cannot make room in", path);
  std::uint64_t end = 0;
  auto ranges = occupied(record.description);
  ranges.emplace_back(mapped->bytes().size(), 0);
  for (const auto& [first, bytes] : ranges) {
    if (first > end) {
      if (auto ok = write_at(file, end, mapped->bytes().subspan(end, first - end), path); !ok) return ok;
    }
    end = std::max(end, first + bytes);
  }
  return {};
}

Result<Checks> carry_extents(const StagedRecord& record, std::span<const std::byte> image, int file) {
  Checks checks(record.description.arrays.size());
  for (const Extent& extent : record.extents) {
    std::span<const std::byte> bytes = image.subspan(extent.image, extent.bytes);
    std::uint64_t first = extent.first;
    while (!bytes.empty()) {  // a piece at a time, so that what is written still lies in the cache after its checksum
      const auto piece = std::min<std::uint64_t>(bytes.size(), arrays::kPieceBytes - first % arrays::kPieceBytes);
      checks[extent.array].push_back(arrays::part_checks(first, bytes.first(piece)).front());
      const std::uint64_t offset = record.description.arrays[extent.array].offset + first;
      if (auto ok = write_at(file, offset, bytes.first(piece), record.temporary()); !ok) return forward(ok);
      bytes = bytes.subspan(piece);
      first += piece;
    }
  }
  return checks;
}

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

Status hear_others(const StagedRecord& record, Checks& checks, const std::atomic<bool>& stop) {
  for (int node = 1; node < record.nodes; ++node) {
    milliseconds pause(5);
    for (;;) {
      const auto text = read_file(record.part(node), std::size_t{1} << 30);
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

}  // namespace

Status carry(const StagedRecord& record, const std::string& image, const std::string& layout,
             const std::atomic<bool>& stop) {
  auto mapped = mapped_whole(image);
  if (!mapped) return forward(mapped);
  // Any node may be the first. The file is what the program itself would have made: readable by whom its mask lets.
  auto file = open_file(record.temporary(), O_WRONLY | O_CREAT, 0666);
  if (!file) return forward(file);
  auto checks = carry_extents(record, mapped->bytes(), file->get());
  if (!checks) return forward(checks);
  if (record.node == 0) {
    if (auto ok = carry_layout(record, layout, file->get()); !ok) return ok;
  }
  if (record.nodes > 1) {
    if (::fsync(file->get()) != 0) return errno_error("cannot sync", record.temporary());
    if (record.node != 0) return replace_file(record.part(record.node), told(*checks));
    if (auto ok = hear_others(record, *checks, stop); !ok) return ok;
    // Before the file has its name: whoever carries this record once more must not take them for what it is told then.
    for (int node = 1; node < record.nodes; ++node) {
      if (::unlink(record.part(node).c_str()) != 0) return errno_error("cannot remove", record.part(node));
    }
    // On NFS what others wrote is seen, and left alone, only through a new opening.
    file = open_file(record.temporary(), O_WRONLY);
    if (!file) return forward(file);
  }
  return publish(file->get(), record.temporary(), record.path, record.description, *checks, record.sidecar);
}

}  // namespace forebay::blocks
