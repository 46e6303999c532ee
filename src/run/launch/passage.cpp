#include "run/launch/passage.h"

#include <sys/stat.h>
#include <unistd.h>

namespace forebay::launch {
namespace {

bool all_may_pass_to(const std::string& path) {
  for (std::string above = path; above != "/";) {
    above = directory_of(above);
    struct stat status {};
    if (::stat(above.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

}  // namespace

void let_pass(const PoolRun& run) {
  if (::geteuid() != 0 || !all_may_pass_to(run.plan.case_path)) return;
  constexpr mode_t passed_by_all = 0711;
  (void)::chmod(directory_of(run.tree()).c_str(), passed_by_all);
  for (const std::string& directory : run.directories)
    for (const std::string& each : {directory, directory_of(directory), directory_of(directory_of(directory))})
      (void)::chmod(each.c_str(), passed_by_all);
}

}  // namespace forebay::launch
