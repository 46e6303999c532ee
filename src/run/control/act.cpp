// Decides what is to be done about a name, by what the case, the ledger and the tree have under it.
#include "run/control/control.h"

#include "run/tree/links.h"

namespace forebay::control {

bool is_as_known(const OnCase& there, const drain::Known& known) {
  if (known.directory) return there.kind == OnCase::Kind::directory;
  if (!known.on_case || there.kind == OnCase::Kind::directory) return false;
  const Identity &now = there.identity, &then = *known.on_case;
  return now.device == then.device && now.inode == then.inode && now.size == then.size && now.mtime_ns == then.mtime_ns;
}

namespace {

// A file or link that was known is gone from the case.
Act act_on_absence(const drain::Known& known, Here here) {
  if (known.deleted || !known.on_case) return Act::none;
  const bool unchanged = here == Here::link || here == Here::same || (here == Here::directory && known.directory);
  return unchanged ? Act::take : Act::none;
}

}  // namespace

bool leads_out(const std::string& path, const OnCase& there) {
  return there.kind == OnCase::Kind::link &&
         (there.target.starts_with('/') || tree::leads_out(parent_of(path), there.target));
}

Act act_on(const std::optional<OnCase>& there, const std::optional<drain::Known>& known, Here here, bool brought) {
  if (!there) return known ? act_on_absence(*known, here) : Act::none;
  if (known && is_as_known(*there, *known)) return Act::none;
  const bool is_new = !known || known->deleted, is_directory = there->kind == OnCase::Kind::directory;
  switch (here) {
    case Here::nothing:
      return is_new ? Act::show : Act::none;  // what is known and not here is about to be told as removed
    case Here::link:
      return known && brought && !is_directory ? Act::note : Act::none;
    case Here::same:
      return known && !is_directory ? Act::show : Act::none;
    case Here::directory:
      return Act::none;
    case Here::other:
      return is_directory || (known && known->grows) ? Act::none : Act::carry;
  }
  return Act::none;
}

bool Touched::since(const std::string& path, Clock::time_point then) const {
  for (std::string_view at = path; !at.empty(); at = parent_of(at))
    if (const auto found = when_.find(at); found != when_.end() && found->second >= then) return true;
  const std::string below = path + "/";
  for (auto at = when_.lower_bound(below); at != when_.end() && at->first.starts_with(below); ++at)
    if (at->second >= then) return true;
  return false;
}

void Touched::forget_before(Clock::time_point then) {
  std::erase_if(when_, [&](const auto& each) { return each.second < then; });
}

}  // namespace forebay::control
