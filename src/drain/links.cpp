// Files with several names: the first one that is carried brings the content, the others become hard links to it.
#include <sys/stat.h>

#include "drain/state.h"

namespace forebay::drain {

// A unit was found to have files with names elsewhere. Where the case has such a name already, as the file is now, it
// gets a second one. Where another unit is just bringing it, this one comes later.
void Drain::State::find_partners(const Job& job) {
  const std::set<FileId>& files = job.prepared->several_names;
  for (const FileId& file : files) {
    if (!carrying.contains(file)) continue;
    if (phase != Phase::running) return;  // the next pass finds it again
    if (job.kind == Job::Kind::file) {
      pending[job.key] = Clock::now();
    } else {
      waiting_times.push_back(job.time);
    }
    return;
  }
  std::set<ino_t> inodes;
  for (const auto& [device, inode] : files) inodes.insert(inode);
  const auto partners = std::make_shared<Partners>();
  ledger.each("", [&](const std::string& path, const Known& known) {
    if (!known.drained || known.deleted || !known.on_case || !inodes.contains(known.drained->inode)) return true;
    struct stat status {};
    if (::lstat(local_of(roots, path).c_str(), &status) != 0 || mark_of(status) != *known.drained) return true;
    const FileId file{status.st_dev, status.st_ino};
    if (files.contains(file)) partners->try_emplace(file, layouts::HardLink{path, false, *known.on_case});
    return true;
  });
  for (const FileId& file : files)
    if (!partners->contains(file)) carrying.emplace(file, job.key);
  if (job.kind == Job::Kind::file) {
    submit_file(job.key, phase == Phase::running, partners);
  } else {
    submit_rank_time(job.rank, job.time, job.from_keep, partners);
  }
}

// The second name changed the ctime of the first: it is no longer compared.
void Drain::State::note_second_name(const PublishedFile& file) {
  const auto first = ledger.find(file.linked_to);
  if (!first || !first->drained) return;
  record(drained_record(file.linked_to, file.identity, *first->drained, file.checksum));
}

}  // namespace forebay::drain
