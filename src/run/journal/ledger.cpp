#include "run/journal/ledger.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace forebay::drain {
namespace {

// Numbers of a record; a word that is not a number reads as 0, which no identity on a medium equals.
template <class Number>
Number number(const Record& record, std::size_t index) {
  Number value{};
  if (index < record.words.size()) {
    const std::string& word = record.words[index];
    std::from_chars(word.data(), word.data() + word.size(), value);
  }
  return value;
}

const std::string& word(const Record& record, std::size_t index) {
  static const std::string empty;
  return index < record.words.size() ? record.words[index] : empty;
}

void add(std::vector<std::string>& words, const Identity& identity) {
  for (const std::uint64_t value : {identity.device, identity.inode, identity.size})
    words.push_back(std::to_string(value));
  for (const std::int64_t value : {identity.mtime_ns, identity.ctime_ns}) words.push_back(std::to_string(value));
}

Identity identity_at(const Record& record, std::size_t index) {
  return {number<std::uint64_t>(record, index), number<std::uint64_t>(record, index + 1),
          number<std::uint64_t>(record, index + 2), number<std::int64_t>(record, index + 3),
          number<std::int64_t>(record, index + 4)};
}

std::uint64_t checksum_at(const Record& record, std::size_t index) {
  std::uint64_t value = 0;
  const std::string& digits = word(record, index);
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

void add(std::vector<std::string>& words, const Owner& owner) {
  words.push_back(std::to_string(owner.user));
  words.push_back(std::to_string(owner.group));
}

std::optional<Owner> owner_at(const Record& record, std::size_t index) {
  if (record.words.size() < index + 2) return std::nullopt;
  return Owner{number<uid_t>(record, index), number<gid_t>(record, index + 1)};
}

}  // namespace

LocalMark mark_of(const struct stat& status) {
  const Identity identity = identity_of(status);
  return {identity.inode,         identity.size,    identity.mtime_ns,
          status.st_mode & 07777, owner_of(status), identity.ctime_ns};
}

bool is_as_known(const Known& known, const LocalMark& mark) {
  if (known.drained) return known.drained == mark;
  if (known.staged != tree::Kind::copy) return false;
  const bool is_ours = known.copy && known.copy->inode != 0 && known.copy->inode == mark.inode;
  if (is_ours && (known.copy->ctime_ns == 0 || known.copy->ctime_ns == mark.ctime_ns)) return true;
  return known.on_case && known.on_case->size == mark.size && known.on_case->mtime_ns == mark.mtime_ns &&
         known.mode == mark.mode;
}

Record staged_record(const tree::Entry& entry) {
  Record record{"staged", {entry.path, std::to_string(static_cast<int>(entry.kind)), std::to_string(entry.mode)}};
  add(record.words, entry.identity);
  record.words.push_back(entry.target);
  record.words.push_back(std::to_string(entry.identity.links));
  add(record.words, entry.owner);
  if (entry.kind == tree::Kind::copy) {
    record.words.push_back(std::to_string(entry.copied.inode));
    record.words.push_back(std::to_string(entry.copied.ctime_ns));
    record.words.push_back(hex(entry.checksum));
  }
  return record;
}

Record drained_record(const std::string& path, const Identity& on_case, const LocalMark& local,
                      std::uint64_t checksum) {
  Record record{"drained", {path}};
  add(record.words, on_case);
  record.words.push_back(std::to_string(local.inode));
  record.words.push_back(std::to_string(local.size));
  record.words.push_back(std::to_string(local.mtime_ns));
  record.words.push_back(std::to_string(local.mode));
  record.words.push_back(hex(checksum));
  add(record.words, local.owner);
  record.words.push_back(std::to_string(local.ctime_ns));
  return record;
}

Record brought_record(const std::string& path) {
  return {"brought", {path}};
}

Record placing_record(const std::string& path, const Identity& before) {
  Record record{"placing", {path}};
  add(record.words, before);
  return record;
}

Record placed_record(const std::string& path, const Identity& on_case) {
  Record record{"placed", {path}};
  add(record.words, on_case);
  return record;
}

Record growing_record(const std::string& path) {
  return {"growing", {path}};
}

Record drained_link_record(const std::string& path, const Identity& on_case, const std::string& target) {
  Record record{"drained-link", {path}};
  add(record.words, on_case);
  record.words.push_back(target);
  return record;
}

Record drained_directory_record(const std::string& path, std::uint32_t mode, std::optional<Owner> owner) {
  Record record{"drained-directory", {path, std::to_string(mode)}};
  if (owner) add(record.words, *owner);
  return record;
}

Record collated_record(const CollatedTime& collated) {
  return {"collated",
          {collated.time, collated.group, std::to_string(collated.first), std::to_string(collated.last),
           std::to_string(collated.sources.files), std::to_string(collated.sources.marks),
           std::to_string(collated.sources.newest_ns)}};
}

Record uncollated_record(const CollatedTime& collated) {
  return {"uncollated", {collated.time, collated.group}};
}
Record deleted_record(const std::string& path) {
  return {"deleted", {path}};
}
Record removed_record(const std::string& path) {
  return {"removed", {path}};
}
Record evicted_record(const std::string& path) {
  return {"evicted", {path}};
}
Record complete_record(const std::string& time) {
  return {"complete", {time}};
}
Record whole_checkpoint_record(const std::string& path, int version, std::uint64_t marks) {
  return {"checkpoint-whole", {path, std::to_string(version), hex(marks)}};
}
Record carried_checkpoint_record(const std::string& path, int version) {
  return {"checkpoint-carried", {path, std::to_string(version)}};
}
Record replacing_record(const std::string& temporary, const std::string& target, std::uint64_t inode) {
  return {"replacing", {temporary, target, std::to_string(inode)}};
}

Record temporary_record(const std::string& path, bool made) {
  return {made ? "temporary" : "temporary-gone", {path}};
}
Record conflict_record(const std::string& path) {
  return {"conflict", {path}};
}
Record lost_events_record() {
  return {"lost-events", {}};
}
Record pool_full_record(const std::string& path) {
  return {"pool-full", path.empty() ? std::vector<std::string>() : std::vector<std::string>{path}};
}
Record ended_cleanly_record() {
  return {"ended-cleanly", {}};
}

namespace {

// Learns what a record tells of the file, link or directory at its path; false where it tells of something else.
bool learn(Known& known, const Record& record) {
  const std::string& kind = record.kind;
  if (kind == "staged") {
    known = {};
    known.staged = static_cast<tree::Kind>(number<int>(record, 1));
    known.directory = known.staged == tree::Kind::directory;
    known.mode = number<std::uint32_t>(record, 2);
    known.on_case = identity_at(record, 3);
    known.link_target = word(record, 8);
    known.on_case->links = number<std::uint64_t>(record, 9);
    known.owner = owner_at(record, 10);
    if (known.staged == tree::Kind::copy)
      known.copy = tree::Copied{number<std::uint64_t>(record, 12), number<std::int64_t>(record, 13)};
    known.checksum = checksum_at(record, 14);
  } else if (kind == "drained") {
    known.on_case = identity_at(record, 1);
    known.drained = LocalMark{number<std::uint64_t>(record, 6),
                              number<std::uint64_t>(record, 7),
                              number<std::int64_t>(record, 8),
                              number<std::uint32_t>(record, 9),
                              owner_at(record, 11).value_or(Owner{::geteuid(), ::getegid()}),
                              number<std::int64_t>(record, 13)};
    known.checksum = checksum_at(record, 10);
    known.copy.reset();
    known.deleted = known.directory = known.evicted = false;
    known.link_target.clear();
  } else if (kind == "placed") {
    known.on_case = identity_at(record, 1);
    known.drained.reset();
    known.directory = false;
  } else if (kind == "drained-link") {
    known.on_case = identity_at(record, 1);
    known.drained.reset();
    known.link_target = word(record, 6);
    known.deleted = known.directory = false;
  } else if (kind == "drained-directory") {
    known.directory = true;
    known.deleted = false;
    known.mode = number<std::uint32_t>(record, 1);
    if (const auto owner = owner_at(record, 2)) known.owner = owner;
    if (!known.on_case) known.on_case = Identity{};
  } else {
    return false;
  }
  return true;
}

}  // namespace

void Ledger::apply(const Record& record) {
  const std::string& kind = record.kind;
  const std::string& path = word(record, 0);
  const auto found = find(path);
  Known known = found.value_or(Known{});
  if (learn(known, record)) {
    if (kind == "drained" || kind == "placed") {
      placing_.erase(path);
      std::erase_if(replacing_, [&](const auto& each) { return each.second.target == path; });
    }
    store(path, known);
  } else if (kind == "placing") {
    placing_[path] = identity_at(record, 1);
  } else if (kind == "collated") {
    collated_.push_back(
        {path,
         word(record, 1),
         number<int>(record, 2),
         number<int>(record, 3),
         {number<std::uint64_t>(record, 4), number<std::uint64_t>(record, 5), number<std::int64_t>(record, 6)}});
  } else if (kind == "uncollated") {
    std::erase_if(collated_,
                  [&](const CollatedTime& each) { return each.time == path && each.group == word(record, 1); });
  } else if (kind == "growing") {
    growing_.insert(path);
  } else if (kind == "brought") {
    brought_.insert(path);
  } else if (kind == "deleted" || kind == "evicted") {
    const bool deleted = kind == "deleted";
    if (found) {
      (deleted ? known.deleted : known.evicted) = true;
      store(path, known);
    } else {
      (deleted ? deleted_unknown_ : evicted_unknown_).insert(path);
    }
  } else if (kind == "removed") {
    erase(path);
  } else if (kind == "complete") {
    complete_.insert(path);
  } else if (kind == "checkpoint-whole") {
    checkpoints_[path].whole = number<int>(record, 1);
    checkpoints_[path].marks = checksum_at(record, 2);
  } else if (kind == "checkpoint-carried") {
    checkpoints_[path].home = number<int>(record, 1);
  } else if (kind == "temporary") {
    temporaries_.insert(path);
    replacing_.erase(path);
  } else if (kind == "temporary-gone") {
    temporaries_.erase(path);
  } else if (kind == "replacing") {
    temporaries_.erase(path);
    replacing_[path] = {word(record, 1), number<std::uint64_t>(record, 2)};
  } else if (kind == "lost-events") {
    lost_events_ = true;
  } else if (kind == "pool-full") {
    pool_was_full_ = true;
  } else if (kind == "ended-cleanly") {
    ended_cleanly_ = true;
  }
}

std::optional<Known> Ledger::find(std::string_view path) const {
  const auto directory = directories_.find(parent_of(path));
  if (directory == directories_.end()) return std::nullopt;
  const auto found = directory->second.find(name_of(path));
  if (found == directory->second.end()) return std::nullopt;
  return unpacked(std::string(path), found->second);
}

bool Ledger::was_drained(std::string_view path) const {
  const auto known = find(path);
  return known && !known->deleted && (known->drained || (!known->staged && !known->link_target.empty()));
}

void Ledger::each(std::string_view path, const Visit& visit) const {
  if (!path.empty())
    if (const auto itself = find(path); itself && !visit(std::string(path), *itself)) return;
  for (auto at = directories_.lower_bound(path); at != directories_.end() && at->first.starts_with(path); ++at)
    if ((path.empty() || is_below(at->first, path)) && !each_in(at->first, at->second, visit)) return;
}

void Ledger::names_in(std::string_view directory, const Visit& visit) const {
  const auto found = directories_.find(directory);
  if (found != directories_.end()) (void)each_in(found->first, found->second, visit);
}

bool Ledger::each_in(const std::string& directory, const Names& names, const Visit& visit) const {
  for (const auto& [name, packed] : names) {
    const std::string path = join(directory, name);
    if (!visit(path, unpacked(path, packed))) return false;
  }
  return true;
}

template <class Value>
std::uint16_t Ledger::index_of(std::vector<Value>& values, const Value& value) {
  const auto found = std::ranges::find(values, value);
  const auto index = static_cast<std::uint16_t>(found - values.begin());
  if (found == values.end()) values.push_back(value);
  return index;
}

void Ledger::store(const std::string& path, const Known& known) {
  const Identity on_case = known.on_case.value_or(Identity{});
  Packed packed{};
  packed.inode = on_case.inode;
  packed.size = on_case.size;
  packed.mtime_ns = on_case.mtime_ns;
  packed.ctime_ns = on_case.ctime_ns;
  packed.links = static_cast<unsigned>(std::min(on_case.links, most_links)) & 1023U;
  packed.device = index_of(devices_, on_case.device);
  packed.mode = known.mode & 07777U;
  packed.staged = (known.staged ? 1U + static_cast<unsigned>(*known.staged) : 0U) & 7U;
  if (const auto owner = known.drained ? std::optional(known.drained->owner) : known.owner)
    packed.owner = static_cast<std::uint16_t>(1 + index_of(owners_, *owner));
  packed.on_case = known.on_case.has_value();
  packed.directory = known.directory;
  packed.deleted = known.deleted;
  packed.evicted = known.evicted;
  packed.drained = known.drained.has_value();
  packed.checksum = known.checksum;
  if (known.copy) {
    packed.local_inode = known.copy->inode;
    packed.local_ctime_ns = known.copy->ctime_ns;
  }
  if (known.drained) {
    packed.local_inode = known.drained->inode;
    packed.local_ctime_ns = known.drained->ctime_ns;
    packed.mode = known.drained->mode & 07777U;
    packed.local_mtime_ns = known.drained->mtime_ns;
    packed.other_mark = packed.local_inode != 0 && known.drained->size != on_case.size;
  }
  packed.has_target = !known.link_target.empty();
  Packed& stored = directories_[std::string(parent_of(path))][std::string(name_of(path))];
  if (packed.has_target) {
    targets_[path] = known.link_target;
  } else if (stored.has_target) {
    targets_.erase(path);
  }
  if (packed.other_mark) {
    marks_[path] = *known.drained;
  } else if (stored.other_mark) {
    marks_.erase(path);
  }
  stored = packed;
}

void Ledger::erase(std::string_view path) {
  growing_.erase(std::string(path));
  brought_.erase(std::string(path));
  const auto directory = directories_.find(parent_of(path));
  if (directory == directories_.end()) return;
  const auto found = directory->second.find(name_of(path));
  if (found == directory->second.end()) return;
  if (found->second.has_target) targets_.erase(std::string(path));
  if (found->second.other_mark) marks_.erase(std::string(path));
  directory->second.erase(found);
  if (directory->second.empty()) directories_.erase(directory);
}

Known Ledger::unpacked(const std::string& path, const Packed& packed) const {
  Known known;
  if (packed.staged != 0) known.staged = static_cast<tree::Kind>(packed.staged - 1);
  known.mode = packed.mode;
  if (packed.on_case)
    known.on_case =
        Identity{devices_[packed.device], packed.inode, packed.size, packed.mtime_ns, packed.ctime_ns, packed.links};
  const auto owner = packed.owner != 0 ? std::optional(owners_[packed.owner - 1U]) : std::nullopt;
  if (!packed.drained) known.owner = owner;
  known.checksum = packed.checksum;
  if (!packed.drained && known.staged == tree::Kind::copy)
    known.copy = tree::Copied{packed.local_inode, packed.local_ctime_ns};
  if (packed.other_mark) {
    known.drained = marks_.at(path);
  } else if (packed.drained && packed.local_inode != 0) {
    known.drained =
        LocalMark{packed.local_inode, packed.size, packed.local_mtime_ns, packed.mode, *owner, packed.local_ctime_ns};
  } else if (packed.drained) {
    known.drained = LocalMark{};
  }
  if (packed.has_target) known.link_target = targets_.at(path);
  known.directory = packed.directory;
  known.deleted = packed.deleted;
  known.evicted = packed.evicted;
  known.grows = growing_.contains(path);
  return known;
}

std::optional<CollatedTime> Ledger::collated_of(int rank, const std::string& time) const {
  for (const CollatedTime& collated : collated_)
    if (collated.time == time && collated.first <= rank && rank <= collated.last) return collated;
  return std::nullopt;
}

CheckpointVersions Ledger::checkpoint(const std::string& path) const {
  const auto found = checkpoints_.find(path);
  return found == checkpoints_.end() ? CheckpointVersions{} : found->second;
}

}  // namespace forebay::drain
