#include "drain/ledger.h"

#include <sys/stat.h>

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

}  // namespace

LocalMark mark_of(const struct stat& status) {
  const Identity identity = identity_of(status);
  return {identity.inode, identity.size, identity.mtime_ns, status.st_mode & 07777};
}

Record staged_record(const tree::Entry& entry) {
  Record record{"staged", {entry.path, std::to_string(static_cast<int>(entry.kind)), std::to_string(entry.mode)}};
  add(record.words, entry.identity);
  record.words.push_back(entry.target);
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
  return record;
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

Record drained_link_record(const std::string& path, const Identity& on_case, const std::string& target) {
  Record record{"drained-link", {path}};
  add(record.words, on_case);
  record.words.push_back(target);
  return record;
}

Record drained_directory_record(const std::string& path, std::uint32_t mode) {
  return {"drained-directory", {path, std::to_string(mode)}};
}

Record collated_record(const CollatedTime& collated) {
  return {"collated", {collated.time, collated.group, std::to_string(collated.first), std::to_string(collated.last)}};
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
Record temporary_record(const std::string& path, bool made) {
  return {made ? "temporary" : "temporary-gone", {path}};
}
Record conflict_record(const std::string& path) {
  return {"conflict", {path}};
}
Record lost_events_record() {
  return {"lost-events", {}};
}
Record pool_full_record() {
  return {"pool-full", {}};
}

void Ledger::apply(const Record& record) {
  const std::string& kind = record.kind;
  const std::string& path = word(record, 0);
  if (kind == "staged") {
    Known& known = known_[path];
    known = {};
    known.staged = static_cast<tree::Kind>(number<int>(record, 1));
    known.directory = known.staged == tree::Kind::directory;
    known.mode = number<std::uint32_t>(record, 2);
    known.on_case = identity_at(record, 3);
    known.link_target = word(record, 8);
  } else if (kind == "drained") {
    Known& known = known_[path];
    known.on_case = identity_at(record, 1);
    known.drained = LocalMark{number<std::uint64_t>(record, 6), number<std::uint64_t>(record, 7),
                              number<std::int64_t>(record, 8), number<std::uint32_t>(record, 9)};
    placing_.erase(path);
    known.deleted = known.directory = known.evicted = false;
    known.link_target.clear();
  } else if (kind == "placing") {
    placing_[path] = identity_at(record, 1);
  } else if (kind == "placed") {
    Known& known = known_[path];
    known.on_case = identity_at(record, 1);
    placing_.erase(path);
    known.drained.reset();
    known.directory = false;
  } else if (kind == "drained-link") {
    Known& known = known_[path];
    known.on_case = identity_at(record, 1);
    known.drained.reset();
    known.link_target = word(record, 6);
    known.deleted = known.directory = false;
  } else if (kind == "drained-directory") {
    Known& known = known_[path];
    known.directory = true;
    known.deleted = false;
    known.mode = number<std::uint32_t>(record, 1);
    if (!known.on_case) known.on_case = Identity{};
  } else if (kind == "collated") {
    collated_.push_back({path, word(record, 1), number<int>(record, 2), number<int>(record, 3)});
  } else if (kind == "uncollated") {
    std::erase_if(collated_,
                  [&](const CollatedTime& each) { return each.time == path && each.group == word(record, 1); });
  } else if (kind == "deleted") {
    const auto found = known_.find(path);
    if (found != known_.end()) {
      found->second.deleted = true;
    } else {
      deleted_unknown_.insert(path);
    }
  } else if (kind == "removed") {
    known_.erase(path);
  } else if (kind == "evicted") {
    known_[path].evicted = true;
  } else if (kind == "complete") {
    complete_.insert(path);
    newest_complete_ = path;
  } else if (kind == "temporary") {
    temporaries_.insert(path);
  } else if (kind == "temporary-gone") {
    temporaries_.erase(path);
  } else if (kind == "conflict") {
    conflicts_.push_back(path);
  } else if (kind == "lost-events") {
    lost_events_ = true;
  } else if (kind == "pool-full") {
    pool_was_full_ = true;
  }
}

const Known* Ledger::find(const std::string& path) const {
  const auto found = known_.find(path);
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<CollatedTime> Ledger::collated_of(int rank, const std::string& time) const {
  for (const CollatedTime& collated : collated_)
    if (collated.time == time && collated.first <= rank && rank <= collated.last) return collated;
  return std::nullopt;
}

}  // namespace forebay::drain
