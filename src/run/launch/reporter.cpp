#include "run/launch/reporter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/pulse.h"

namespace forebay::launch {
namespace {

constexpr std::chrono::milliseconds retry_after{500};

Result<Descriptor> open_directory_of(const std::string& path) {
  return open_file(std::string(parent_of(path)), O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

// A reader may see a mixture of two texts; it then fails to parse, and reads again. `cut`: what lies there may be
// longer.
// The directory is the one that was opened, whatever it is called by now, or else the one that has its name.
bool write_in_place(Descriptor& directory, const std::string& path, const std::string& text, bool cut) {
  const MayHang call(path);
  constexpr int flags = O_WRONLY | O_CREAT | O_NOFOLLOW;
  const std::string name(forebay::name_of(path));
  auto file = open_file_at(directory.get(), name, flags);
  if (!file) {
    auto named = open_directory_of(path);
    if (!named) return false;
    directory = std::move(*named);
    file = open_file_at(directory.get(), name, flags);
  }
  if (!file) return false;
  if (!write_all(file->get(), text, path)) return false;
  return !cut || ::ftruncate(file->get(), static_cast<off_t>(text.size())) == 0;
}

}  // namespace

Reporter::Reporter(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {
  if (auto directory = open_directory_of(path_)) directory_ = std::move(*directory);
  thread_ = std::jthread([this] { work(); });
}

Reporter::~Reporter() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

void Reporter::post(std::string text) {
  const std::scoped_lock lock(mutex_);
  newest_ = std::move(text);
  changed_.notify_all();
}

bool Reporter::flush(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return clock_.wait(lock, changed_, clock_.now() + at_most, [this] { return !newest_ && !writing_; });
}

void Reporter::listen(std::chrono::milliseconds pace, bool all) {
  const std::scoped_lock lock(mutex_);
  if (pace_ == pace && all_ == all) return;
  pace_ = pace;
  all_ = all;
  changed_.notify_all();
}

void Reporter::stop_listening() {
  const std::scoped_lock lock(mutex_);
  pace_.reset();
  heard_.reset();
}

std::optional<std::vector<NodeReport>> Reporter::heard() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(heard_, std::nullopt);
}

std::optional<Asked> Reporter::asked() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(asked_, std::nullopt);
}

std::optional<Asked> Reporter::read_request() {
  if (!directory_) return std::nullopt;
  auto request = request_in(directory_.get());
  if (!request || std::exchange(last_request_, request->name) == request->name) return std::nullopt;
  return with_control_dict(std::move(*request), directory_.get());
}

// A report that is being rewritten does not parse; it is read again the next time.
std::vector<NodeReport> Reporter::read_others(bool all) {
  const MayHang call(path_);
  std::vector<std::string> paths;
  if (!all && !leader_.empty()) {
    paths.push_back(leader_);
  } else {
    paths = node_report_paths(std::string(parent_of(path_)));
    std::erase(paths, path_);
  }
  std::vector<NodeReport> reports;
  for (const std::string& path : paths) {
    auto report = read_node_report(path);
    if (!report) continue;
    if (std::ranges::find(report->ranks, 0) != report->ranks.end()) leader_ = path;
    reports.push_back(std::move(*report));
  }
  return reports;
}

void Reporter::work() {
  std::unique_lock lock(mutex_);
  Clock::time_point next_reading = clock_.now();
  std::size_t length = 0;
  bool cut = true;
  while (!stopping_) {
    if (pace_) {
      clock_.wait(lock, changed_, next_reading, [this] { return stopping_ || newest_; });
    } else {
      changed_.wait(lock, [this] { return stopping_ || newest_ || pace_; });
    }
    if (newest_) {
      std::string text = std::move(*newest_);
      newest_.reset();
      // Never shorter than the last, so that one that is killed meanwhile leaves no end of it. So only what lay there
      // before the first is cut, which spares the file server a call each time.
      text.resize(std::max(text.size(), length), ' ');
      length = text.size();
      writing_ = true;
      lock.unlock();
      const bool written = write_in_place(directory_, path_, text, cut);
      auto request = read_request();
      lock.lock();
      if (request) asked_ = std::move(request);
      writing_ = false;
      cut = cut && !written;
      if (!written && !newest_) newest_ = text;
      changed_.notify_all();
      if (!written) clock_.wait(lock, changed_, clock_.now() + retry_after, [this] { return stopping_; });
    }
    if (!pace_ || clock_.now() < next_reading || stopping_) continue;
    const bool all = all_;
    lock.unlock();
    auto reports = read_others(all);
    lock.lock();
    if (!pace_) continue;
    heard_ = std::move(reports);
    next_reading = clock_.now() + *pace_;
  }
}

}  // namespace forebay::launch
