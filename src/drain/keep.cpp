#include "drain/keep.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace forebay::drain {
namespace {

Status make_directories(const std::string& path, const std::string& root, std::set<std::string>& made) {
  if (path.size() <= root.size() || made.contains(path)) return {};
  if (auto parent = make_directories(std::string(parent_of(path)), root, made); !parent) return parent;
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errno_error("cannot make directory", path);
  made.insert(path);
  return {};
}

}  // namespace

void Keep::add_rank(int rank, const std::string& pool_directory) {
  roots_[rank] = pool_directory;
}

std::string Keep::directory(int rank, const std::string& time) const {
  const auto root = roots_.find(rank);
  const std::string name = rank < 0 ? std::string("serial") : fmt::format("processor{}", rank);
  return fmt::format("{}/keep/{}/{}", root == roots_.end() ? std::string() : root->second, name, time);
}

Result<bool> Keep::add(int rank, const std::string& time, const std::string& file, const std::string& local) {
  const std::string kept = join(directory(rank, time), file);
  if (auto made = make_directories(std::string(parent_of(kept)), roots_[rank], made_); !made) return forward(made);
  if (::link(local.c_str(), kept.c_str()) != 0) {
    if (errno == ENOENT) return false;
    if (errno != EEXIST) return errno_error("cannot keep a link to", local);
    // Closed before: the same file again needs nothing, another one under this name replaces it.
    struct stat now {
    }, before{};
    if (::lstat(local.c_str(), &now) != 0) return false;
    if (::lstat(kept.c_str(), &before) == 0 && now.st_ino == before.st_ino) return true;
    ::unlink(kept.c_str());
    if (::link(local.c_str(), kept.c_str()) != 0) {
      if (errno == ENOENT) return false;
      return errno_error("cannot keep a link to", local);
    }
  }
  times_[time][rank].insert(file);
  return true;
}

bool Keep::holds(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  return found != times_.end() && found->second.contains(rank);
}

std::vector<std::string> Keep::times() const {
  std::vector<std::string> names;
  for (const auto& [time, ranks] : times_) names.push_back(time);
  return names;
}

void Keep::use(const std::string& time, bool begin) {
  if (begin) {
    ++uses_[time];
  } else if (--uses_[time] <= 0) {
    uses_.erase(time);
  }
}

Status Keep::drop(const std::string& time) {
  const auto found = times_.find(time);
  if (found == times_.end()) return {};
  for (const auto& [rank, files] : found->second) {
    const std::string root = directory(rank, time);
    std::set<std::string> directories{root};
    for (const std::string& file : files) {
      const std::string path = join(root, file);
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errno_error("cannot remove", path);
      for (std::string at(parent_of(path)); at.size() > root.size(); at = parent_of(at)) directories.insert(at);
    }
    // Children sort behind their parents.
    for (auto at = directories.rbegin(); at != directories.rend(); ++at) {
      ::rmdir(at->c_str());
      made_.erase(*at);
    }
  }
  times_.erase(found);
  return {};
}

}  // namespace forebay::drain
