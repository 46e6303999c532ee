#include "run/launch/exec.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/present_path.h"
#include "base/say.h"
#include "base/startup.h"
#include "run/launch/agent.h"
#include "run/launch/namespace.h"
#include "run/launch/plan.h"
#include "run/launch/processes.h"
#include "run/launch/protocol.h"
#include "run/launch/resume.h"
#include "run/launch/signals.h"
#include "run/launch/worker.h"
#include "run/node/loader.h"
#include "run/node/node.h"

namespace forebay::launch {
namespace {

constexpr int not_found_status = 127, not_started_status = 126;
// After one of a node's ranks has failed, where all fail.
constexpr std::chrono::milliseconds others_end_within{1'000};
// While no agent lives, purged times stay until they are freed at this interval.
constexpr std::chrono::milliseconds free_interval{100};
// Counted in sleeps: whoever is stopped meanwhile has not waited.
constexpr std::chrono::milliseconds agent_listens_within{5'000};

std::optional<int> variable(const char* name) {
  const char* text = std::getenv(name);
  const auto value = text == nullptr ? std::nullopt : parse_integer(text);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::string current_directory() {
  std::unique_ptr<char, void (*)(void*)> path(::getcwd(nullptr, 0), std::free);
  return path ? std::string(path.get()) : std::string();
}

// A path that leads into the case, as the local tree has it; others as they are.
std::string into_tree(const std::string& path, const Welcome& welcome) {
  for (const std::string& prefix : {welcome.case_path, welcome.typed_path})
    if (!prefix.empty() && is_below(path, prefix)) return welcome.tree + path.substr(prefix.size());
  return path;
}

// An argument of a program that starts in `directory`. A program that starts in the tree keeps its relative paths as
// they are; one that starts elsewhere may name the case by a relative path.
std::string argument_into_tree(const std::string& argument, const std::string& directory, const Welcome& welcome) {
  const bool is_relative = !argument.starts_with('/') && !is_below(directory, welcome.tree);
  const std::string path =
      is_relative ? std::filesystem::path(join(directory, argument)).lexically_normal().string() : argument;
  const std::string led = into_tree(path, welcome);
  return led == path ? argument : led;
}

// Searches PATH as execvp does.
std::string path_of_program(const std::string& program) {
  const char* search = std::getenv("PATH");
  if (program.find('/') == std::string::npos)
    for (const std::string_view each : split(search == nullptr ? "" : search, ':'))
      if (std::string found = join(each, program); ::access(found.c_str(), X_OK) == 0) return found;
  return program;
}

// A relative path that leads out of the case leads elsewhere from the tree.
std::string program_out_of_case(const std::string& program, const std::string& directory, const Welcome& welcome) {
  if (welcome.enter_namespace || program.starts_with('/') || program.find('/') == std::string::npos) return program;
  std::error_code none;
  const std::string path = std::filesystem::canonical(join(directory, program), none).string();
  return path.empty() || into_tree(path, welcome) != path ? program : path;
}

// Without a namespace the kernel is told where a program of the case lies in the tree. A script keeps the path that it
// is to see as its own.
std::string program_in_tree(const std::string& program, const std::string& directory, const Welcome& welcome) {
  const std::string path = path_of_program(program);
  const std::string local = argument_into_tree(path, directory, welcome);
  if (local == path) return program;
  const auto file = open_file(local, O_RDONLY);
  char head[2] = {};
  return file && ::read(file->get(), head, sizeof head) == 2 && std::string_view(head, 2) != "#!" ? local : program;
}

// A program of musl ends at once where LD_PRELOAD names a library of glibc. In a namespace it works without.
Status preload(const std::string& library, const std::string& program, bool in_namespace, bool tells) {
  if (node::is_of_musl(node::loader_of(path_of_program(program)).value_or(""))) {
    if (!in_namespace)
      return error(Code::bad_input, "linked to musl, so it cannot load the redirection library:", program,
                   "run it with --via path, or with --via namespace where that works");
    if (tells)
      say(stderr, "forebay exec: {} is linked to musl: it runs without the redirection library\n", printable(program));
    return {};
  }
  const char* before = std::getenv("LD_PRELOAD");
  const std::string all = before == nullptr || *before == '\0' ? library : library + ":" + before;
  ::setenv("LD_PRELOAD", all.c_str(), 1);
  return {};
}

// The node's first has its name a moment before the agent listens.
Result<Descriptor> reach_agent(const std::string& name, Clock& clock) {
  for (std::chrono::milliseconds slept{0};; ++slept) {
    auto socket = connect_to(name);
    const bool early = !socket && socket.error().errno_value == ECONNREFUSED;
    if (!early || slept == agent_listens_within) return socket;
    clock.sleep(std::chrono::milliseconds(1));
  }
}

// Joins the run and becomes the program. A return means failure.
Error become(const Plan& plan, std::vector<std::string> program, Clock& clock) {
  auto socket = reach_agent(meeting_of(plan).agent, clock);
  if (!socket) return socket.error();
  Hello hello;
  const RankOfProcess self = plan.launched ? rank_of_process() : RankOfProcess{};
  hello.rank = self.rank;
  hello.size = self.size;
  hello.on_node = self.on_node;
  const node::Whereabouts where = node::whereabouts();
  hello.cpus = where.allowed;
  hello.cpu = where.cpu;
  hello.program = program.front();
  if (auto sent = send_hello(socket->get(), hello); !sent) return sent.error();
  Descriptor user, mount;
  auto welcome = receive_welcome(socket->get(), user, mount);
  if (!welcome) return welcome.error();
  if (!welcome->error.empty()) return {static_cast<Code>(welcome->error_code), welcome->error, "", 0, ""};
  const std::string directory = current_directory();
  if (welcome->enter_namespace)
    if (auto entered = enter(user.get(), mount.get()); !entered) return entered.error();
  if (!welcome->enter_namespace && !name_exists(welcome->tree))
    return {Code::failed,
            "this process does not see the run's pool, though the agent of this node does:", welcome->tree, ENOENT,
            "it has a file system of its own (a container, a /dev/shm of the step's own): bind the pool into that, or "
            "name a pool with --pool that all processes of the node see"};
  // The process enters the directory even if its name is the same: in the namespace the path leads elsewhere than
  // before.
  const std::string start = into_tree(directory, *welcome);
  if (!directory.empty() && ::chdir(start.c_str()) != 0) return errno_error("cannot start in", start).value();
  ::setenv("PWD", welcome->rewrite_arguments ? start.c_str() : directory.c_str(), 1);
  for (const auto& [name, value] : welcome->environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv(process_variable, std::to_string(::getpid()).c_str(), 1);
  // Open MPI keeps the shared file pointer of ranks on several nodes in a file beside the one that they open. It would
  // lie in the pool of one node, and those of the others would wait for it for ever. A user's own setting stays.
  if (hello.on_node > 0 && hello.on_node < hello.size) ::setenv("OMPI_MCA_sharedfp", "^lockedfile", 0);
  const std::string name = program_out_of_case(program.front(), directory, *welcome);
  if (!welcome->preload.empty())
    if (auto loaded = preload(welcome->preload, name, welcome->enter_namespace, hello.rank <= 0); !loaded)
      return loaded.error();
  std::vector<char*> arguments;
  for (std::string& argument : program) {
    if (welcome->rewrite_arguments) argument = argument_into_tree(argument, start, *welcome);
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  ::execvp(program_in_tree(name, start, *welcome).c_str(), arguments.data());
  return errno_error("cannot run", program.front(), errno == ENOENT ? "check the name and PATH" : "").value();
}

[[noreturn]] void run_program(const Plan& plan, const std::vector<std::string>& program, Clock& clock) {
  const Error failure = become(plan, program, clock);
  say(stderr, "forebay exec: {}\n", failure.text());
  ::_exit(failure.errno_value == ENOENT && failure.what == "cannot run" ? not_found_status
          : failure.errno_value != 0                                    ? not_started_status
                                                                        : static_cast<int>(failure.code));
}

// The node's first: makes the agent, runs its own program as a child, and waits for both. Between it and the agent
// there is a keeper, which carries what an agent that is killed has not carried: this process may be killed, too, since
// a launcher that sees a rank fail kills the others within a millisecond.
class Parent {
 public:
  Parent(const Plan& plan, Descriptor first, Clock& clock) : plan_(plan), first_(std::move(first)), clock_(clock) {}

  Result<int> run(const std::vector<std::string>& program) {
    auto listener = listen_at(meeting_of(plan_).agent);
    if (!listener) return forward(listener);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error("cannot make a pipe", "");
    Descriptor from_parent(ends[0]);
    to_agent_ = Descriptor(ends[1]);
    if (auto directory = open_file(plan_.case_path, O_PATH | O_DIRECTORY)) case_ = std::move(*directory);
    // SIGPIPE: from the pipe to an agent that was killed.
    WatchedSignals signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ}, clock_);
    keeper_ = ::fork();
    if (keeper_ < 0) return errno_error("cannot start the node's agent", "");
    if (keeper_ == 0) {
      to_agent_.reset();
      become_keeper(signals, std::move(*listener), std::move(from_parent));
    }
    from_parent.reset();
    listener->reset();
    program_ = ::fork();
    if (program_ < 0) return errno_error("cannot start", program.front());
    if (program_ == 0) {
      to_agent_.reset();
      signals.restore();
      run_program(plan_, program, clock_);
    }
    return wait(signals);
  }

 private:
  [[noreturn]] void become_keeper(WatchedSignals& signals, Descriptor listener, Descriptor from_parent) {
    // A session of its own: what is meant for the program's terminal or process group passes it by. It goes when its
    // work is done, not when it is told to: batch systems send SIGTERM long before they kill.
    ::setsid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
    allow_large_files();
    signals.restore();
    (void)!::chdir("/");
    const auto null = open_file("/dev/null", O_RDWR);
    if (null) ::dup2(null->get(), STDIN_FILENO);
    const auto pulse = Pulse::make();
    const pid_t agent = pulse ? ::fork() : -1;
    if (agent == 0) {
      ::prctl(PR_SET_NAME, "forebay-agent");
      pulse->tell_calls();
      std::exit(run_agent(plan_, std::move(listener), std::move(from_parent), clock_));
    }
    if (agent < 0) {
      say(stderr, "forebay exec: {}\n", errno_error("cannot start the node's agent", "").value().text());
      ::_exit(not_started_status);
    }
    listener.reset();
    // The launcher waits for the end of what it reads.
    for (const int each : {STDOUT_FILENO, STDERR_FILENO})
      if (null) ::dup2(null->get(), each);
    if (!watch(agent, *pulse, from_parent.get())) ::_exit(0);
    const auto anew = Pulse::make();  // the old one tells of calls that the agent was killed in
    const pid_t successor = anew ? ::fork() : -1;
    if (successor == 0) {
      anew->tell_calls();
      resume(agent, from_parent.get());
      ::_exit(0);
    }
    if (successor > 0) (void)watch(successor, *anew, from_parent.get());
    ::_exit(0);
  }

  // The worker is watched for hanging only once the program has ended: until then its waiting for the case holds up
  // nobody else. True where it was killed by somebody else.
  bool watch(pid_t worker, const Pulse& pulse, int from_parent) const {
    const auto program_has_ended = [&] {
      pollfd told{from_parent, POLLIN, 0};
      return clock_.poll({&told, 1}, std::chrono::milliseconds(0)) > 0;
    };
    const WatchedSignals signals({SIGCHLD}, clock_);
    const Watched watched = watch_worker(
        worker, pulse, bounds_of(plan_.settings.drain), program_has_ended, signals, [](const auto&) { return false; },
        clock_);
    if (watched.end == Watched::End::ended) return WIFSIGNALED(watched.status);
    // A worker that is only silent may go on, and nobody waits for it.
    if (watched.end == Watched::End::silent) return false;
    (void)kill_worker(worker, clock_);
    tell_that_it_hangs(plan_by_present_path(), pulse.home(), watched.path);
    return false;
  }

  // The case may have been renamed since.
  Plan plan_by_present_path() const {
    Plan plan = plan_;
    if (case_) plan.case_path = present_path(case_.get(), plan.case_path).value_or(plan.case_path);
    return plan;
  }

  // The agent was killed. The remaining files are carried when the program has ended: its parent tells how, or is
  // killed with it. (The case is told what comes of it.)
  void resume(pid_t agent, int from_parent) const {
    release_ranks(plan_);
    free_purged_while(
        plan_,
        [&] {
          pollfd told{from_parent, POLLIN, 0};
          return clock_.poll({&told, 1}, free_interval) == 0;
        },
        clock_);
    int program = -1;
    ssize_t got = 0;
    while ((got = ::read(from_parent, &program, sizeof program)) < 0 && errno == EINTR) {
    }
    const bool cleanly = got == sizeof program && WIFEXITED(program) && WEXITSTATUS(program) == 0;
    (void)resume_node(plan_by_present_path(), cleanly, agent, clock_);
  }

  // Until both have ended; without a launcher only the program, since `forebay run` itself waits for the drain. Where
  // the program failed and other ranks of the node go on, its keeper is not waited for: they may wait for the failed
  // one for ever, and the launcher, which would end them, learns of it by our end only. Ranks that fail together end
  // together: then we wait, since batch systems kill what outlives the processes they started. Where somebody has
  // killed the keeper and the agent, nobody else would let go whom the agent held back.
  Result<int> wait(const WatchedSignals& signals) {
    while (program_ > 0 || (plan_.launched && keeper_ > 0)) {
      const bool failed = program_ == 0 && program_status_ != 0, alone = program_ > 0 && keeper_ == 0 && !released_;
      const auto got = signals.next(failed ? others_end_within : alone ? look_interval : std::chrono::milliseconds(-1));
      if (!got) {
        if (failed && !ranks_of(plan_.run).empty()) break;
        if (alone && agent_is_gone()) release();
        continue;
      }
      const int signal = static_cast<int>(got->ssi_signo);
      if (signal == SIGCHLD) {
        reap();
      } else if (program_ > 0 && got->ssi_code <= 0) {
        ::kill(program_, signal);  // sent to us alone; what the terminal sends reaches the program by itself
      }
    }
    if (WIFSIGNALED(program_status_)) return 128 + WTERMSIG(program_status_);
    return WEXITSTATUS(program_status_);
  }

  // Its name is free.
  bool agent_is_gone() const {
    const auto name = take_name(meeting_of(plan_).agent);
    return name && *name;
  }

  void release() {
    release_ranks(plan_);
    released_ = true;
  }

  void reap() {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == program_) {
        program_ = 0;
        program_status_ = status;
        // Once for the agent, and once for its keeper.
        const int message[2] = {status, status};
        (void)!::write(to_agent_.get(), message, sizeof message);
        to_agent_.reset();
      } else if (ended == keeper_) {
        keeper_ = 0;
      }
    }
  }

  const Plan& plan_;
  Descriptor first_, to_agent_, case_;
  Clock& clock_;
  pid_t keeper_ = 0, program_ = 0;
  int program_status_ = 0;
  bool released_ = false;
};

}  // namespace

RankOfProcess rank_of_process() {
  static constexpr std::array<std::array<const char*, 2>, 4> names{{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                                    {"PMIX_RANK", "PMIX_SIZE"},
                                                                    {"PMI_RANK", "PMI_SIZE"},
                                                                    {"SLURM_PROCID", "SLURM_NTASKS"}}};
  int on_node = 0;
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (on_node == 0) on_node = variable(name).value_or(0);
  if (const char* tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE"); on_node == 0 && tasks != nullptr)
    on_node = tasks_of_node(tasks, variable("SLURM_NODEID").value_or(0));
  for (const auto& [rank, size] : names)
    if (const auto found = variable(rank)) return {*found, variable(size).value_or(0), on_node};
  return {};
}

int tasks_of_node(std::string_view tasks_per_node, int node) {
  for (int before = 0; !tasks_per_node.empty();) {
    const std::size_t comma = std::min(tasks_per_node.find(','), tasks_per_node.size());
    const std::string_view word = tasks_per_node.substr(0, comma);
    const std::size_t times = word.find("(x");
    const auto tasks = parse_integer(word.substr(0, times));
    const auto nodes = times == std::string_view::npos || !word.ends_with(')')
                           ? std::optional<std::int64_t>(1)
                           : parse_integer(word.substr(times + 2, word.size() - times - 3));
    if (!tasks || !nodes || *nodes < 1) return 0;
    if (node < before + *nodes) return static_cast<int>(*tasks);
    before += static_cast<int>(*nodes);
    tasks_per_node.remove_prefix(std::min(comma + 1, tasks_per_node.size()));
  }
  return 0;
}

Result<int> exec_program(const ExecRequest& request, Clock& clock) {
  auto plan = read_plan(request.case_path);
  if (!plan && plan.error().errno_value == ENOENT)
    return error(Code::bad_input, "no run of forebay on", request.case_path,
                 "start the launcher by `forebay run --case DIR -- ...`");
  if (!plan) return forward(plan);
  // The process that gets the name is the node's first one and holds it until the end; its keeper and agent inherit it.
  auto first = take_name(meeting_of(*plan).first);
  if (!first) return forward(first);
  if (*first) return Parent(*plan, std::move(**first), clock).run(request.program);
  run_program(*plan, request.program, clock);
}

}  // namespace forebay::launch
