// io_probe CELL: measures one cell of the grid of `forebay bench io` and prints a line of JSON.
//
// Writers are processes, as ranks are: each is bound to a cpu, and all meet before and behind every pass. They live no
// longer than this process, and it no longer than who started it. Their files lie below "directory", which its owner
// removes. CELL is an object with "directory", "cpus": of each writer, "seconds": when to stop, "parent": the process
// without which this one ends, and "kind":
//
// "data": each pass writes or reads ("op") "bytes", of each writer, by calls or by copies to and from a mapping
// ("path") of "transfer" bytes. A "fresh" pass makes a file, writes it, syncs it where "fsync" says so, and closes it,
// all within its time. Other passes go over the kept files, which were made by a cell with "keep", and are open or
// mapped and touched before. "one_file": all writers share it. "direct": past the page cache. Printed are the "bytes"
// of each writer in all passes, and their "seconds": of each pass from the first writer's begin to the last one's end.
//
// "files": for so long, but at most "most" times, each writer makes a file of 4 KiB in a directory of its own; then it
// stats these, then opens and reads them, then writes them again, sets their times and syncs them, as the drain ends
// each file, then renames them, each for as long; then it unlinks them. Printed are count and seconds of each.
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/page_buffer.h"
#include "store/segment/copy.h"
#include "store/segment/pmem.h"

namespace forebay::probe {
namespace {

using nlohmann::json;

constexpr std::size_t page = 4096;
constexpr std::size_t most_writers = 4096;
constexpr std::size_t looks_at_clock = 64 << 10;  // bytes between two looks
enum class Phase { create, stat, open, sync, rename, unlink };
constexpr std::array<const char*, 6> phases{"create", "stat", "open", "sync", "rename", "unlink"};

[[noreturn]] void give_in(const Error& error) {
  fmt::print(stderr, "{}\n", error.text());
  std::_Exit(static_cast<int>(error.code));
}
template <class T>
T need(Result<T> result) {
  if (!result) give_in(result.error());
  return std::move(*result);
}
void need(const Status& status) {
  if (!status) give_in(status.error());
}
void need(bool done, std::string_view what, const std::string& path) {
  if (!done) give_in(errno_error(what, path).value());
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What a writer did in one pass or phase.
struct alignas(64) Done {
  double begin, end;
  std::uint64_t count;  // bytes, or files
  std::uint64_t bytes;  // of all passes
};

// In memory that all writers share.
struct Meeting {
  pthread_barrier_t barrier;
  bool more, persistent;
  double seconds;  // of all passes
  std::array<Done, phases.size()> of_phase;
  std::array<Done, most_writers> of_writer;

  void wait() { pthread_barrier_wait(&barrier); }
  // From the first writer's begin to the last one's end.
  Done together(std::size_t writers) const {
    Done all = of_writer[0];
    for (std::size_t i = 1; i < writers; ++i) {
      all.begin = std::min(all.begin, of_writer[i].begin);
      all.end = std::max(all.end, of_writer[i].end);
      all.count += of_writer[i].count;
    }
    return all;
  }
};

struct Cell {
  explicit Cell(const json& given)
      : directory(given.at("directory")),
        cpus(given.at("cpus")),
        seconds(given.at("seconds")),
        files(given.at("kind") == "files"),
        most(given.value("most", 0)),
        mapped(given.value("path", "") == "map"),
        writes(given.value("op", "") == "write"),
        fresh(given.value("fresh", false)),
        one_file(given.value("one_file", false)),
        fsync(given.value("fsync", false)),
        direct(given.value("direct", false)),
        keep(given.value("keep", false)),
        transfer(given.value("transfer", page)),
        bytes(given.value("bytes", std::vector<std::size_t>())) {}

  std::string directory;
  std::vector<int> cpus;
  double seconds;
  bool files;
  std::uint64_t most;
  bool mapped, writes, fresh, one_file, fsync, direct, keep;
  std::size_t transfer;
  std::vector<std::size_t> bytes;  // of each writer
};

// Each word read: what is not used is not loaded.
std::uint64_t sum_of(const std::byte* from, std::size_t bytes) {
  std::array<std::uint64_t, 8> sums{}, line;
  for (std::size_t at = 0; at + sizeof(line) <= bytes; at += sizeof(line)) {
    std::memcpy(line.data(), from + at, sizeof(line));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += line[i];
  }
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

// A writer's part of a file, or of its mapping.
class Target {
 public:
  Target(const Cell& cell, std::size_t writer)
      : cell_(cell),
        path_(join(cell.directory,
                   fmt::format("{}.{}", cell.fresh && !cell.keep ? "fresh" : "kept", cell.one_file ? 0 : writer))),
        bytes_(cell.bytes.at(writer)),
        base_(cell.one_file ? bytes_ * writer : 0),
        buffer_(cell.transfer) {
    std::ranges::fill(buffer_.bytes(), static_cast<std::byte>(writer + 1));
  }

  void open() {
    const int access = cell_.writes || cell_.mapped ? O_RDWR : O_RDONLY;
    file_ = need(open_file(path_, access | (cell_.fresh ? O_CREAT : 0) | (cell_.direct ? O_DIRECT : 0)));
    if (cell_.mapped) map();
  }

  // Stops at `deadline`; how many bytes it was.
  std::uint64_t pass(double deadline) {
    const std::size_t between_looks = std::max<std::size_t>(1, looks_at_clock / cell_.transfer);
    std::size_t at = 0;
    for (std::size_t number = 1; at + cell_.transfer <= bytes_; ++number) {
      cell_.mapped ? copy(at) : call(at);
      at += cell_.transfer;
      if (number % between_looks == 0 && now() > deadline) break;
    }
    if (cell_.mapped && cell_.writes) persist_.drain != nullptr ? persist_.drain() : segment::fence_stores();
    if (!cell_.fsync) return at;
    if (!cell_.mapped) {
      need(::fsync(file_.get()) == 0, "cannot sync", path_);
    } else if (!persistent()) {
      need(::msync(mapping_.bytes.data(), bytes_, MS_SYNC) == 0, "cannot sync", path_);
    }
    return at;
  }

  void close() {
    mapping_ = {};
    file_.reset();
  }
  void remove() const { ::unlink(path_.c_str()); }
  bool persistent() const { return persist_.drain != nullptr; }

 private:
  // As forebay's trajectories do: persistent memory through libpmem2, whose mapping is synchronous where there is DAX.
  void map() {
    const std::size_t whole = cell_.one_file ? bytes_ * cell_.cpus.size() : bytes_;  // none cuts another's part off
    if (cell_.fresh) need(::ftruncate(file_.get(), static_cast<off_t>(whole)) == 0, "cannot make larger", path_);
    if (auto found = need(segment::map_persistent(file_.get(), base_, bytes_, path_))) {
      mapping_ = std::move(found->mapping);
      persist_ = found->persist;
    } else {
      void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), static_cast<off_t>(base_));
      need(at != MAP_FAILED, "cannot map", path_);
      const std::size_t size = bytes_;
      mapping_ = {{static_cast<std::byte*>(at), size},
                  std::shared_ptr<void>(at, [size](void* p) { ::munmap(p, size); })};
    }
    if (cell_.fresh) return;
    for (std::size_t at = 0; at < bytes_; at += page) {
      volatile std::byte& touched = mapping_.bytes[at];
      if (cell_.writes)
        touched = std::byte{1};
      else
        sum_ = sum_ + static_cast<std::uint64_t>(touched);
    }
  }

  void copy(std::size_t at) {
    std::byte* there = mapping_.bytes.data() + at;
    if (!cell_.writes) {
      sum_ = sum_ + sum_of(there, cell_.transfer);
    } else if (persistent()) {
      persist_.copy(there, buffer_.bytes().data(), cell_.transfer, persist_.copy_flags);
      persist_.drain();
    } else {
      segment::stream(there, buffer_.bytes().data(), cell_.transfer);
    }
  }

  void call(std::size_t at) {
    const off_t offset = static_cast<off_t>(base_ + at);
    if (cell_.writes) return need(write_all_at(file_.get(), base_ + at, buffer_.bytes(), path_));
    const ssize_t got = ::pread(file_.get(), buffer_.bytes().data(), cell_.transfer, offset);
    need(got >= 0, "cannot read", path_);
    if (static_cast<std::size_t>(got) != cell_.transfer)
      give_in(error(Code::failed, "something has shortened", path_).value());
  }

  const Cell& cell_;
  std::string path_;
  std::size_t bytes_, base_;
  PageBuffer buffer_;
  Descriptor file_;
  segment::Mapping mapping_;
  segment::Persist persist_;
  volatile std::uint64_t sum_ = 0;
};

void write_and_read(const Cell& cell, Meeting& meeting, std::size_t writer) {
  Target target(cell, writer);
  Done& mine = meeting.of_writer[writer];
  if (!cell.fresh) target.open();
  const double deadline = now() + cell.seconds;
  do {
    meeting.wait();
    mine.begin = now();
    if (cell.fresh) target.open();
    mine.count = target.pass(deadline);
    if (cell.fresh) target.close();
    mine.end = now();
    mine.bytes += mine.count;
    meeting.wait();
    if (cell.fresh && !cell.keep) target.remove();
    if (writer == 0) {
      const Done pass = meeting.together(cell.cpus.size());
      meeting.seconds += pass.end - pass.begin;
      meeting.persistent = target.persistent();
      meeting.more = !cell.keep && now() < deadline;
    }
    meeting.wait();
  } while (meeting.more);
}

// What a writer of files works on. A file that was renamed has its number with a letter.
struct OwnFiles {
  const std::string path;
  Descriptor directory;
  std::array<std::byte, page> content{};
  std::uint64_t made = 0, renamed = 0;

  std::string name(std::uint64_t number) const {
    return number < renamed ? fmt::format("r{}", number) : std::to_string(number);
  }
};

void act_on_file(OwnFiles& files, std::uint64_t number, Phase phase) {
  const std::string name = files.name(number);
  switch (phase) {
    case Phase::create: {
      const Descriptor file = need(open_file_at(files.directory.get(), name, O_CREAT | O_EXCL | O_WRONLY));
      return need(write_all(file.get(), files.content, files.path));
    }
    case Phase::stat: {
      struct stat status {};
      const bool found = ::fstatat(files.directory.get(), name.c_str(), &status, 0) == 0;
      return need(found, "cannot stat a file in", files.path);
    }
    case Phase::open: {
      const Descriptor file = need(open_file_at(files.directory.get(), name, O_RDONLY));
      const bool read = ::read(file.get(), files.content.data(), files.content.size()) >= 0;
      return need(read, "cannot read a file in", files.path);
    }
    case Phase::sync: {
      const Descriptor file = need(open_file_at(files.directory.get(), name, O_WRONLY));
      need(write_all(file.get(), files.content, files.path));
      need(::futimens(file.get(), nullptr) == 0 && ::fsync(file.get()) == 0, "cannot sync a file in", files.path);
      return;
    }
    case Phase::rename: {
      const int at = files.directory.get();
      const bool renamed = ::renameat(at, name.c_str(), at, fmt::format("r{}", number).c_str()) == 0;
      files.renamed = number + 1;
      return need(renamed, "cannot rename a file in", files.path);
    }
    case Phase::unlink: {
      const bool removed = ::unlinkat(files.directory.get(), name.c_str(), 0) == 0;
      return need(removed, "cannot remove a file in", files.path);
    }
  }
}

// stat and open look at the files again and again, the others do once what they do to each.
bool is_repeated(Phase phase) {
  return phase == Phase::stat || phase == Phase::open;
}

void make_and_remove_files(const Cell& cell, Meeting& meeting, std::size_t writer) {
  const std::string path = join(cell.directory, fmt::format("files.{}", writer));
  need(::mkdir(path.c_str(), 0700) == 0, "cannot make", path);  // no more: its owner may have removed what it lies in
  OwnFiles files{path, need(open_file(path, O_RDONLY | O_DIRECTORY))};
  Done& mine = meeting.of_writer[writer];
  for (std::size_t index = 0; index < phases.size(); ++index) {
    const auto phase = static_cast<Phase>(index);
    meeting.wait();
    mine = {now(), 0, 0, 0};
    const double deadline = mine.begin + cell.seconds;
    const std::uint64_t end = phase == Phase::create ? cell.most : files.made;
    while (is_repeated(phase) ? end > 0 : mine.count < end) {
      act_on_file(files, mine.count++ % end, phase);
      if (phase != Phase::unlink && now() > deadline) break;
    }
    mine.end = now();
    if (phase == Phase::create) files.made = mine.count;
    meeting.wait();
    if (writer == 0) meeting.of_phase[index] = meeting.together(cell.cpus.size());
    meeting.wait();
  }
  ::rmdir(path.c_str());
}

// Not to end is what a writer does that was left alone at a meeting.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(1);
}

pid_t start_writer(const Cell& cell, Meeting& meeting, std::size_t writer) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  die_with(parent);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(static_cast<std::size_t>(cell.cpus[writer]), &own);
  need(::sched_setaffinity(0, sizeof(own), &own) == 0, fmt::format("cannot use cpu {}", cell.cpus[writer]), {});
  cell.files ? make_and_remove_files(cell, meeting, writer) : write_and_read(cell, meeting, writer);
  std::_Exit(0);
}

// When one fails the others wait for it at a meeting.
void measure(const Cell& cell, Meeting& meeting) {
  std::vector<pid_t> writers;
  for (std::size_t i = 0; i < cell.cpus.size(); ++i) {
    writers.push_back(start_writer(cell, meeting, i));
    if (writers.back() < 0) give_in(errno_error("cannot start a writer", {}).value());  // the others die with this one
  }
  for (std::size_t left = writers.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = ::wait(&status);
    if (status == 0) continue;
    if (WIFSIGNALED(status)) fmt::print(stderr, "a writer was ended by signal {}\n", WTERMSIG(status));
    for (const pid_t each : writers)
      if (each != ended) ::kill(each, SIGKILL);
    while (::wait(nullptr) > 0) {
    }
    std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
}

json told(const Cell& cell, const Meeting& meeting) {
  json each;
  if (!cell.files) {
    for (std::size_t i = 0; i < cell.cpus.size(); ++i) each["bytes"].push_back(meeting.of_writer[i].bytes);
    each["seconds"] = meeting.seconds;
    each["persistent"] = meeting.persistent;
    return each;
  }
  for (std::size_t i = 0; i < phases.size(); ++i)
    each[phases[i]] = {meeting.of_phase[i].count, meeting.of_phase[i].end - meeting.of_phase[i].begin};
  return each;
}

void run(const json& given) {
  const Cell cell(given);
  if (cell.cpus.empty() || cell.cpus.size() > most_writers)
    give_in(error(Code::bad_input, fmt::format("1 to {} writers are possible", most_writers)).value());
  void* const shared = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(shared != MAP_FAILED, "cannot share memory", {});
  Meeting& meeting = *static_cast<Meeting*>(shared);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&meeting.barrier, &attributes, static_cast<unsigned>(cell.cpus.size()));
  measure(cell, meeting);
  fmt::print("{}\n", told(cell, meeting).dump());
}

}  // namespace
}  // namespace forebay::probe

int main(int count, char** words) {
  using namespace forebay::probe;
  try {
    const auto cell = json::parse(count == 2 ? words[1] : "");
    die_with(cell.value("parent", ::getppid()));
    run(cell);
  } catch (const json::exception& why) {
    fmt::print(stderr, "io_probe is a part of `forebay bench io`, and takes one JSON object: {}\n", why.what());
    return 2;
  }
  return 0;
}
