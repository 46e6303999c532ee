#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "run/launch/logs.h"
#include "run/launch/processes.h"

namespace forebay::launch {
namespace {

using FileId = std::pair<dev_t, ino_t>;

// Where somebody prints to: regular files, and pipes, behind which another process may print on.
struct Printed {
  std::set<FileId> files;
  std::set<ino_t> pipes;

  void add(const OpenFile& file) {
    if (!file.writes) return;
    if (S_ISREG(file.status.st_mode)) files.insert({file.status.st_dev, file.status.st_ino});
    if (S_ISFIFO(file.status.st_mode)) pipes.insert(file.status.st_ino);
  }
};

// Only processes that read what was printed are looked into.
void follow_pipes(Printed& printed) {
  if (printed.pipes.empty()) return;
  std::vector<pid_t> others = own_processes();
  for (bool news = true; std::exchange(news, false);) {
    std::erase_if(others, [&](pid_t process) {
      if (!reads_pipe(process, printed.pipes)) return false;
      for (const OpenFile& file : open_files(process)) printed.add(file);
      return news = true;
    });
  }
}

}  // namespace

std::set<std::uint64_t> logs_of(pid_t process, const std::string& case_path) {
  Printed printed;
  for (const OpenFile& file : open_files(process))
    if (file.number == STDOUT_FILENO || file.number == STDERR_FILENO) printed.add(file);
  for (const pid_t child : children_of(process))
    for (const OpenFile& file : open_files(child)) printed.add(file);
  follow_pipes(printed);
  std::set<std::uint64_t> logs;
  struct stat of_case {};
  if (::stat(case_path.c_str(), &of_case) != 0) return logs;
  for (const auto& [device, inode] : printed.files)
    if (device == of_case.st_dev) logs.insert(inode);
  return logs;
}

}  // namespace forebay::launch
