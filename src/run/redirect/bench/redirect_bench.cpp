// The cost of redirect: the same small program with and without the library, in pairs of processes that take turns.
//
// Each pair is two new processes. They alternate slice by slice, so that whatever else the machine does hits both
// alike; a pair's ratio is the median over its slices. Many short pairs tell more than few long ones: what differs from
// process to process (where its pages lie) is drawn anew for each.
//
//   redirect_bench LIBRARY [--files N] [--pairs N] [--only NAME]
//
// The output is one JSON object. Each ratio is the median over the pairs, with a 95 % confidence interval from the
// order statistics of the pairs' ratios (no distribution assumed); a goal counts as met when the whole interval meets
// it.
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

constexpr int slice_files = 200;
constexpr double goal = 1.03;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what, const std::string& path) {
  std::fprintf(stderr, "redirect_bench: cannot %s %s: %s\n", what, path.c_str(), std::strerror(errno));
  std::exit(1);
}

// One slice: calls on files of one directory. The result is the seconds that they took.
double work(const std::string& what, const std::vector<std::string>& names) {
  static char bytes[4096];
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
  for (const std::string& name : names) unlink(name.c_str());
  return seconds;
}

// The measured program: a slice for each byte on its standard input, the seconds on its standard output.
int serve(const std::string& what, const std::string& directory) {
  std::vector<std::string> names;
  for (int i = 0; i < slice_files; ++i) names.push_back(directory + "/0.1/uniform/file" + std::to_string(i));
  work(what, names);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) == 1) {
    const double seconds = work(what, names);
    if (write(STDOUT_FILENO, &seconds, sizeof seconds) != sizeof seconds) return 1;
  }
  return 0;
}

// The program above in a process of its own.
class Worker {
 public:
  Worker(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
    std::vector<char*> argv, environment;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
    argv.push_back(nullptr);
    environment.push_back(nullptr);
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("make", "a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environment.data()) != 0)
      fail("start", arguments[0]);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~Worker() {
    close(to_);
    close(from_);
    waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  double slice() {
    double seconds = 0;
    if (write(to_, "", 1) != 1 || read(from_, &seconds, sizeof seconds) != sizeof seconds) fail("talk to", "a worker");
    return seconds;
  }

 private:
  pid_t pid_ = 0;
  int to_ = -1, from_ = -1;
};

struct Interval {
  double median, low, high;
};

// Ranks k and n+1-k, k the largest with P(Binomial(n, 1/2) < k) <= 2.5 %.
Interval interval_of(std::vector<double> values) {
  std::ranges::sort(values);
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
  bool promised = true;  // the goal is for uses of a file; a single look is shown as it is
};
constexpr Measurement measurements[] = {
    {"open, write 4 KiB, close in the case", "open", true},
    {"fopen, write 4 KiB, fclose in the case", "fopen", true},
    {"lstat of missing files in the case", "lstat", true, false},
    {"open, write 4 KiB, close outside", "open", false},
    {"lstat of missing files outside", "lstat", false, false},
};

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments, arguments + count);
  if (words.size() == 4 && words[1] == "serve") return serve(words[2], words[3]);
  if (words.size() < 2) {
    std::fprintf(stderr, "usage: redirect_bench LIBRARY [--files N] [--pairs N] [--only NAME]\n");
    return 2;
  }
  int files = 12'000, pairs = 61;
  std::string only;
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    if (words[i] == "--files") files = std::atoi(words[i + 1].c_str());
    if (words[i] == "--pairs") pairs = std::atoi(words[i + 1].c_str());
    if (words[i] == "--only") only = words[i + 1];
  }

  char base[] = "/dev/shm/redirect-bench-XXXXXX";
  if (mkdtemp(base) == nullptr) fail("make", base);
  const std::string root = base;
  for (const char* name : {"/case", "/tree/0.1/uniform", "/away/0.1/uniform", "/pool/keep/serial"})
    std::filesystem::create_directories(root + name);
  const int gate = open((root + "/gate").c_str(), O_RDWR | O_CREAT, 0600);
  if (gate < 0 || ftruncate(gate, 4096) != 0) fail("make", root + "/gate");
  close(gate);
  // The variables that an agent gives to a rank of a run.
  const std::vector<std::string> with = {"LD_PRELOAD=" + std::filesystem::absolute(words[1]).string(),
                                         "FOREBAY_CASE=" + root + "/case",
                                         "FOREBAY_TREE=" + root + "/tree",
                                         "FOREBAY_LOWER=" + root + "/case",
                                         "FOREBAY_POOLS=" + root + "/pool",
                                         "FOREBAY_GATE=" + root + "/gate",
                                         "FOREBAY_KEEP=" + root + "/pool/keep/serial"};
  utsname machine{};
  uname(&machine);
  std::printf(
      "{\"bench\": \"redirect\", \"machine\": {\"kernel\": \"%s\", \"cores\": %ld, \"files\": %d, \"pairs\": %d}, "
      "\"results\": [",
      machine.release, sysconf(_SC_NPROCESSORS_ONLN), files, pairs);
  const char* separator = "";
  for (const Measurement& measurement : measurements) {
    if (!only.empty() && std::string(measurement.name).find(only) == std::string::npos) continue;
    const std::string direct = root + (measurement.in_case ? "/tree" : "/away"),
                      through = root + (measurement.in_case ? "/case" : "/away");
    std::vector<double> ratios, values, references;
    for (int pair = 0; pair < pairs; ++pair) {
      double seconds[2] = {};
      std::vector<double> slices;
      Worker plain({words[0], "serve", measurement.what, direct}, {"FOREBAY_NONE="});
      Worker redirected({words[0], "serve", measurement.what, through}, with);
      for (int done = 0, turn = 0; done < files; done += slice_files, ++turn) {
        const double first = turn % 2 == 0 ? plain.slice() : redirected.slice();
        const double second = turn % 2 == 0 ? redirected.slice() : plain.slice();
        seconds[turn % 2] += first;
        seconds[1 - turn % 2] += second;
        slices.push_back(turn % 2 == 0 ? second / first : first / second);
      }
      references.push_back(seconds[0]);
      values.push_back(seconds[1]);
      ratios.push_back(interval_of(slices).median);
    }
    const Interval ratio = interval_of(ratios);
    std::printf(
        "%s\n  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"s\", \"reference\": %.4f, \"ratio\": %.4f, "
        "\"interval\": [%.4f, %.4f], ",
        separator, measurement.name, interval_of(values).median, interval_of(references).median, ratio.median,
        ratio.low, ratio.high);
    if (measurement.promised) {
      std::printf("\"goal\": \"<= %.2f\", \"met\": %s}", goal, ratio.high <= goal ? "true" : "false");
    } else {
      std::printf("\"goal\": null, \"met\": null}");
    }
    std::fflush(stdout);
    separator = ",";
  }
  std::puts("\n]}");
  std::filesystem::remove_all(root);
  return 0;
}
