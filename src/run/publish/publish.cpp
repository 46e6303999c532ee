#include "run/publish/publish.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>

#include "run/publish/publish_parts.h"

namespace forebay::drain {
namespace {

// Another name of a file may just be replaced (by this run, or by one on a copy of the case that `cp -al` made). Then
// the file has another ctime a moment before it has one name less: it is checked again then.
Result<std::optional<struct stat>> status_at_rest(SharedFiles& shared, const std::string& path,
                                                  const Identity& expected, Clock& clock) {
  constexpr std::chrono::milliseconds rests_within{5'000}, interval{20};
  static std::atomic<int> checks_left{rests_within / interval};  // for all files: a user may have changed each mode
  while (true) {
    auto current = shared.status(path);
    if (!current || !*current) return current;
    const bool only_the_ctime =
        !still_is(**current, expected) && parts::same_but_ctime(identity_of(**current), expected);
    if (!only_the_ctime || (*current)->st_nlink < 2 || checks_left-- <= 0) return current;
    clock.sleep(interval);
  }
}

using parts::Context;
using parts::Temporary;
using parts::Written;

// The way in which the new content got its final name.
enum class Named { renamed, already_there };

class FilePublication {
 public:
  FilePublication(const Context& context, const layouts::Unit& unit)
      : context_(context),
        shared_(context.shared),
        unit_(unit),
        file_(unit.files.front()),
        temporary_(context, unit.target),
        as_link_(file_.hard_link.has_value()) {}

  Result<Published> run() {
    if (auto announced = temporary_.announce(); !announced) return forward(announced);
    auto written = write();
    if (!written) return forward(written);
    written_ = std::move(*written);
    if (auto turn = parts::await_turn(context_, unit_); !turn) return forward(turn);
    if (context_.settings.placing && written_.file)
      if (auto noted = context_.settings.placing({{unit_.target, identity_of(written_.made)}}); !noted)
        return forward(noted);
    auto named = unit_.replaces ? replace(*unit_.replaces) : make_new();
    if (!named) return forward(named);
    return finish(*named);
  }

 private:
  Result<Written> write() {
    bool made = false;
    const auto note = [&](const struct stat& status) {
      made = true;
      temporary_.own(status);
    };
    if (as_link_) {
      auto linked =
          parts::write_hard_link(context_, file_.hard_link->path, file_.hard_link->identity, temporary_.path(), note);
      if (!linked) return forward(linked);
      if (*linked) return std::move(**linked);
      as_link_ = made = false;
      ++published_.separated;
    }
    const auto replaced = unit_.replaces ? shared_.status(unit_.target) : std::optional<struct stat>();
    if (!replaced) return forward(replaced);
    auto written = parts::write_output(context_, file_, temporary_.path(), note, *replaced);
    if (!written && !made && written.error().errno_value == ENOENT) {
      if (auto parents = parts::make_parents(context_, unit_.target, published_.unsynced); !parents)
        written = forward(parents);
      else
        written = parts::write_output(context_, file_, temporary_.path(), note, *replaced);
    }
    // A file that exists under the name then is not ours. (When creating failed after all on the server, the name stays
    // in the journal only if the error does not say that nothing was made.)
    if (!written && !made && written.error().errno_value == EEXIST) temporary_.withdraw();
    return written;
  }

  Result<Named> make_new() {
    auto renamed = shared_.rename_new(temporary_.path(), unit_.target);
    if (!renamed && renamed.error().errno_value == EEXIST) return taken();
    // Done, or perhaps done: whatever fails from here on, the next attempt may find it.
    if (written_.file) context_.attempts.placed.push_back({{"", identity_of(written_.made)}});
    if (!renamed) return forward(renamed);
    temporary_.let_go();
    return Named::renamed;
  }

  // True for what an earlier attempt has placed, and nobody changed since.
  bool is_from_before(const struct stat& current) const {
    return std::ranges::any_of(context_.attempts.placed, [&](const auto& files) {
      return parts::same_but_ctime(identity_of(current), files.begin()->second);
    });
  }

  // The target is there and is not what may be replaced.
  Result<Named> taken() {
    if (as_link_) {  // its content must be known, to be compared
      as_link_ = false;
      if (auto removed = shared_.remove_file(temporary_.path()); !removed) return forward(removed);
      auto written = write();
      if (!written) return forward(written);
      written_ = std::move(*written);
    }
    const auto same = holds_content(unit_.target);
    if (!same) return forward(same);
    if (*same) return Named::already_there;
    const auto current = shared_.status(unit_.target);
    if (!current) return forward(current);
    if (*current && is_from_before(**current)) return replace(identity_of(**current));
    return tl::unexpected<Error>(parts::keep_beside(context_, temporary_, unit_.target,
                                                    [this](const std::string& path) { return holds_content(path); }));
  }

  Result<bool> holds_content(const std::string& path) {
    return parts::same_content(shared_, path, file_, written_.bytes, written_.checksum);
  }

  Result<Named> replace(const Identity& expected) {
    auto current = status_at_rest(shared_, unit_.target, expected, *context_.settings.clock);
    if (!current) return forward(current);
    // The user removed it during the run. Nothing of hers is replaced by writing it new.
    if (!*current) return make_new();
    if (!still_is(**current, expected)) return taken();
    if (auto lent = temporary_.lend(unit_.target); !lent) return forward(lent);
    auto exchanged = shared_.exchange(temporary_.path(), unit_.target);
    if (exchanged || exchanged_after_all()) return check_exchanged(expected);
    temporary_.take_back();
    if (exchanged.error().errno_value == ENOENT) return make_new();  // removed just now
    if (parts::lacks_exchange(exchanged.error())) return replace_by_rename(expected);
    return forward(exchanged);
  }

  // A server may do what it was asked and lose the answer.
  bool exchanged_after_all() {
    const auto under = shared_.status(temporary_.path());
    return under && *under && (*under)->st_ino != written_.made.st_ino;
  }

  Result<Named> check_exchanged(const Identity& expected) {
    const std::string& old = temporary_.path();
    const auto came_out = shared_.status(old);
    if (!came_out) return forward(came_out);
    if (!*came_out) return Named::renamed;
    if (parts::same_but_ctime(identity_of(**came_out), expected)) {
      if (!shared_.remove_file(old)) {
        // The old content is known to be the expected one, so a later cleanup may remove it.
        temporary_.own(**came_out);
        temporary_.take_back();
      }
      return Named::renamed;
    }
    // The user changed it between the check and the exchange: hers goes back under the name.
    if (auto back = shared_.exchange(old, unit_.target); back) {
      temporary_.own(written_.made);
      temporary_.take_back();
      return taken();
    }
    return error(Code::conflict, "changed on the case during the run:", unit_.target,
                 "the changed version is beside it as " + printable(name_of(old)) + "; keep the one you want");
  }

  // This file system has no exchange: an instant remains between the check and the rename.
  Result<Named> replace_by_rename(const Identity& expected) {
    const auto current = status_at_rest(shared_, unit_.target, expected, *context_.settings.clock);
    if (!current) return forward(current);
    if (!*current) return make_new();
    if (!still_is(**current, expected)) return taken();
    if (auto renamed = shared_.rename_over(temporary_.path(), unit_.target); !renamed) return forward(renamed);
    temporary_.let_go();
    return Named::renamed;
  }

  Result<Published> finish(Named named) {
    published_.unsynced.emplace_back(parent_of(unit_.target));
    auto identity = identity_now(named);
    if (!identity) return forward(identity);
    published_.files.push_back(
        {unit_.target, *identity, written_.bytes, written_.checksum, as_link_ ? file_.hard_link->path : std::string()});
    published_.bytes = written_.bytes;
    if (written_.without_set_id) published_.without_set_id.push_back(unit_.target);
    return std::move(published_);
  }

  Result<Identity> identity_now(Named named) {
    if (named == Named::renamed && written_.file) {
      // After the rename, which changes the ctime; through the descriptor, so it is our file for sure.
      const auto status = shared_.status(written_.file.get(), unit_.target);
      if (!status) return forward(status);
      return known_identity(*status);
    }
    const auto status = shared_.status(unit_.target);
    if (!status) return forward(status);
    if (!*status) return error(Code::failed, "vanished from the case:", unit_.target);
    return known_identity(**status);
  }

  const Context& context_;
  SharedFiles& shared_;
  const layouts::Unit& unit_;
  const layouts::OutputFile& file_;
  Temporary temporary_;
  bool as_link_;  // to be made as a hard link, or made so
  Written written_;
  Published published_;
};

}  // namespace

Identity known_identity(const struct stat& status) {
  Identity identity = identity_of(status);
  if (status.st_nlink > 1) identity.ctime_ns = 0;
  return identity;
}

Result<Published> publish(SharedFiles& shared, const layouts::Unit& unit, const std::string& run,
                          const PublishSettings& settings, Attempts& attempts) {
  const Context context{shared, run, settings, attempts};
  if (!unit.is_directory && unit.files.size() != 1)
    return error(Code::bad_input, "a file unit needs exactly one file:", unit.target);
  if (unit.continues) return parts::append(context, unit);
  auto published = unit.is_directory ? parts::publish_directory(context, unit) : FilePublication(context, unit).run();
  if (!published || settings.defer_directory_sync) return published;
  if (auto synced = sync_directories(shared, published->unsynced); !synced) return forward(synced);
  published->unsynced.clear();
  return published;
}

Status sync_directories(SharedFiles& shared, const std::vector<std::string>& directories) {
  std::vector<std::string> once = directories;
  std::ranges::sort(once);
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (const std::string& directory : once) {
    auto synced = shared.sync_directory(directory);
    if (!synced && synced.error().errno_value != ENOENT) return synced;
  }
  return {};
}

Status remove_published(SharedFiles& shared, const std::string& path, const Identity& expected, Clock& clock) {
  const auto current = status_at_rest(shared, path, expected, clock);
  if (!current) return forward(current);
  if (!*current) return {};
  if (!still_is(**current, expected))
    return error(Code::conflict, "changed on the case during the run:", path,
                 "it is kept; the program deleted its own version");
  auto removed = shared.remove_file(path);
  if (!removed && removed.error().errno_value == ENOENT) return {};
  return removed;
}

}  // namespace forebay::drain
