// The run, as all parts of a Drain know it.
#include "run/drain/run.h"

#include <dirent.h>

#include <algorithm>

#include "run/contract/text.h"
#include "run/drain/walk.h"

namespace forebay::drain {

void Run::learn(const Record& entry) {
  ledger.apply(entry);
  if (!entry.words.empty() && control::is_looked_at(request.control, entry.words.front()))
    touched.note(entry.words.front(), clock.now());
}

void Run::record(const std::vector<Record>& entries) {
  for (const Record& entry : entries) learn(entry);
  if (!journal || journal_failed || entries.empty()) return;
  if (auto appended = journal->append(entries); !appended) {
    journal_failed = true;
    note(std::nullopt,
         "the journal can no longer be written, so this run could not be resumed: " + appended.error().text());
  }
}

void Run::note(std::optional<Code> code, const std::string& message) {
  trouble = graver(trouble, code);
  if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
}

void Run::tell(const std::string& notice) {
  if (std::ranges::find(notices, notice) == notices.end()) notices.push_back(notice);
}

std::string Run::holder_of_times(int rank) const {
  return contract::holder_of_times(rank, request.settings.written_groups);
}

std::string Run::time_directory(int rank, const std::string& time) const {
  return join(holder_of_times(rank), time);
}

bool Run::is_link_to_case(const std::string& path, const std::string& at) const {
  return read_link(at).value_or("") == join(request.lower, path);
}

std::vector<std::string> Run::times_here(int rank) const {
  std::vector<std::string> names;
  const auto entries = list_directory(local_of(roots, holder_of_times(rank)));
  if (!entries) return names;  // that it is gone is told elsewhere
  for (const DirectoryEntry& entry : *entries)
    if (entry.type == DT_DIR && openfoam::is_time_name(entry.name)) names.push_back(entry.name);
  return names;
}

// A time that the case did not have: it appears there as a whole. Files of a time that was there are carried one by
// one.
bool Run::is_new_time(int rank, const std::string& time) const {
  const auto known = ledger.find(time_directory(rank, time));
  return !known || !known->staged;
}

double Run::now() const {
  return std::chrono::duration<double>(clock.now() - start).count();
}

double Run::seconds_at(const timespec& date) const {
  const auto ago =
      clock.date().time_since_epoch() - std::chrono::seconds(date.tv_sec) - std::chrono::nanoseconds(date.tv_nsec);
  return now() - std::chrono::duration<double>(ago).count();
}

bool Run::add_rank(int rank) {
  if (!contract::has_times(rank, request.settings.written_groups)) return false;
  const auto at = std::ranges::lower_bound(ranks, rank);
  if (at == ranks.end() || *at != rank) ranks.insert(at, rank);
  return true;
}

bool Run::serves(int rank) const {
  return std::ranges::binary_search(ranks, rank);
}

bool Run::alone() const {
  const contract::WrittenGroups& groups = request.settings.written_groups;
  return (groups.empty() ? static_cast<std::size_t>(request.settings.all_ranks) : groups.size()) <= ranks.size();
}

Status Run::record_staged(const std::vector<tree::Entry>& staged) {
  std::vector<Record> records;
  records.reserve(staged.size());
  for (const tree::Entry& entry : staged) records.push_back(staged_record(entry));
  for (const Record& entry : records) ledger.apply(entry);
  return journal->append(records);
}

std::optional<openfoam::TimePath> Run::time_path(std::string_view path) const {
  const contract::WrittenGroups& groups = request.settings.written_groups;
  if (groups.empty()) return openfoam::time_path(path);
  const std::string_view top = path.substr(0, path.find('/'));
  const auto group = std::ranges::find_if(groups, [&](const auto& each) { return each.second == top; });
  if (group == groups.end() || top.size() == path.size()) return std::nullopt;
  auto time = openfoam::time_path(path.substr(top.size() + 1));
  if (time && time->rank >= 0) return std::nullopt;
  if (time) time->rank = group->first;
  return time;
}

std::optional<openfoam::TimePath> Run::time_of(const std::string& path, bool is_directory) const {
  auto time = time_path(path);
  if (time && time->rest.empty() && !is_directory) time.reset();
  return time;
}

}  // namespace forebay::drain
