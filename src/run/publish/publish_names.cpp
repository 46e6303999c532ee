// Names on the case: temporary ones, those kept beside, and the directories above a target.
#include <dirent.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/random.h"
#include "run/publish/publish_parts.h"

namespace forebay::drain {
namespace {

constexpr std::string_view unpublished_prefix = ".fb-";
constexpr std::size_t name_limit = 255;
// Beyond that many versions kept beside one name something else is wrong.
constexpr int most_beside = 100;

bool is_unpublished(std::string_view name) {
  return name.size() == unpublished_prefix.size() + 16 && name.starts_with(unpublished_prefix) &&
         name.find_first_not_of("0123456789abcdef", unpublished_prefix.size()) == std::string_view::npos;
}

// The second half of the digits follows from the first and the run.
std::string temporary_of(const std::string& run, std::uint32_t nonce) {
  const auto mark = static_cast<std::uint32_t>(checksum(fmt::format("{:08x}\n{}", nonce, run)));
  return fmt::format("{}{:08x}{:08x}", unpublished_prefix, nonce, mark);
}

bool is_temporary_of(const std::string& run, std::string_view name) {
  if (!is_unpublished(name)) return false;
  std::uint32_t nonce = 0;
  const std::string_view digits = name.substr(unpublished_prefix.size(), 8);
  std::from_chars(digits.begin(), digits.end(), nonce, 16);
  return name == temporary_of(run, nonce);
}

std::string beside_name(const std::string& target, const std::string& run, int number) {
  const std::string name(name_of(target));
  const std::string suffix = number == 1 ? ".forebay-" + run : fmt::format(".forebay-{}-{}", run, number);
  if (name.size() + suffix.size() <= name_limit) return target + suffix;
  // A name that would be too long is cut, and told apart from its like by its hash.
  const std::string tail = "~" + hex(checksum(name)) + suffix;
  std::size_t kept = name_limit - std::min(name_limit, tail.size());
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0) == 0x80) --kept;  // not within a UTF-8 character
  return join(parent_of(target), name.substr(0, kept) + tail);
}

}  // namespace

std::string temporary_name(const std::string& target, const std::string& run) {
  return join(parent_of(target), temporary_of(run, static_cast<std::uint32_t>(random_number())));  // O_EXCL decides
}

bool is_name_of_forebay(std::string_view name, std::string_view run) {
  return is_unpublished(name) || name.find(fmt::format(".forebay-{}", run)) != std::string_view::npos;
}

Status remove_temporary(SharedFiles& shared, const std::string& path) {
  if (!is_unpublished(name_of(path))) return error(Code::bad_input, "not a temporary name of forebay:", path);
  return parts::remove_all(shared, path);
}

Result<std::size_t> remove_temporaries(SharedFiles& shared, const std::string& run, const std::string& directory) {
  const auto entries = shared.list(directory);
  if (!entries) return forward(entries);
  std::size_t removed = 0;
  for (const DirectoryEntry& entry : *entries) {
    const std::string path = join(directory, entry.name);
    if (is_temporary_of(run, entry.name)) {
      if (auto gone = parts::remove_all(shared, path); !gone) return forward(gone);
      ++removed;
    } else if (entry.type == DT_DIR) {
      auto below = remove_temporaries(shared, run, path);
      if (!below) return below;
      removed += *below;
    }
  }
  return removed;
}

namespace parts {

Temporary::Temporary(const Context& context, const std::string& target)
    : context_(context), path_(temporary_name(target, context.run)) {}

Temporary::~Temporary() {
  if (!announced_ && !made_) return;
  const auto status = context_.shared.status(path_);
  if (!status) return;  // it stays in the journal, for a later cleanup
  if (*status) {
    if (!made_) return;  // making it failed, and yet it is there: the cleanup's as well
    const bool ours = (*status)->st_dev == device_ && (*status)->st_ino == inode_;
    if (ours && !remove_all(context_.shared, path_)) return;
  }
  note_gone();
}

Status Temporary::announce() {
  if (context_.settings.temporary)
    if (auto noted = context_.settings.temporary(path_, true); !noted) return noted;
  announced_ = true;
  return {};
}

void Temporary::withdraw() {
  note_gone();
}

void Temporary::own(const struct stat& made) {
  device_ = made.st_dev;
  inode_ = made.st_ino;
  made_ = true;
}

void Temporary::let_go() {
  made_ = false;
  note_gone();
}

Status Temporary::lend(const std::string& target) {
  if (context_.settings.replacing)
    if (auto noted = context_.settings.replacing(path_, target, made_ ? inode_ : 0); !noted) return noted;
  let_go();
  return {};
}

void Temporary::take_back() {
  made_ = true;
  // When the journal takes nothing, the destructor still removes it; only a crash in between leaves the name.
  (void)announce();
}

void Temporary::note_gone() {
  // A journal that takes nothing keeps a name that never comes back: names are random.
  if (announced_ && context_.settings.temporary) (void)context_.settings.temporary(path_, false);
  announced_ = false;
}

bool same_but_ctime(const Identity& a, const Identity& b) {
  return a.device == b.device && a.inode == b.inode && a.size == b.size && a.mtime_ns == b.mtime_ns;
}

bool lacks_exchange(const Error& error) {
  return error.errno_value == EINVAL || error.errno_value == ENOSYS || error.errno_value == EOPNOTSUPP;
}

Status await_turn(const Context& context, const layouts::Unit& unit) {
  if (!context.settings.turn || context.settings.turn()) return {};
  return tl::unexpected<Error>(Error{Code::failed, "stopped before it got its name:", unit.target, ECANCELED, {}});
}

Status make_parents(const Context& context, const std::string& target, std::vector<std::string>& unsynced) {
  SharedFiles& shared = context.shared;
  for (std::size_t end = target.find('/'); end != std::string::npos; end = target.find('/', end + 1)) {
    const std::string directory = target.substr(0, end);
    const auto status = shared.status(directory);
    if (!status) return forward(status);
    if (*status) continue;
    auto made = shared.make_directory(directory, (0777 & ~context.settings.umask) | S_IRWXU);
    if (!made && made.error().errno_value == EEXIST) continue;  // another thread was faster
    if (!made) return made;
    unsynced.emplace_back(parent_of(directory));
  }
  return {};
}

Status remove_all(SharedFiles& shared, const std::string& path) {
  const auto status = shared.status(path);
  if (!status) return forward(status);
  if (!*status) return {};
  if (!S_ISDIR((*status)->st_mode)) return shared.remove_file(path);
  // Best effort: without these bits nothing below could be removed, and then the removal itself tells.
  if (((*status)->st_mode & S_IRWXU) != S_IRWXU) (void)shared.finish_directory(path, S_IRWXU);
  const auto entries = shared.list(path);
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries)
    if (auto removed = remove_all(shared, join(path, entry.name)); !removed) return removed;
  return shared.remove_directory(path);
}

Error keep_beside(const Context& context, Temporary& temporary, const std::string& target,
                  const std::function<Result<bool>(const std::string&)>& same_beside) {
  for (int number = 1; number <= most_beside; ++number) {
    const std::string beside = beside_name(target, context.run, number);
    const Error conflict{Code::conflict, "changed on the case during the run:", target, 0,
                         "the run's version is beside it as " + printable(name_of(beside)) + "; keep the one you want"};
    auto kept = context.shared.rename_new(temporary.path(), beside);
    if (kept) {
      temporary.let_go();
      if (auto synced = sync_directories(context.shared, {std::string(parent_of(target))}); !synced)
        return synced.error();
      return conflict;
    }
    if (kept.error().errno_value != EEXIST) return kept.error();
    const auto same = same_beside(beside);
    if (!same) return same.error();
    if (*same) return conflict;
  }
  return Error{Code::conflict, "changed on the case during the run:", target, 0,
               "too many versions are beside it already; the run's version is still in the pool"};
}

}  // namespace parts
}  // namespace forebay::drain
