// A SharedFiles for tests that passes every call on to a real one, and lets chosen calls go wrong.
#pragma once

#include <atomic>
#include <cerrno>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "run/publish/shared.h"

namespace forebay::drain {

class FaultyFiles final : public SharedFiles {
 public:
  explicit FaultyFiles(SharedFiles& real) : real_(real) {}

  // The call number `number` (from 1) fails with `errno_value`; nothing is done.
  void fail_call(int number, int errno_value) { set(number, errno_value, Kind::refuse); }
  // The call is done, and its answer is lost.
  void lose_answer(int number) { set(number, EIO, Kind::lose_answer); }
  // Calls whose name is `call` are done, and their answers are lost.
  void lose_answers(std::string call) { unanswered_ = std::move(call); }
  // The call, when it is a write, takes only half of its bytes.
  void shorten_write(int number) { set(number, 0, Kind::shorten); }
  // This call and all later ones do nothing and fail: for the case, the process is dead.
  void die_at(int number) { set(number, EIO, Kind::die); }
  // Calls whose name is `call`, on paths that end in `path_end`, fail with `errno_value`: the first `times` of them.
  void refuse(std::string call, int errno_value, std::string path_end = {},
              int times = std::numeric_limits<int>::max()) {
    refused_ = std::move(call);
    refused_errno_ = errno_value;
    refused_end_ = std::move(path_end);
    refusals_ = times;
  }
  void heal() { refusals_ = 0; }
  // Seen by each call before it is done.
  std::function<void(const std::string& call, const std::string& path)> before;

  bool reached() const { return calls_ >= at_; }
  bool dead() const { return kind_ == Kind::die && at_ != 0 && calls_ >= at_; }
  int calls() const { return calls_; }

  std::string case_path() const override { return real_.case_path(); }
  Result<Descriptor> create(const std::string& path, mode_t mode) override {
    return through("create", path, [&] { return real_.create(path, mode); });
  }
  Result<Descriptor> open_to_append(const std::string& path, std::uint64_t offset) override {
    return through("open_to_append", path, [&] { return real_.open_to_append(path, offset); });
  }
  Result<Descriptor> open_read(const std::string& path) override {
    return through("open_read", path, [&] { return real_.open_read(path); });
  }
  Result<std::size_t> write(int fd, std::span<const std::byte> bytes, const std::string& path) override {
    if (kind_ == Kind::shorten && calls_ + 1 == at_) bytes = bytes.first((bytes.size() + 1) / 2);
    return through("write", path, [&] { return real_.write(fd, bytes, path); });
  }
  Result<std::size_t> read(int fd, std::span<std::byte> bytes, const std::string& path) override {
    return through("read", path, [&] { return real_.read(fd, bytes, path); });
  }
  Status set_mode(int fd, mode_t mode, const std::string& path) override {
    return through("set_mode", path, [&] { return real_.set_mode(fd, mode, path); });
  }
  Status set_owner(int fd, uid_t owner, gid_t group, const std::string& path) override {
    return through("set_owner", path, [&] { return real_.set_owner(fd, owner, group, path); });
  }
  Status set_times(int fd, std::int64_t mtime_ns, const std::string& path) override {
    return through("set_times", path, [&] { return real_.set_times(fd, mtime_ns, path); });
  }
  Result<struct stat> status(int fd, const std::string& path) override {
    return through("fstat", path, [&] { return real_.status(fd, path); });
  }
  Status sync(int fd, const std::string& path) override {
    return through("sync", path, [&] { return real_.sync(fd, path); });
  }
  Status sync_directory(const std::string& path) override {
    return through("sync_directory", path, [&] { return real_.sync_directory(path); });
  }
  Status make_directory(const std::string& path, mode_t mode) override {
    return through("make_directory", path, [&] { return real_.make_directory(path, mode); });
  }
  Status finish_directory(const std::string& path, mode_t mode, std::optional<std::int64_t> mtime_ns,
                          std::optional<Owner> owner) override {
    return through("finish_directory", path, [&] { return real_.finish_directory(path, mode, mtime_ns, owner); });
  }
  Result<std::vector<DirectoryEntry>> list(const std::string& path, std::size_t at_most) override {
    return through("list", path, [&] { return real_.list(path, at_most); });
  }
  Status make_link(const std::string& target, const std::string& path) override {
    return through("make_link", path, [&] { return real_.make_link(target, path); });
  }
  Status make_hard_link(const std::string& from, const std::string& to) override {
    return through("make_hard_link", to, [&] { return real_.make_hard_link(from, to); });
  }
  Status set_link_owner(const std::string& path, Owner owner) override {
    return through("set_link_owner", path, [&] { return real_.set_link_owner(path, owner); });
  }
  Status set_link_times(const std::string& path, std::int64_t mtime_ns) override {
    return through("set_link_times", path, [&] { return real_.set_link_times(path, mtime_ns); });
  }
  Result<std::optional<struct stat>> status(const std::string& path) override {
    return through("status", path, [&] { return real_.status(path); });
  }
  Result<std::string> read_link(const std::string& path) override {
    return through("read_link", path, [&] { return real_.read_link(path); });
  }
  Status rename_new(const std::string& from, const std::string& to) override {
    return through("rename_new", to, [&] { return real_.rename_new(from, to); });
  }
  Status exchange(const std::string& a, const std::string& b) override {
    return through("exchange", b, [&] { return real_.exchange(a, b); });
  }
  Status rename_over(const std::string& from, const std::string& to) override {
    return through("rename_over", to, [&] { return real_.rename_over(from, to); });
  }
  Status remove_file(const std::string& path) override {
    return through("remove_file", path, [&] { return real_.remove_file(path); });
  }
  Status remove_directory(const std::string& path) override {
    return through("remove_directory", path, [&] { return real_.remove_directory(path); });
  }

 private:
  enum class Kind { refuse, lose_answer, shorten, die };

  void set(int number, int errno_value, Kind kind) {
    calls_ = 0;
    at_ = number;
    errno_ = errno_value;
    kind_ = kind;
  }

  template <class Call>
  auto through(const char* name, const std::string& path, const Call& call) -> decltype(call()) {
    if (before) before(name, path);
    const int number = ++calls_;
    const auto fault = [&](int errno_value) {
      errno = errno_value;
      return errno_error(std::string("injected fault in ") + name, path);
    };
    if (refused_ == name && path.ends_with(refused_end_) && refusals_.fetch_sub(1) > 0) return fault(refused_errno_);
    const bool now = at_ != 0 && number == at_;
    if (kind_ == Kind::die && at_ != 0 && number >= at_) return fault(EIO);
    if (now && kind_ == Kind::refuse) return fault(errno_);
    auto answer = call();
    if ((now && kind_ == Kind::lose_answer) || unanswered_ == name) return fault(EIO);
    return answer;
  }

  SharedFiles& real_;
  std::atomic<int> calls_{0};
  int at_ = 0;
  int errno_ = 0;
  Kind kind_ = Kind::refuse;
  std::string refused_, refused_end_, unanswered_;
  int refused_errno_ = 0;
  std::atomic<int> refusals_{0};
};

}  // namespace forebay::drain
