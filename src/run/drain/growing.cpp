#include "run/drain/growing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/publish/publish.h"

namespace forebay::drain {
namespace {

// How often the journal tells of one file that grows: a resumed run knows the rest by its content.
constexpr std::chrono::minutes journal_interval{1};
// Reports are written every second.
constexpr std::size_t most_told = 100;

// Up to where a local file is text: the first zero byte in [from, until), which is also where a hole begins.
Result<std::uint64_t> end_of_text(const std::string& local, std::uint64_t from, std::uint64_t until) {
  const auto file = open_unlinked(local, O_RDONLY | O_NONBLOCK | O_NOATIME);
  if (!file) return forward(file);
  std::array<char, std::size_t{64} << 10> buffer;
  while (from < until) {
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), until - from);
    const ssize_t got = ::pread(file->get(), buffer.data(), wanted, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", local);
    if (got == 0) break;
    if (const void* zero = std::memchr(buffer.data(), 0, static_cast<std::size_t>(got)))
      return from + static_cast<std::uint64_t>(static_cast<const char*>(zero) - buffer.data());
    from += static_cast<std::uint64_t>(got);
  }
  return from;
}

constexpr std::uint64_t tail_bytes = std::uint64_t{64} << 10;

Result<Tail> tail_of(const std::string& local, std::uint64_t until) {
  const auto sum = checksum_of_part(local, until - std::min(until, tail_bytes), until);
  if (!sum) return forward(sum);
  return Tail{until, *sum};
}

// Whether what the case has of a file is still its beginning: as cheaply as that can be known.
Result<bool> is_as_carried(SharedFiles& shared, const std::string& path, const std::string& local,
                           const GrowingFile& file, const Known& known) {
  const std::uint64_t carried = known.drained->size;
  if (!file.tail || file.tail->until != carried) return holds_beginning(shared, path, local, carried);
  const auto tail = tail_of(local, carried);
  if (!tail) return forward(tail);
  return tail->checksum == file.tail->checksum;
}

// The local file as far as the case has it. No file is as this tells: one that grew is carried once more when it is
// closed, with its mode, its owner and all of its content compared.
LocalMark mark_until(const struct stat& status, std::uint64_t size) {
  LocalMark mark = mark_of(status);
  mark.size = size;
  mark.mtime_ns = 0;
  return mark;
}

Result<std::optional<layouts::Unit>> continuing(const std::string& path, const std::string& local,
                                                const Identity& on_case, std::uint64_t until) {
  auto unit = layouts::verbatim_file(local, path, std::nullopt);
  if (!unit) return forward(unit);
  unit->continues = on_case;
  unit->files.front().pieces = {{"", local, on_case.size, until - on_case.size}};
  return std::optional(std::move(*unit));
}

// Finds how much of a file the case is to have from now on; false where that is no more than it has.
Result<bool> look_into(const std::string& path, const std::string& local, const GrowingFile& file, std::uint64_t from,
                       Prepared& prepared) {
  const auto status = status_of(local);
  if (!status || !S_ISREG(status->st_mode) || status->st_ino != file.file.second) return false;
  // Text that came after the look may name what the case lacks.
  const std::uint64_t size = std::min(file.size, static_cast<std::uint64_t>(status->st_size));
  const auto until = end_of_text(local, from, size);
  if (!until) return forward(until);
  prepared.no_growth = from == 0 && *until < size;
  if (prepared.no_growth || *until <= from) return false;
  const auto tail = tail_of(local, *until);
  if (!tail) return forward(tail);
  prepared.tail = *tail;
  prepared.marks[path] = mark_until(*status, *until);
  return true;
}

// nullopt: nothing more, or it was written to elsewhere than at its end.
Result<std::optional<layouts::Unit>> more_of(SharedFiles& shared, const std::string& path, const std::string& local,
                                             const GrowingFile& file, const Known& known, Prepared& prepared) {
  prepared = {};
  const auto same = is_as_carried(shared, path, local, file, known);
  if (!same) return forward(same);
  prepared.no_growth = !*same;
  if (!*same) return std::nullopt;
  const auto more = look_into(path, local, file, known.drained->size, prepared);
  if (!more) return forward(more);
  if (!*more) return std::nullopt;
  return continuing(path, local, *known.on_case, prepared.marks[path].size);
}

// nullopt: there is none, it is no text, or somebody else has put something in its place.
Result<std::optional<layouts::Unit>> beginning_of(SharedFiles& shared, const std::string& path,
                                                  const std::string& local, const GrowingFile& file, const Known& known,
                                                  Prepared& prepared) {
  prepared = {};
  const auto more = look_into(path, local, file, 0, prepared);
  if (!more) return forward(more);
  if (!*more) return std::nullopt;
  const auto replaces = known.directory ? std::nullopt : known.on_case;
  const auto there = shared.status(path);
  if (!there) return forward(there);
  prepared.no_growth = there->has_value() && !(replaces && still_is(**there, *replaces));
  if (prepared.no_growth) return std::nullopt;
  auto unit = layouts::verbatim_file(local, path, replaces);
  if (!unit) return forward(unit);
  unit->files.front().pieces = {{"", local, 0, prepared.marks[path].size}};
  return std::optional(std::move(*unit));
}

}  // namespace

Growth growth_of(const GrowingFile& before, const FileId& file, std::uint64_t size,
                 std::optional<std::uint64_t> carried) {
  if (file != before.file) return Growth::anew;
  if (size < before.size || (carried && size < *carried)) return Growth::cut;
  if (before.left_alone || size == 0 || carried == size) return Growth::wait;
  if (carried) return Growth::append;
  return before.seen ? Growth::begin : Growth::anew;
}

void GrowingFiles::note(const std::string& path) {
  if (files_.contains(path)) return;
  if (files_.size() >= most && may_clear_) {
    may_clear_ = false;
    std::erase_if(files_, [&](const auto& each) {
      const auto known = run_.ledger.find(each.first);
      return known && (known->drained ? known->drained->size == each.second.size : known->staged.has_value());
    });
  }
  if (files_.size() < most) files_.try_emplace(path);
}

void GrowingFiles::forget(const std::string& path) {
  for (auto at = files_.lower_bound(path); at != files_.end() && at->first.starts_with(path);) {
    if (!is_below(at->first, path)) {
      ++at;
      continue;
    }
    journal(at->first, at->second);
    at = files_.erase(at);
  }
}

// Journals a growth that only the ledger was told of, before another record rests on it.
void GrowingFiles::journal(const std::string& path, GrowingFile& file) {
  if (!std::exchange(file.is_unjournalled, false)) return;
  if (const auto known = run_.ledger.find(path); known && known->on_case && known->drained)
    run_.record(drained_record(path, *known->on_case, *known->drained, known->checksum));
}

void GrowingFiles::begin() {
  began_ = run_.clock.now();
  next_ = began_ + run_.request.settings.refresh;
  may_clear_ = true;
  is_looking_ = true;
  last_.clear();
  submitted_ = 0;
}

// All files are looked at, though not more at once than the mover takes.
void GrowingFiles::refresh() {
  if (!is_looking_ && (under_way_ > 0 || run_.clock.now() < next_)) return;
  if (!is_looking_) begin();
  auto at = files_.upper_bound(last_);
  for (; at != files_.end() && work_.jobs.size() < Work::most_jobs; ++at) {
    last_ = at->first;
    look_at(at->first, at->second);
  }
  is_looking_ = at != files_.end();
  end_if_done();
}

void GrowingFiles::look_at(const std::string& path, GrowingFile& file) {
  if (work_.in_flight.contains(path) || work_.checkpoints.containing(path) != nullptr) return;
  if (work_.waiting.times().directory_of(path, false)) return;  // a time appears as a whole
  const auto local = work_.source_of(path);
  const auto status = local ? status_of(*local) : std::nullopt;
  if (!status || !S_ISREG(status->st_mode) || status->st_nlink != 1 || is_below(*local, run_.request.case_path)) return;
  // A file that may not be written on the case either is carried when it is closed.
  if ((status->st_mode & S_IWUSR) == 0) return;
  const auto known = run_.ledger.find(path);
  const FileId id{status->st_dev, status->st_ino};
  const auto size = static_cast<std::uint64_t>(status->st_size);
  if (known && (known->evicted || is_as_known(*known, mark_of(*status)))) {
    file.size = size;
    return;
  }
  const bool has_this = known && known->drained && known->drained->inode == status->st_ino && !file.was_cut;
  const Growth growth = growth_of(file, id, size, has_this ? std::optional(known->drained->size) : std::nullopt);
  if (growth == Growth::anew || growth == Growth::cut) {
    journal(path, file);
    file = {.file = id, .size = size, .seen = true, .was_cut = growth == Growth::cut};
    return;
  }
  file.size = size;
  if (growth != Growth::wait && work_.waiting.is_next(path)) submit(path, file, growth, known ? &*known : nullptr);
}

void GrowingFiles::submit(const std::string& path, const GrowingFile& file, Growth growth, const Known* known) {
  if (!work_.acts.in_the_way(path).empty()) return;
  const bool appends = growth == Growth::append;
  if (appends && !known->grows) run_.record(growing_record(path));
  const auto prepared = std::make_shared<Prepared>();
  ++under_way_;
  ++submitted_;
  Job job{Job::Kind::growth, path, 0, 0, {}, false, prepared};
  job.holds_refresh = true;
  work_.submit(
      std::move(job),
      [path, file, appends, prepared, local = *work_.source_of(path), known = known ? *known : Known{},
       parents = work_.missing_parents(path), files = run_.shared.get()]() -> Result<std::optional<layouts::Unit>> {
        auto unit = appends ? more_of(*files, path, local, file, known, *prepared)
                            : beginning_of(*files, path, local, file, known, *prepared);
        if (!unit || !*unit) return unit;
        prepared->continues = appends;
        const auto made = make_parents(*files, parents, *prepared);
        if (!made) return forward(made);
        return *made ? std::move(unit) : std::nullopt;
      });
}

void GrowingFiles::note_outcome(const Job& job) {
  const auto found = files_.find(job.key);
  if (found == files_.end()) return;
  if (job.prepared->tail) {
    found->second.tail = job.prepared->tail;
    found->second.was_cut = false;
  }
  found->second.left_alone = job.prepared->no_growth;
}

void GrowingFiles::record(const std::string& path, const Record& drained) {
  const auto found = files_.find(path);
  const auto now = run_.clock.now();
  if (found == files_.end()) return run_.record(drained);
  auto& journalled = found->second.journalled;
  found->second.is_unjournalled = journalled && now - *journalled < journal_interval;
  if (found->second.is_unjournalled) return run_.learn(drained);
  journalled = now;
  run_.record(drained);
}

void GrowingFiles::job_was_tried() {
  --under_way_;
  end_if_done();
}

void GrowingFiles::end_if_done() {
  if (under_way_ > 0 || is_looking_ || submitted_ == 0) return;
  const auto most_of_files = static_cast<long>(submitted_) * longest_pause_of_file;
  const auto longest = std::max<Clock::duration>(most_pauses * run_.request.settings.refresh, most_of_files);
  next_ = std::max(next_, began_ + std::min<Clock::duration>(least_pause * (run_.clock.now() - began_), longest));
}

Growing GrowingFiles::report() const {
  Growing found;
  for (const auto& [path, file] : files_) {
    const auto known = run_.ledger.find(path);
    if (file.left_alone || !known || !known->grows || !known->drained) continue;
    if (found.files.size() < most_told)
      found.files[path] = {file.size, known->drained->size};
    else
      ++found.more;
  }
  return found;
}

Result<std::optional<layouts::Unit>> remaining_part(SharedFiles& shared, const std::string& path,
                                                    const std::string& local, const Known& known,
                                                    std::optional<gid_t> group, std::uint64_t most,
                                                    Prepared& prepared) {
  const auto here = status_of(local);
  const auto there = shared.status(path);
  if (!there) return forward(there);
  if (!known.grows || !known.drained || !here || here->st_nlink != 1 || here->st_ino != known.drained->inode ||
      !there->has_value())
    return std::nullopt;
  const struct stat& now = **there;
  const auto all = static_cast<std::uint64_t>(here->st_size), has = static_cast<std::uint64_t>(now.st_size);
  const std::uint64_t size = std::min(all, most);
  // How much was appended before a crash may be in no journal: the content tells that it is ours.
  if (!S_ISREG(now.st_mode) || now.st_nlink != 1 || now.st_ino != known.on_case->inode || has < known.on_case->size ||
      has > size)
    return std::nullopt;
  const auto owner = given_to(owner_of(*here), group);
  if ((now.st_mode & 07777) != (here->st_mode & 07777) || (now.st_mode & S_IWUSR) == 0 ||
      (owner && *owner != owner_of(now)))
    return std::nullopt;
  const auto same = holds_beginning(shared, path, local, has);
  if (!same) return forward(same);
  if (!*same) return std::nullopt;
  const auto tail = tail_of(local, size);
  if (!tail) return forward(tail);
  auto unit = continuing(path, local, known_identity(now), size);
  if (!unit) return forward(unit);
  prepared = {};
  prepared.marks[path] = size < all ? mark_until(*here, size) : mark_of(*here);
  prepared.continues = true;
  prepared.tail = *tail;
  return unit;
}

}  // namespace forebay::drain
