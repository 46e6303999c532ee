// Another version of an input, for the program alone.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "run/drain/placed.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

// Programs that ask for a file's time again and again take a small difference for that of two clocks (OpenFOAM's
// fileModificationSkew: 10 s).
constexpr std::chrono::seconds newer_by{120};

timespec newer_than(const timespec& before, Clock& clock) {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock.date().time_since_epoch());
  return {std::max<time_t>(now.count(), before.tv_sec + newer_by.count()), 0};
}

// The input as the program sees it; nullopt: not known here, since the program has made it its own.
std::optional<CaseFile> seen_by_program(const Run& run, const std::string& path, const CaseFile& on_case) {
  const auto known = run.ledger.find(path);
  const std::string local = local_of(run.roots, path), content = content_of(local, run.request.placed);
  const auto status = status_of(content);
  if (!known || known->deleted || !status) return std::nullopt;
  if (S_ISLNK(status->st_mode)) {
    const auto target = read_link(local);
    const bool is_staged = target && (*target == join(run.request.lower, path) || *target == known->link_target);
    return is_staged ? std::optional(on_case) : std::nullopt;
  }
  if (!S_ISREG(status->st_mode) || !is_as_known(*known, mark_of(*status)) || is_open_for_writing(content))
    return std::nullopt;
  auto text = read_file(content);
  if (!text) return std::nullopt;
  return CaseFile{std::move(*text), status->st_mode & 07777U, status->st_mtim};
}

// Under a temporary name; the inode that it has.
Result<std::uint64_t> write_beside(const std::string& temporary, const CaseFile& file) {
  ::unlink(temporary.c_str());
  auto made = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!made) return forward(made);
  if (auto written = write_all(made->get(), file.text, temporary); !written) return forward(written);
  const std::array times{file.modified, file.modified};
  struct stat status {};
  if (::fchmod(made->get(), file.mode) != 0 || ::futimens(made->get(), times.data()) != 0 ||
      ::fstat(made->get(), &status) != 0)
    return errno_error("cannot write", temporary);
  return status.st_ino;
}

}  // namespace

Result<bool> Drain::change_input(const std::string& path, const CaseFile& on_case, const Change& change) {
  State& state = *state_;
  Run& run = state.run;
  const std::string local = local_of(run.roots, path);
  const auto above = status_of(std::string(parent_of(local)));
  if (!above || !S_ISDIR(above->st_mode))
    return error(Code::bad_input, "its directory is no directory of the case itself, so others may have it, too:", path,
                 "change it by hand, and change it back before the next run");
  if (auto read = on_events(); !read) return forward(read);
  if (state.work.in_flight.contains(path)) return false;
  auto input = seen_by_program(run, path, on_case);
  WaitingFiles& waiting = state.work.waiting;
  if (!input) {
    // Where nothing is held for the end it is carried when it is quiet.
    if (waiting.is_pending(path) && run.request.settings.live) return false;
    waiting.forget(path);
    state.work.submit_file(path, true);
    return false;
  }
  auto text = change(input->text);
  if (!text) return forward(text);
  input->text = std::move(*text);
  input->modified = newer_than(input->modified, run.clock);
  const std::string temporary = name_aside(run.roots, path);
  const auto inode = write_beside(temporary, *input);
  if (!inode) return forward(inode);
  const Known known = run.ledger.find(path).value_or(Known{});
  tree::Entry entry{path, tree::Kind::copy, input->mode, known.on_case.value_or(Identity{}), {}, {}};
  entry.owner = known.drained ? known.drained->owner : known.owner.value_or(Owner{});
  entry.copied = {*inode, 0};
  entry.checksum = checksum(input->text);
  // Before it has its name: whoever resumes this run must not take it for an output. A rename changes its ctime.
  run.record(staged_record(entry));
  if (::rename(temporary.c_str(), local.c_str()) != 0) return errno_error("cannot put into the tree:", local);
  state.controls.note_changed_input(path);
  state.seen.note_being_put(path);
  auto after = on_events();
  state.seen.note_being_put("");
  if (const auto status = status_of(local); status && status->st_ino == *inode) {
    entry.copied.ctime_ns = identity_of(*status).ctime_ns;
    run.record(staged_record(entry));
  }
  // The version that the program had closed before is on the case.
  waiting.forget(path);
  if (!after) return forward(after);
  return true;
}

}  // namespace forebay::drain
