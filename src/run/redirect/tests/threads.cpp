// Many at once: threads and processes that open the same staged links for writing, handlers that open files, children
// made in every way, libraries of the case. The output must not depend on luck; the exit status is 1 when something is
// wrong.
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/tests/asleep.h"
#include "run/redirect/tests/say.h"

namespace {

std::string root;
std::atomic<int> wrong{0};

void expect(bool good, const char* what) {
  if (good) return;
  ++wrong;
  std::printf("wrong: %s (%s)\n", what, std::strerror(errno));
}

// Each writer adds one line to every file; readers must always see whole lines and the original's beginning.
void append_to_all(int files, int writer) {
  for (int i = 0; i < files; ++i) {
    const std::string path = root + "/many/f" + std::to_string(i);
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND);
    expect(fd >= 0, "open for appending");
    const std::string line = "writer " + std::to_string(writer) + "\n";
    expect(write(fd, line.c_str(), line.size()) == static_cast<ssize_t>(line.size()), "append");
    close(fd);
    const int reader = open(path.c_str(), O_RDONLY);
    expect(reader >= 0, "open for reading");
    char byte = 0;
    expect(pread(reader, &byte, 1, 100'000) == 1 && byte == 'x', "the whole content");
    close(reader);
  }
}

// Each thread has a directory of its own and finds its own files there, whatever directory another has just used.
void in_own_directory(int thread) {
  const std::string directory =
      root + "/own" + std::to_string(thread) + std::string(static_cast<size_t>(thread) * 9, 'd');
  expect(mkdir(directory.c_str(), 0755) == 0, "mkdir of an own directory");
  const std::string path = directory + "/file";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
  expect(fd >= 0 && ftruncate(fd, thread) == 0, "an own file");
  close(fd);
  for (int i = 0; i < 20'000; ++i) {
    struct stat status {};
    expect(stat(path.c_str(), &status) == 0 && status.st_size == thread, "the own file is found");
  }
  expect(unlink(path.c_str()) == 0 && rmdir(directory.c_str()) == 0, "the own directory is removed");
}

volatile sig_atomic_t handled = 0;
void open_in_handler(int) {
  const int before = errno;
  static char path[4096];
  std::snprintf(path, sizeof path, "%s/signal/s%d", root.c_str(), static_cast<int>(handled % 50));
  const int fd = open(path, O_RDWR);
  if (fd >= 0) close(fd);
  struct stat status {};
  if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) ++wrong;
  handled = handled + 1;
  errno = before;
}

void with_signals() {
  struct sigaction action {};
  action.sa_handler = open_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 50 || handled < 60; ++i) {
    const std::string path = root + "/signal/s" + std::to_string(i % 50);
    errno = 77;
    const int fd = open(path.c_str(), O_RDWR);
    expect(fd >= 0, "open under signals");
    expect(errno == 77, "errno is kept");
    close(fd);
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
}

int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void children() {
  pid_t pid = fork();
  if (pid == 0) {
    const int fd = open((root + "/forked").c_str(), O_CREAT | O_WRONLY, 0600);
    _exit(fd >= 0 && chdir("/") == 0 && access((root + "/forked").c_str(), F_OK) == 0 ? 0 : 1);
  }
  expect(wait_for(pid) == 0, "fork");
  // A child of vfork changes its own working directory only.
  expect(chdir(root.c_str()) == 0, "chdir");
  pid = vfork();
  if (pid == 0) {
    if (chdir("/") != 0) _exit(1);
    execl((root + "/script.sh").c_str(), "script", "vfork", static_cast<char*>(nullptr));
    _exit(127);
  }
  expect(wait_for(pid) == 0, "vfork and execl");
  char here[4096];
  expect(getcwd(here, sizeof here) != nullptr && root == here, "the working directory after vfork");
  expect(open("processor0/../forked", O_RDONLY) >= 0, "a relative path after vfork");

  const std::string script = root + "/script.sh";
  char* const argv[] = {const_cast<char*>("name"), const_cast<char*>("spawned"), nullptr};
  expect(posix_spawn(&pid, script.c_str(), nullptr, nullptr, argv, environ) == 0, "posix_spawn");
  expect(wait_for(pid) == 0, "the spawned script");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, (root + "/spawned.out").c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, (root + "/many").c_str());
  char* const pwd[] = {const_cast<char*>("pwd"), const_cast<char*>("-P"), nullptr};
  expect(posix_spawnp(&pid, "pwd", &actions, nullptr, pwd, environ) == 0, "posix_spawnp");
  expect(wait_for(pid) == 0, "pwd");
  posix_spawn_file_actions_destroy(&actions);
  say("spawned.out", content(root + "/spawned.out"));

  setenv("PATH", (root + "/bin:/usr/bin:/bin").c_str(), 1);
  for (int kind = 0; kind < 4; ++kind) {
    pid = fork();
    if (pid == 0) {
      char* const named[] = {const_cast<char*>("tool"), const_cast<char*>("argument"), nullptr};
      if (kind == 0) execvp("tool", named);
      if (kind == 1) execlp("tool", "tool", "list", static_cast<char*>(nullptr));
      if (kind == 2) execle(script.c_str(), "name", "e", static_cast<char*>(nullptr), environ);
      if (kind == 3) execvp("plain", named);  // no "#!": by the shell
      _exit(127);
    }
    expect(wait_for(pid) == 0, "exec by PATH");
  }
  // A child that lost the configuration, but not the library, gets it back.
  pid = fork();
  if (pid == 0) {
    const std::string preload =
        std::string("LD_PRELOAD=") + (getenv("LD_PRELOAD") != nullptr ? getenv("LD_PRELOAD") : "");
    char* const few[] = {const_cast<char*>(preload.c_str()), nullptr};
    execle("/bin/cat", "cat", (root + "/forked-by-none").c_str(), static_cast<char*>(nullptr), few);
    _exit(127);
  }
  expect(wait_for(pid) == 0, "a child with a bare environment");
  expect(std::system(("test -f '" + root + "/forked'").c_str()) == 0, "system");
  FILE* pipe = popen(("cat '" + root + "/script.sh' | wc -l").c_str(), "r");
  char line[64] = "";
  expect(std::fgets(line, sizeof line, pipe) != nullptr, "popen");
  pclose(pipe);
  say("lines", line);
}

void libraries() {
  void* library = dlopen((root + "/lib/libanswer.so").c_str(), RTLD_NOW);
  expect(library != nullptr, "dlopen");
  if (library != nullptr) say("answer", reinterpret_cast<int (*)()>(dlsym(library, "answer"))());
  expect(chdir((root + "/lib").c_str()) == 0 && dlopen("./libanswer.so", RTLD_NOW) == library, "dlopen of the same");
  expect(dlopen((root + "/lib/missing.so").c_str(), RTLD_NOW) == nullptr, "dlopen of a missing library");
  expect(dlopen(nullptr, RTLD_NOW) != nullptr, "dlopen of nullptr");
  expect(dlopen("libm.so.6", RTLD_NOW) != nullptr, "dlopen by name");
}

// pthread_cancel works through open, as POSIX has it.
void cancellation() {
  const std::string fifo = root + "/fifo";
  expect(mkfifo(fifo.c_str(), 0600) == 0, "mkfifo");
  static std::atomic<pid_t> opener{0};
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void* path) -> void* {
        opener = gettid();
        open(static_cast<const char*>(path), O_RDONLY);
        return nullptr;
      },
      const_cast<char*>(fifo.c_str()));
  while (!forebay::is_asleep(opener)) sched_yield();
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  expect(result == PTHREAD_CANCELED, "cancellation in open");
  unlink(fifo.c_str());
}

// The calls of a thread with the smallest stack that the system gives, in a directory of its own.
void* on_a_small_stack(void* directory) {
  const int here = open(static_cast<const char*>(directory), O_RDONLY | O_DIRECTORY);
  const int input = openat(here, "input", O_WRONLY | O_APPEND);
  expect(here >= 0 && input >= 0 && write(input, "more\n", 5) == 5 && close(input) == 0, "append to an input");
  close(openat(here, "new", O_WRONLY | O_CREAT | O_EXCL, 0644));
  expect(renameat(here, "new", here, "renamed") == 0, "rename");
  expect(renameat(here, "other", here, "renamed") == 0, "rename an input over an output");
  expect(linkat(here, "third", here, "linked", 0) == 0, "link an input");
  expect(symlinkat("../small/input", here, "way") == 0, "make a link");
  expect(close(openat(here, "way", O_WRONLY | O_APPEND)) == 0, "open through it");
  expect(mkdirat(here, "below", 0755) == 0, "make a directory");
  expect(symlinkat(static_cast<const char*>(directory), here, "below/up") == 0, "make a link within the case");
  expect(close(openat(here, "below/up/below/../fourth", O_WRONLY)) == 0, "open by way of two links");
  expect(unlinkat(here, "linked", 0) == 0 && unlinkat(here, "below/up", 0) == 0, "remove");
  expect(unlinkat(here, "below", AT_REMOVEDIR) == 0, "remove a directory");
  close(here);
  return nullptr;
}

void small_stacks() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  expect(pthread_attr_setstacksize(&small, static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN))) == 0, "a small stack");
  const auto run = [](const char* name, const pthread_attr_t* attributes) {
    std::string directory = root + "/" + name;
    pthread_t thread;
    expect(pthread_create(&thread, attributes, on_a_small_stack, directory.data()) == 0, "a thread");
    pthread_join(thread, nullptr);
  };
  run("small", &small);
  pthread_attr_t usual;
  pthread_getattr_default_np(&usual);
  pthread_setattr_default_np(&small);
  run("small-by-default", nullptr);
  pthread_setattr_default_np(&usual);
}

}  // namespace

int main(int, char** arguments) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  root = arguments[1];
  constexpr int files = 20, threads = 32, processes = 3;
  for (int process = 1; process < processes; ++process)
    if (fork() == 0) {
      append_to_all(files, 1000 + process);
      _exit(wrong.load());
    }
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(append_to_all, files, i);
  for (std::thread& thread : running) thread.join();
  for (int status = 0; wait(&status) > 0;) expect(status == 0, "a process beside the threads");
  for (int i = 0; i < files; ++i) {
    const std::string path = root + "/many/f" + std::to_string(i);
    FILE* file = fopen(path.c_str(), "r");
    std::vector<std::string> lines;
    char line[256];
    std::fseek(file, 120'000, SEEK_SET);
    while (std::fgets(line, sizeof line, file) != nullptr) lines.push_back(line);
    std::fclose(file);
    std::ranges::sort(lines);
    expect(std::unique(lines.begin(), lines.end()) == lines.end(), "no line twice");
    say("lines of " + std::to_string(i), static_cast<long>(lines.size()));
    truncate(path.c_str(), 120'000);  // the order of the lines is luck
  }
  running.clear();
  for (int i = 1; i <= 8; ++i) running.emplace_back(in_own_directory, i);
  for (std::thread& thread : running) thread.join();
  with_signals();
  children();
  libraries();
  cancellation();
  small_stacks();
  say("wrong", wrong.load());
  return wrong == 0 ? 0 : 1;
}
