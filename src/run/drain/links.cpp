// Files with several names: the first one that is carried brings the content, the others become hard links to it.
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "run/drain/placed.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

bool is_file(const std::string& path, const FileId& file) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && FileId{status.st_dev, status.st_ino} == file;
}

}  // namespace

bool use_partners(layouts::Unit& unit, const std::string& directory, const OwnNames& own, const Partners* partners,
                  FilesOnTheirWay& on_their_way, Prepared& prepared) {
  // Before it is asked how many names they have.
  for (const layouts::OutputFile& file : unit.files)
    if (const auto status = status_of(join(directory, file.path)); status && S_ISREG(status->st_mode))
      on_their_way.add(unit.target, {status->st_dev, status->st_ino});
  std::map<FileId, std::pair<layouts::OutputFile*, nlink_t>> elsewhere;  // how many names are not explained yet
  for (layouts::OutputFile& file : unit.files) {
    struct stat status {};
    if (::lstat(join(directory, file.path).c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const FileId id{status.st_dev, status.st_ino};
    nlink_t& unknown = elsewhere.try_emplace(id, &file, status.st_nlink).first->second.second;
    --unknown;
    if (const auto names = own.find(file.path); names != own.end())
      for (const std::string& name : names->second)
        if (is_file(name, id)) --unknown;
  }
  for (const auto& [id, found] : elsewhere) {
    const auto& [file, unknown] = found;
    if (unknown == 0) continue;
    if (partners == nullptr) {
      prepared.several_names.insert(id);
    } else if (const auto partner = partners->find(id); partner != partners->end()) {
      file->hard_link = partner->second;
    }
  }
  if (prepared.several_names.empty()) return true;
  on_their_way.remove(unit.target);
  return false;
}

// A unit was found to have files with names elsewhere. Where the case has such a name already, as the file is now, it
// gets a second one. Where another unit is just bringing it, or it is in doubt, this one comes later.
void Links::find_partners(const Job& job) {
  const std::set<FileId>& files = job.prepared->several_names;
  if (std::ranges::any_of(files, [&](const FileId& file) { return on_their_way_.contains(file); }))
    return try_later(job);
  bool in_doubt = false;
  std::set<ino_t> inodes;
  for (const auto& [device, inode] : files) inodes.insert(inode);
  const auto partners = std::make_shared<Partners>();
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    const ino_t inode = known.drained ? known.drained->inode : known.copy ? known.copy->inode : 0;
    if (known.deleted || !known.on_case || !inodes.contains(inode)) return true;
    struct stat status {};
    const std::string local = content_of(local_of(run_.roots, path), run_.request.placed);
    if (::lstat(local.c_str(), &status) != 0 || !is_as_known(known, mark_of(status))) return true;
    const FileId file{status.st_dev, status.st_ino};
    if (!files.contains(file)) return true;
    in_doubt = in_doubt || (run_.phase == Phase::running ? work_.doubts.was_closed(path)
                                                         : work_.doubts.is_in_doubt(path, local, status, known));
    partners->try_emplace(file, layouts::HardLink{path, false, *known.on_case});
    return true;
  });
  if (in_doubt) return try_later(job);
  for (const FileId& file : files)
    if (!partners->contains(file)) on_their_way_.add(job.key, file);
  if (job.kind == Job::Kind::file) {
    work_.submit_file(job.key, run_.phase == Phase::running, partners, job.place.turn);
  } else {
    work_.submit_rank_time(job.rank, job.time, job.from_held, partners, job.place.turn);
  }
}

void Links::try_later(const Job& job) {
  if (run_.phase != Phase::running) return;  // the next pass finds it again
  // A time is submitted again after the next look. A file gets a new turn: the job that it waits for may wait for this.
  if (job.kind == Job::Kind::file) work_.waiting.wait_for_quiet(job.key);
}

// The second name changed the ctime of all others: it is no longer compared.
void Links::note_second_name(const PublishedFile& file) {
  std::vector<std::pair<std::string, Known>> names;
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    const bool is_name = path != file.path && known.on_case && known.on_case->inode == file.identity.inode &&
                         known.on_case->device == file.identity.device;
    if (is_name && (known.drained || known.staged)) names.emplace_back(path, known);
    return true;
  });
  for (const auto& [path, known] : names) {
    if (known.drained) {
      run_.record(drained_record(path, file.identity, *known.drained, known.checksum));
    } else {
      run_.record(staged_record({path,
                                 *known.staged,
                                 known.mode,
                                 file.identity,
                                 known.link_target,
                                 known.owner.value_or(Owner{}),
                                 {},
                                 known.copy.value_or(tree::Copied{}),
                                 known.checksum}));
    }
    if (known.deleted) run_.record(deleted_record(path));  // a removal that was told meanwhile stays told
    if (known.evicted) run_.record(evicted_record(path));
  }
}

}  // namespace forebay::drain
