#include "run/drain/jobs.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

namespace forebay::drain {

Outcomes::Outcomes() : signal_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Outcomes::push(Outcome outcome) {
  const std::scoped_lock lock(mutex_);
  outcomes_.push_back(std::move(outcome));
  ::eventfd_write(signal_.get(), 1);
}

std::vector<Outcome> Outcomes::take() {
  const std::scoped_lock lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(signal_.get(), &count);
  return std::exchange(outcomes_, {});
}

void FilesOnTheirWay::add(const std::string& key, const FileId& file) {
  const std::scoped_lock lock(mutex_);
  files_[key].insert(file);
}

void FilesOnTheirWay::remove(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  files_.erase(key);
}

bool FilesOnTheirWay::contains(const FileId& file) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(files_, [&](const auto& each) { return each.second.contains(file); });
}

void Temporaries::note(const std::string& path, bool made) {
  const std::scoped_lock lock(mutex_);
  if (made) {
    names_.insert(path);
  } else {
    names_.erase(path);
  }
}

std::set<std::string> Temporaries::names() const {
  const std::scoped_lock lock(mutex_);
  return names_;
}

}  // namespace forebay::drain
