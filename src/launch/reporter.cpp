#include "launch/reporter.h"

#include <fcntl.h>
#include <unistd.h>

namespace forebay::launch {
namespace {

constexpr std::chrono::milliseconds retry_after{500};

// A reader may see a mixture of two texts; it then fails to parse, and reads again.
bool write_in_place(const std::string& path, const std::string& text) {
  auto file = open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW);
  if (!file) return false;
  if (!write_all(file->get(), text, path)) return false;
  return ::ftruncate(file->get(), static_cast<off_t>(text.size())) == 0;
}

}  // namespace

Reporter::Reporter(std::string path)
    : path_(std::move(path)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

Reporter::~Reporter() {
  thread_.request_stop();
  changed_.notify_all();
}

void Reporter::post(std::string text) {
  const std::scoped_lock lock(mutex_);
  newest_ = std::move(text);
  changed_.notify_all();
}

bool Reporter::flush(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return !newest_ && !writing_; });
}

void Reporter::work(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return newest_.has_value(); })) {
    const std::string text = std::move(*newest_);
    newest_.reset();
    writing_ = true;
    lock.unlock();
    const bool written = write_in_place(path_, text);
    lock.lock();
    writing_ = false;
    if (!written && !newest_) newest_ = text;
    changed_.notify_all();
    if (!written) changed_.wait_for(lock, stop, retry_after, [] { return false; });
  }
}

}  // namespace forebay::launch
