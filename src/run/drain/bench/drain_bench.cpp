// drain_bench DIR [ROUNDS [THREADS]]: the mover against plain writers that do create, write, fsync and rename on the
// same files with as many threads, from memory to DIR. The two alternate; the figure is the median of the rounds'
// ratios. Both run at normal priority, so that the figure is that of the code and not of the neighbours.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/page_buffer.h"
#include "run/publish/mover.h"

namespace forebay::drain {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double goal = 0.9;

struct Workload {
  std::string name;
  int files;
  std::size_t bytes;
};

[[noreturn]] void give_in(const Error& error) {
  fmt::print(stderr, "drain_bench: {}\n", error.text());
  std::exit(static_cast<int>(error.code));
}
template <class T>
T need(Result<T> result) {
  if (!result) give_in(result.error());
  return std::move(*result);
}
void need(const Status& status) {
  if (!status) give_in(status.error());
}

std::string fresh_directory(const std::string& where) {
  std::string pattern = where + "/drain-bench-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) give_in(errno_error("cannot make a directory in", where).value());
  return pattern;
}

std::vector<std::string> make_sources(const std::string& pool, const Workload& workload) {
  std::string bytes(workload.bytes, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  std::vector<std::string> sources;
  for (int i = 0; i < workload.files; ++i) {
    sources.push_back(fmt::format("{}/{}", pool, i));
    need(replace_file(sources.back(), bytes));
  }
  return sources;
}

// The baseline: one file, written as a careful person's own program would.
void write_plainly(const std::string& source, const std::string& directory, int number) {
  thread_local const PageBuffer buffer(std::size_t{1} << 20);
  const auto from = need(open_file(source, O_RDONLY));
  const std::string temporary = fmt::format("{}/t{}", directory, number);
  const auto to = need(open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0644));
  for (;;) {
    const ssize_t got = ::read(from.get(), buffer.bytes().data(), buffer.bytes().size());
    if (got < 0) give_in(errno_error("cannot read", source).value());
    if (got == 0) break;
    need(write_all(to.get(), buffer.bytes().first(static_cast<std::size_t>(got)), temporary));
  }
  if (::fsync(to.get()) != 0) give_in(errno_error("cannot sync", temporary).value());
  const std::string target = fmt::format("{}/{}", directory, number);
  if (::rename(temporary.c_str(), target.c_str()) != 0) give_in(errno_error("cannot rename to", target).value());
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double plain_seconds(const std::vector<std::string>& sources, const std::string& directory, int threads) {
  const auto begin = Clock::now();
  std::atomic<int> next{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < threads; ++i)
    writers.emplace_back([&] {
      for (int at = next++; at < static_cast<int>(sources.size()); at = next++)
        write_plainly(sources[static_cast<std::size_t>(at)], directory, at);
    });
  for (std::thread& writer : writers) writer.join();
  return seconds_since(begin);
}

double mover_seconds(const std::vector<std::string>& sources, const std::string& directory, std::size_t bytes,
                     int threads) {
  const auto shared = need(open_shared(directory));
  const auto begin = Clock::now();
  MoverSettings settings;
  settings.threads = threads;
  settings.idle_priority = false;
  Mover mover(*shared, "bench", settings, real_clock());
  for (std::size_t i = 0; i < sources.size(); ++i)
    mover.submit(
        [&, i]() -> Result<std::optional<layouts::Unit>> {
          layouts::Unit unit;
          unit.target = std::to_string(i);
          unit.files.push_back({"", 0644, 1'700'000'000'000'000'000, "", {{"", sources[i], 0, bytes}}});
          return unit;
        },
        [](const Outcome& outcome) {
          if (!outcome.result) give_in(outcome.result.error());
        });
  mover.wait_idle();
  return seconds_since(begin);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

nlohmann::json measure(const Workload& workload, const std::string& where, int rounds, int threads) {
  const std::string pool = fresh_directory("/dev/shm");
  const auto sources = make_sources(pool, workload);
  std::vector<double> plain, mover, ratios;
  const auto run = [&](bool with_mover) {
    const std::string directory = fresh_directory(where);
    const double seconds = with_mover ? mover_seconds(sources, directory, workload.bytes, threads)
                                      : plain_seconds(sources, directory, threads);
    need(remove_tree(directory));
    return seconds;
  };
  for (int round = 0; round < rounds; ++round) {
    // The order of the two alternates from round to round.
    const bool mover_first = round % 2 == 1;
    const double first = run(mover_first), second = run(!mover_first);
    mover.push_back(mover_first ? first : second);
    plain.push_back(mover_first ? second : first);
    ratios.push_back(plain.back() / mover.back());
  }
  need(remove_tree(pool));
  const double files = workload.files;
  const double ratio = median(ratios);
  return {{"name", workload.name}, {"value", files / median(mover)},
          {"unit", "files/s"},     {"reference", files / median(plain)},
          {"ratio", ratio},        {"ratios", ratios},
          {"goal", goal},          {"met", ratio >= goal}};
}

}  // namespace
}  // namespace forebay::drain

int main(int count, char** words) {
  using namespace forebay::drain;
  if (count < 2) {
    fmt::print(stderr, "usage: drain_bench DIR [ROUNDS [THREADS]]\n");
    return 2;
  }
  const int rounds = count > 2 ? std::max(1, std::atoi(words[2])) : 5;
  const int threads = count > 3 ? std::max(1, std::atoi(words[3])) : 4;
  nlohmann::json results = nlohmann::json::array();
  for (const Workload& workload : {Workload{"1000 files of 4 KiB", 1000, std::size_t{4} << 10},
                                   Workload{"40 files of 16 MiB", 40, std::size_t{16} << 20}})
    results.push_back(measure(workload, words[1], rounds, threads));
  fmt::print("{}\n", nlohmann::json{{"bench", "drain"}, {"threads", threads}, {"results", results}}.dump(2));
}
