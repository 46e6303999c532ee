#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "run/launch/logs.h"
#include "run/launch/processes.h"

namespace forebay::launch {
namespace {

using FileId = std::pair<dev_t, ino_t>;

using OpenFilesOf = std::function<std::vector<OpenFile>(pid_t)>;

// Where somebody prints to: regular files, and pipes, behind which another process may print on.
struct Printed {
  std::set<FileId> files;
  std::set<ino_t> pipes;

  void add(const OpenFile& file) {
    if (!file.writes) return;
    if (file.status && S_ISREG(file.status->st_mode)) files.insert({file.status->st_dev, file.status->st_ino});
    if (file.pipe != 0) pipes.insert(file.pipe);
  }
};

// Only processes that read what was printed are looked into.
void follow_pipes(Printed& printed, const OpenFilesOf& open_files_of) {
  if (printed.pipes.empty()) return;
  std::vector<pid_t> others = own_processes();
  for (bool news = true; std::exchange(news, false);) {
    std::erase_if(others, [&](pid_t process) {
      if (!reads_pipe(process, printed.pipes)) return false;
      for (const OpenFile& file : open_files_of(process)) printed.add(file);
      return news = true;
    });
  }
}

}  // namespace

std::set<std::uint64_t> logs_of(pid_t process, const std::string& case_path) {
  std::set<std::uint64_t> logs;
  node::FileSystems systems;
  const auto of_case = systems.spot_of(case_path);
  if (!of_case) return logs;
  const OpenFilesOf open_files_of = [&](pid_t each) { return open_files(each, {of_case->device}, systems); };
  Printed printed;
  for (const OpenFile& file : open_files_of(process))
    if (file.number == STDOUT_FILENO || file.number == STDERR_FILENO) printed.add(file);
  for (const pid_t child : children_of(process))
    for (const OpenFile& file : open_files_of(child)) printed.add(file);
  follow_pipes(printed, open_files_of);
  struct stat status {};
  if (::stat(case_path.c_str(), &status) != 0) return logs;
  for (const auto& [device, inode] : printed.files)
    if (device == status.st_dev) logs.insert(inode);
  return logs;
}

}  // namespace forebay::launch
