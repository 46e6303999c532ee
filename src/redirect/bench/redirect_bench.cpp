// What redirect costs: the same small program with and without the library, in alternating pairs of processes.
//
//   redirect_bench LIBRARY [--files N] [--pairs N] [--only NAME]
//
// Prints one JSON object. Each ratio is the median over the pairs, with a 95 % confidence interval from the order
// statistics of the pairs' ratios (no distribution assumed); a goal counts as met when the whole interval meets it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr int files_per_directory = 5000;
constexpr double goal = 1.03;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what, const std::string& path) {
  std::fprintf(stderr, "redirect_bench: cannot %s %s: %s\n", what, path.c_str(), std::strerror(errno));
  std::exit(1);
}

std::string file_name(const std::string& directory, int number) {
  return directory + "/" + std::to_string(number / files_per_directory) + "/file" + std::to_string(number);
}

// The measured program. Prints the seconds that its calls took.
int work(const std::string& what, const std::string& directory, int files) {
  static char bytes[4096];
  for (int i = 0; i <= (files - 1) / files_per_directory; ++i)
    mkdir((directory + "/" + std::to_string(i)).c_str(), 0700);
  std::vector<std::string> names;
  for (int i = 0; i < files; ++i) names.push_back(file_name(directory, i));
  struct stat status {};
  const double begin = now();
  if (what == "fopen") {
    for (const std::string& name : names) {
      FILE* file = std::fopen(name.c_str(), "w");
      if (file == nullptr || write(fileno(file), bytes, sizeof bytes) != sizeof bytes) fail("write", name);
      std::fclose(file);
    }
  } else if (what == "lstat") {
    for (const std::string& name : names)
      if (lstat(name.c_str(), &status) == 0) fail("miss", name);
  } else {
    for (const std::string& name : names) {
      const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes) fail("write", name);
      close(fd);
    }
  }
  const double seconds = now() - begin;
  std::printf("%.9f\n", seconds);
  std::fflush(stdout);
  for (const std::string& name : names) unlink(name.c_str());
  return 0;
}

// Runs the program above in a process of its own.
double run(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
  std::vector<char*> argv, environment;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("make", "a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = 0;
  if (posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environment.data()) != 0)
    fail("start", arguments[0]);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char text[64] = "";
  const ssize_t size = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0 || size <= 0) fail("run", arguments[1]);
  return std::strtod(text, nullptr);
}

struct Interval {
  double median, low, high;
};

// Ranks k and n+1-k, k the largest with P(Binomial(n, 1/2) < k) <= 2.5 %.
Interval interval_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  double below = 0, term = std::pow(0.5, static_cast<double>(n));
  std::size_t rank = 0;
  for (std::size_t i = 0; i < n / 2; ++i) {
    below += term;
    if (below > 0.025) break;
    rank = i + 1;
    term = term * static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  if (rank == 0) return {median, values.front(), values.back()};
  return {median, values[rank - 1], values[n - rank]};
}

struct Measurement {
  const char* name;
  const char* what;
  bool in_case;
};
constexpr Measurement measurements[] = {
    {"open, write 4 KiB, close in the case", "open", true}, {"fopen, write 4 KiB, fclose in the case", "fopen", true},
    {"lstat of missing files in the case", "lstat", true},  {"open, write 4 KiB, close outside", "open", false},
    {"lstat of missing files outside", "lstat", false},
};

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments, arguments + count);
  if (words.size() == 5 && words[1] == "work") return work(words[2], words[3], std::atoi(words[4].c_str()));
  if (words.size() < 2) {
    std::fprintf(stderr, "usage: redirect_bench LIBRARY [--files N] [--pairs N] [--only NAME]\n");
    return 2;
  }
  int files = 100'000, pairs = 15;
  std::string only;
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    if (words[i] == "--files") files = std::atoi(words[i + 1].c_str());
    if (words[i] == "--pairs") pairs = std::atoi(words[i + 1].c_str());
    if (words[i] == "--only") only = words[i + 1];
  }

  char base[] = "/dev/shm/redirect-bench-XXXXXX";
  if (mkdtemp(base) == nullptr) fail("make", base);
  const std::string root = base;
  for (const char* name : {"/case", "/tree", "/away"}) mkdir((root + name).c_str(), 0700);
  const std::vector<std::string> with = {"LD_PRELOAD=" + std::filesystem::absolute(words[1]).string(),
                                         "FOREBAY_CASE=" + root + "/case", "FOREBAY_TREE=" + root + "/tree",
                                         "FOREBAY_LOWER=" + root + "/case"};
  utsname machine{};
  uname(&machine);
  std::printf(
      "{\"bench\": \"redirect\", \"machine\": {\"kernel\": \"%s\", \"cores\": %ld, \"files\": %d, \"pairs\": %d}, "
      "\"results\": [",
      machine.release, sysconf(_SC_NPROCESSORS_ONLN), files, pairs);
  const char* separator = "";
  for (const Measurement& measurement : measurements) {
    if (!only.empty() && std::string(measurement.name).find(only) == std::string::npos) continue;
    const std::string number = std::to_string(files), direct = root + (measurement.in_case ? "/tree" : "/away"),
                      through = root + (measurement.in_case ? "/case" : "/away");
    std::vector<double> ratios, values, references;
    for (int pair = 0; pair < pairs; ++pair) {
      double seconds[2] = {};
      for (int half = 0; half < 2; ++half) {
        const bool redirected = (half == 0) == (pair % 2 == 0);
        seconds[redirected ? 1 : 0] =
            redirected ? run({words[0], "work", measurement.what, through, number}, with)
                       : run({words[0], "work", measurement.what, direct, number}, {"FOREBAY_NONE="});
      }
      references.push_back(seconds[0]);
      values.push_back(seconds[1]);
      ratios.push_back(seconds[1] / seconds[0]);
    }
    const Interval ratio = interval_of(ratios);
    std::printf(
        "%s\n  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"s\", \"reference\": %.4f, \"ratio\": %.4f, "
        "\"interval\": [%.4f, %.4f], \"goal\": \"<= %.2f\", \"met\": %s}",
        separator, measurement.name, interval_of(values).median, interval_of(references).median, ratio.median,
        ratio.low, ratio.high, goal, ratio.high <= goal ? "true" : "false");
    std::fflush(stdout);
    separator = ",";
  }
  std::puts("\n]}");
  std::filesystem::remove_all(root);
  return 0;
}
