#include "run/launch/agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <tuple>

#include "base/pulse.h"
#include "base/say.h"
#include "run/advice/commands.h"
#include "run/contract/contract.h"
#include "run/contract/text.h"
#include "run/drain/drain.h"
#include "run/launch/agreement.h"
#include "run/launch/logs.h"
#include "run/launch/namespace.h"
#include "run/launch/passage.h"
#include "run/launch/pool_run.h"
#include "run/launch/pressure.h"
#include "run/launch/processes.h"
#include "run/launch/programs.h"
#include "run/launch/protocol.h"
#include "run/launch/report.h"
#include "run/launch/reporter.h"
#include "run/launch/run.h"
#include "run/launch/several_nodes.h"
#include "run/launch/staging.h"
#include "run/launch/steering.h"
#include "run/launch/writers.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

// Events are read in batches, so that following the program takes 1/256 of a core, or a batch in a quarter of a second:
// what this costs, the solver waits for.
constexpr auto shortest_pause = 3ms, longest_pause = 250ms;
constexpr int pause_per_work = 256;
// While events wait for their batch they are taken from the kernel, whose queue is short: after a sixth of the pause,
// and no more often than this. Waking for that costs as much as following. A tick comes after tick_interval, or up to
// longest_pause where the last batch is longer ago; it comes no later than the run's next report.
constexpr auto glance_interval = 20ms;
constexpr int glances_in_pause = 6;
constexpr auto tick_interval = 200ms;
constexpr auto status_interval = 1s;
constexpr auto beat_interval = 5s;
// Where nothing was heard for so long, there is no more to do than what comes by itself: a tick in a while.
constexpr auto rest_after = 5s;
constexpr auto rest_interval = 1250ms;
// How long a node may be without any rank before its parent's end counts as the end of the run.
constexpr auto empty_interval = 2s;
// A node that failed tells each rank so during `refusing`. A rank that connects must say who it is within
// `hello_comes_within`.
constexpr auto refusing = 10s, hello_comes_within = 1s;

// The log lies in the pool, which may be full.
void log(const std::string& message) {
  say(stderr, "forebay agent: {}\n", message);
}

class Agent {
 public:
  Agent(const Plan& plan, Descriptor listener, Descriptor parent, Clock& clock)
      : plan_(plan), clock_(clock), listener_(std::move(listener)) {
    program_.parent = std::move(parent);
  }

  int run() {
    if (auto started = start(); !started) return refuse_all(started.error());
    serve();
    finish();
    return 0;
  }

 private:
  struct Member {
    Descriptor socket, process;
    pid_t pid = 0;
    int rank = -1;
    bool welcome = false;
  };

  Status start();
  Status tell_case();
  int refuse_all(const Error& failure);
  void serve();
  Status wait_also_for(int descriptor);
  double since(Clock::time_point start) const { return std::chrono::duration<double>(clock_.now() - start).count(); }
  std::chrono::milliseconds milliseconds_until(Clock::time_point when) const {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(when - clock_.now()), 0ms);
  }
  Clock::time_point next_work() const { return std::min({next_.events, next_.tick, pressure_->next_check()}); }
  bool at_rest() const;
  Clock::time_point next_tick() const;
  bool stays_quiet();
  void check_pools();
  void note_standstill();
  void note_steps(bool all);
  std::vector<pid_t> member_processes() const;
  void accept_member();
  void hear(Member& member);
  Result<Welcome> admit(const Hello& hello);
  const std::string& socket_directory(const Hello& hello);
  Status stage_for(const Hello& hello, const std::string& pool);
  void members_ended();
  void vouch_for_checkpoints();
  void read_events();
  Clock::duration pause_after(Clock::duration work) const;
  bool ended_cleanly() const;
  void finish();
  void tell_that_case_is_unaware(const std::string& case_path);
  void tell_status(bool at_once);
  bool alone() const;
  void hear_others();
  void answer_user();
  int ranks_that_came() const;
  bool over() const;

  const Plan plan_;
  Clock& clock_;
  const Pace pace_ = pace_of(plan_.settings.drain.safe_interval);
  Descriptor listener_;
  Descriptor wakers_;  // an epoll of all that is waited for, but for events
  node::Machine machine_;
  std::vector<node::Pool> pools_;
  PoolRun run_;
  Descriptor lock_;
  Namespace namespace_;
  std::unique_ptr<drain::Drain> drain_;
  std::optional<Staging> staging_;
  std::unique_ptr<Pressure> pressure_;
  std::unique_ptr<Reporter> reporter_;
  NodeReport report_;
  // The processes on this node: the parent and its ranks.
  struct Program {
    std::vector<Member> members = {};
    Descriptor parent = {};
    std::optional<int> parent_status = {};
    int ranks_on_node = 0;  // as the launcher says; 0: not known
    bool admitted = false, rank_failed = false;
    Clock::time_point started, ended = started;
  } program_{.started = clock_.now()};
  // When the report was last told, and what of it.
  struct Told {
    Clock::time_point at{}, to_case_at{}, to_drain_at{};
    std::vector<std::string> safe_times = {};  // as the case was told
  } told_;
  // When something is due, and the pause before the next events.
  struct Next {
    Clock::time_point events{}, tick{}, rest{};
    Clock::duration pause{};
  } next_;
  // The user's request to this node.
  struct Asked {
    Steering steering = {};
  } asked_;
  struct Course {
    TimeWriters writers;
    Steadiness steadiness = {};
  } course_{.writers = {[this] { return programs_at_work(member_processes()); },
                        [](const ProgramAtWork& program) { return is_alive(program); }}};
};

Status Agent::start() {
  // Modes on the case are set exactly; everything private is made with its mode.
  const mode_t umask = ::umask(0);
  auto machine = node::observe();
  if (!machine) return forward(machine);
  machine_ = std::move(*machine);
  auto pools = node::choose_pools(machine_, plan_.settings.pool);
  if (!pools) return forward(pools);
  pools_ = std::move(*pools);
  for (const node::Pool& pool : pools_)
    if (pool.medium == node::Medium::tmpfs) report_.pool.in_memory.insert(pool.path);
  auto run = make_pool_run(plan_, pools_, umask);
  if (!run) return forward(run);
  run_ = std::move(*run);
  auto lock = launch::lock(run_);
  if (!lock) {
    run_ = {};  // somebody else's: it stays
    return forward(lock);
  }
  lock_ = std::move(*lock);
  if (needs_one_node(plan_))
    if (auto claimed = claim_case(plan_, clock_); !claimed) return claimed;
  report_.node = run_.node;
  report_.run = plan_.run;
  report_.home = run_.home();
  Pulse::set_home(run_.home());
  report_.agent_pid = run_.agent_pid;
  report_.pool.made_by = run_.agent_pid;
  report_.pool.mount = node::mount_point_of(run_.home());
  if (auto log = open_file(join(run_.home(), "agent.log"), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW)) {
    ::dup2(log->get(), STDOUT_FILENO);
    ::dup2(log->get(), STDERR_FILENO);
  }
  if (auto made = make_private_directory(std::string(parent_of(run_.tree()))); !made) return made;
  if (plan_.way == node::Way::namespaces) {
    // Descends into the case only inside the namespace; before threads exist.
    if (auto made = make_private_directory(run_.lower()); !made) return made;
    if (auto made = make_private_directory(run_.tree()); !made) return made;
    auto space = make_namespace(plan_.case_path, run_.lower(), run_.tree());
    if (!space) return forward(space);
    namespace_ = std::move(*space);
  } else if (::symlink(plan_.case_path.c_str(), run_.lower().c_str()) != 0) {
    return errno_error("cannot link", run_.lower());
  }
  let_pass(run_);
  if (auto told = tell_case(); !told) return told;
  auto pressure = Pressure::make(join(run_.home(), gate_name), pools_, run_.directories, plan_.settings, clock_);
  if (!pressure) return forward(pressure);
  pressure_ = std::move(*pressure);
  auto drain = drain::Drain::open(drain_request(run_), clock_);
  if (!drain) return forward(drain);
  drain_ = std::move(*drain);
  wakers_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!wakers_) return errno_error("cannot wait for ranks", "");
  for (const int each : {listener_.get(), program_.parent.get(), drain_->outcomes_descriptor()})
    if (auto waits = wait_also_for(each); !waits) return waits;
  staging_.emplace(
      plan_, run_, *drain_, report_, [this] { tell_status(false); }, clock_);
  return staging_->common();
}

// Before any rank is let in: of a run of which the case was never told nothing was written.
Status Agent::tell_case() {
  reporter_ = std::make_unique<Reporter>(node_report_path(plan_.case_path, run_.node), clock_);
  tell_status(true);
  if (reporter_->flush(plan_.settings.drain.patience)) return {};
  return error(Code::undrained, "the case cannot be told that this node takes part:", reporter_->path(),
               "see that the case can be written from this node");
}

// Nothing can be done on this node: every rank that comes is told why.
int Agent::refuse_all(const Error& failure) {
  log(failure.text());
  Welcome welcome;
  welcome.error = failure.text();
  welcome.error_code = static_cast<int>(failure.code);
  if (reporter_) {
    report_.phase = Phase::done;  // nothing was written
    tell_status(true);
  }
  drain_.reset();
  if (!run_.directories.empty()) (void)remove(run_);
  const auto until = clock_.now() + refusing;
  while (clock_.now() < until) {
    pollfd waits[2] = {{listener_.get(), POLLIN, 0}, {program_.parent.get(), POLLIN, 0}};
    clock_.poll(waits, 500ms);
    if ((waits[0].revents & POLLIN) != 0) {
      const Descriptor member(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      pollfd hello{member.get(), POLLIN, 0};
      if (member && clock_.poll({&hello, 1}, hello_comes_within) > 0 && receive_hello(member.get()))
        (void)send_welcome(member.get(), welcome, -1, -1);
    }
    if (waits[1].revents != 0) break;
  }
  return static_cast<int>(failure.code);
}

void Agent::accept_member() {
  Member member;
  member.socket = Descriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!member.socket) return;
  ucred peer{};
  socklen_t length = sizeof peer;
  ::getsockopt(member.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length);
  if (peer.uid != ::geteuid()) return;
  member.pid = peer.pid;
  auto watch = watch_process(peer.pid);
  if (!watch) return;
  member.process = std::move(*watch);
  for (const int each : {member.socket.get(), member.process.get()}) {
    if (auto waits = wait_also_for(each); !waits) {
      log(waits.error().text());
      return;
    }
  }
  program_.members.push_back(std::move(member));
}

// The run directory in the pool of the socket that the rank runs on.
const std::string& Agent::socket_directory(const Hello& hello) {
  const int socket = node::socket_of(machine_, node::Whereabouts{hello.cpus, hello.cpu});
  const auto index = static_cast<std::size_t>(std::clamp(socket, 0, static_cast<int>(run_.directories.size()) - 1));
  report_.sockets[hello.rank] = static_cast<int>(index);
  return run_.directories[index];
}

// Where all ranks are here, and in one pool, all their directories are there before the first program begins: it may
// remove the others', and make them anew.
Status Agent::stage_for(const Hello& hello, const std::string& pool) {
  const bool all = run_.one_mount && hello.on_node == plan_.ranks;
  for (int rank = all ? 0 : hello.rank; rank < (all ? plan_.ranks : hello.rank + 1); ++rank)
    if (!run_.ranks.contains(rank))
      if (auto staged = staging_->rank(rank, pool); !staged) return staged;
  return {};
}

Result<Welcome> Agent::admit(const Hello& hello) {
  if (report_.phase == Phase::draining) return error(Code::failed, "this run is over", plan_.run);
  Welcome welcome;
  welcome.case_path = plan_.case_path;
  welcome.typed_path = plan_.typed_path;
  std::string pool = run_.home();
  if (plan_.decomposed && plan_.launched) {
    if (hello.rank < 0)
      return error(Code::bad_input, "the launcher did not say which rank this is", "",
                   "forebay knows Open MPI, PMIx, PMI (MPICH, Intel MPI) and Slurm");
    if (hello.rank >= plan_.ranks || (hello.size != 0 && hello.size != plan_.ranks))
      return error(Code::bad_input,
                   fmt::format("{}, but the case is decomposed into {}",
                               plural(static_cast<std::uint64_t>(hello.size), "rank"), plan_.ranks),
                   plan_.case_path, "decompose the case for this number of ranks, or start as many as it has");
    const std::string& own = socket_directory(hello);
    if (!run_.one_mount) pool = own;
    if (auto staged = stage_for(hello, pool); !staged) return forward(staged);
  }
  const bool in_namespace = plan_.way == node::Way::namespaces;
  welcome.tree = in_namespace ? plan_.case_path : run_.tree();
  welcome.enter_namespace = in_namespace;
  welcome.rewrite_arguments = plan_.way == node::Way::path;
  std::map<std::string, std::string>& environment = welcome.environment;
  environment[contract::run_variable] = plan_.run;
  if (plan_.redirect) {
    std::string pools;
    for (const std::string& directory : run_.directories)
      pools += (pools.empty() ? "" : ":") + contract::list_word(directory);
    environment[contract::case_variable] = plan_.case_path;
    if (plan_.typed_path != plan_.case_path)
      environment[contract::aliases_variable] = contract::list_word(plan_.typed_path);
    environment[contract::tree_variable] = welcome.tree;
    environment[contract::lower_variable] = run_.lower();
    environment[contract::pools_variable] = pools;
    environment[contract::gate_variable] = join(run_.home(), gate_name);
    environment[contract::errors_variable] = join(run_.home(), drain::failed_writes_name);
    const bool of_rank = plan_.decomposed && plan_.launched;
    const contract::WrittenGroups& groups = plan_.groups.written;
    if (const int rank = of_rank ? hello.rank : -1; contract::has_times(rank, groups)) {
      environment[contract::keep_variable] = drain::kept_directory(rank, groups.empty() ? pool : run_.home(), groups);
      if (in_namespace && (!of_rank || run_.one_mount || !groups.empty()))
        environment[contract::times_variable] = join(run_.tree(), contract::holder_of_times(rank, groups));
    }
    environment[contract::page_variable] = join(run_.home(), drain::pages_name);
    if (!run_.placed.empty()) {
      const std::string own = hello.rank >= 0 ? socket_directory(hello) : run_.home();
      const auto placed =
          std::ranges::find_if(run_.placed, [&](const std::string& each) { return parent_of(each) == own; });
      environment[contract::socket_pool_variable] = placed != run_.placed.end() ? *placed : "home";
    }
    welcome.preload = plan_.library;
  }
  return welcome;
}

void Agent::hear(Member& member) {
  auto hello = receive_hello(member.socket.get());
  if (!hello) {
    member.socket.reset();
    return;
  }
  member.rank = hello->rank;
  auto welcome = admit(*hello);
  if (!welcome) {
    log(fmt::format("rank {}: {}", hello->rank, welcome.error().text()));
    Welcome refusal;
    refusal.error = welcome.error().text();
    refusal.error_code = static_cast<int>(welcome.error().code);
    (void)send_welcome(member.socket.get(), refusal, -1, -1);
    member.socket.reset();
    return;
  }
  if (!program_.admitted) {
    report_.lasted.stage_seconds = since(program_.started);
    program_.started = clock_.now();
    report_.phase = Phase::running;
    told_.at = told_.to_case_at = {};  // told at once
  }
  program_.admitted = member.welcome = true;
  program_.ranks_on_node = std::max(program_.ranks_on_node, hello->on_node);
  if (member.rank >= 0) report_.ranks.push_back(member.rank);
  pressure_->watch(member.pid);
  if (auto sent = send_welcome(member.socket.get(), *welcome, namespace_.user.get(), namespace_.mount.get()); !sent)
    log(fmt::format("rank {}: {}", hello->rank, sent.error().text()));
  member.socket.reset();
}

void Agent::members_ended() {
  std::erase_if(program_.members, [&](Member& member) {
    pollfd wait{member.process.get(), POLLIN, 0};
    if (::poll(&wait, 1, 0) <= 0) return false;
    pressure_->forget(member.pid);
    program_.ended = clock_.now();
    if (member.welcome && status_of_ended(member.process, member.pid).value_or(0) != 0) program_.rank_failed = true;
    return true;
  });
}

// Where a program of the node is a script, its children may be killed while it lives: then nobody can vouch.
void Agent::vouch_for_checkpoints() {
  if (!drain_->doubts_checkpoints()) return;
  std::size_t writers = 0, working = 0;
  for (const Member& member : program_.members) {
    if (!member.welcome) continue;
    ++writers;
    if (is_working_itself(member.pid)) ++working;
  }
  // A checkpoint that ranks write together counts only while all of them live.
  if (writers > 0 && working == writers && static_cast<int>(writers) >= ranks_that_came())
    drain_->vouch_for_checkpoints();
}

// The parent tells of its own program only; a rank that was killed beside it ends a run as badly.
bool Agent::ended_cleanly() const {
  if (!program_.parent_status || !WIFEXITED(*program_.parent_status) || WEXITSTATUS(*program_.parent_status) != 0)
    return false;
  return !program_.rank_failed;
}

// A rank may run one program after the other.
int Agent::ranks_that_came() const {
  return static_cast<int>(std::set<int>(report_.ranks.begin(), report_.ranks.end()).size());
}

// The parent's own program is a member too, so its status comes when its member has ended. Ranks that are no part of an
// MPI program need not start together: the first may have ended before the last has come.
bool Agent::over() const {
  if (!program_.members.empty() || program_.parent) return false;
  const int expected = program_.ranks_on_node > 0 ? program_.ranks_on_node : plan_.ranks;
  if (program_.admitted && (!plan_.launched || ranks_that_came() >= expected)) return true;
  return since(program_.ended) > std::chrono::duration<double>(empty_interval).count();
}

void Agent::read_events() {
  const auto work = [] {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  const auto before = work();
  if (auto read = drain_->on_events(); !read) log(read.error().text());
  next_.pause = pause_after(work() - before);
  next_.events = clock_.now() + next_.pause;
}

// `work`: of the processor. Making room needs to know what was written.
Clock::duration Agent::pause_after(Clock::duration work) const {
  if (pressure_->tight()) return shortest_pause;
  return std::clamp<Clock::duration>(work * pause_per_work, shortest_pause, longest_pause);
}

// A descriptor leaves the set when it is closed.
Status Agent::wait_also_for(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(wakers_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
    return errno_error("cannot wait for ranks", "");
  return {};
}

// While events wait for their batch: a solver shares its processor with this, so the kernel is asked for as little as
// there is to know. True when nothing else happened for a moment, and the queue of events is not filling.
bool Agent::stays_quiet() {
  pollfd wakes{wakers_.get(), POLLIN, 0};
  const auto glance = std::max<Clock::duration>(next_.pause / glances_in_pause, glance_interval);
  const auto moment = milliseconds_until(std::min(next_work(), clock_.now() + glance));
  if (clock_.poll({&wakes, 1}, moment) != 0 || drain_->events_crowd() || drain_->look_is_wanted()) return false;
  if (clock_.now() >= pressure_->next_check()) check_pools();
  return clock_.now() < next_work();
}

// Other nodes are listened to at their pace.
bool Agent::at_rest() const {
  return report_.phase == Phase::running && clock_.now() >= next_.rest && alone();
}

Clock::time_point Agent::next_tick() const {
  const auto now = clock_.now(), last_look = next_.events - next_.pause;
  if (at_rest()) return now + std::min<Clock::duration>(rest_interval, plan_.settings.drain.refresh);
  const auto longest = std::max<Clock::duration>(next_.pause, tick_interval);
  const auto tick = std::clamp<Clock::duration>(now - last_look, tick_interval, longest);
  const auto due_at = told_.at + status_interval;
  return due_at > now ? std::min(now + tick, due_at) : now + tick;
}

void Agent::check_pools() {
  pressure_->act(*drain_, at_rest());
  const bool tight = pressure_->tight();
  drain_->room_is_scarce(tight || pressure_->paused());
  // Room is made of what is known to be written.
  if (tight) next_.events = std::min<Clock::time_point>(next_.events, clock_.now() + shortest_pause);
  note_steps(false);
  note_standstill();
}

// The report tells at once when a standstill begins, ends or gets another reason: somebody may sit before a terminal
// where nothing moves.
void Agent::note_standstill() {
  auto standstill = report_.phase == Phase::running ? pressure_->standstill() : std::nullopt;
  if (!standstill && !report_.waits.for_room) return;
  if (standstill) {
    standstill->units = drain_->progress().units_left();
    standstill->failure = drain_->failure();
  }
  const bool same = standstill && report_.waits.for_room && standstill->has_reason_of(*report_.waits.for_room);
  report_.waits.for_room = std::move(standstill);
  if (!same) tell_status(true);
}

// Samples the activity since the last call: it explains a step that turns out to have been a long one.
void Agent::note_steps(bool all) {
  const drain::Activity activity = drain_->activity();
  const double held = std::chrono::duration<double>(pressure_->paused_for()).count();
  course_.steadiness.sample(activity.seconds, {held, activity.written_bytes, activity.carried_bytes}, pressure_->fill(),
                            activity.busy);
  // A script's programs come and go: there it is asked when there are times.
  if (plan_.launched && report_.phase == Phase::running)
    course_.writers.meet(plan_.decomposed ? static_cast<std::size_t>(ranks_that_came()) : 0, activity.seconds);
  for (drain::Timeline::Begun& begun : drain_->take_begun(all)) {
    if (!plan_.groups.written.empty()) begun.ranks = static_cast<std::size_t>(ranks_that_came());
    course_.steadiness.begun(course_.writers.of(begun.ranks, begun.when, activity.seconds), begun);
  }
}

std::vector<pid_t> Agent::member_processes() const {
  std::vector<pid_t> processes;
  for (const Member& member : program_.members)
    if (member.welcome) processes.push_back(member.pid);
  return processes;
}

void Agent::serve() {
  tell_status(false);
  while (!over()) {
    const bool in_pause = clock_.now() < next_work();
    if (in_pause && stays_quiet()) continue;
    std::vector<pollfd> waits{{listener_.get(), POLLIN, 0},
                              {program_.parent.get(), POLLIN, 0},
                              {drain_->events_descriptor(), POLLIN, 0},
                              {drain_->outcomes_descriptor(), POLLIN, 0}};
    for (const Member& member : program_.members) {
      waits.push_back({member.socket.get(), POLLIN, 0});
      waits.push_back({member.process.get(), POLLIN, 0});
    }
    const bool early = clock_.now() < next_.events && !drain_->events_crowd();
    if (early) waits[2].fd = -1;
    const bool due = !early && drain_->events_wait();
    auto timeout = in_pause || due                ? 0ms
                   : pressure_->tight()           ? shortest_pause
                   : early || pressure_->paused() ? glance_interval
                   : at_rest()                    ? milliseconds_until(next_.tick)
                                                  : tick_interval;
    if (early) timeout = std::min(timeout, milliseconds_until(next_.events));
    if (!pressure_->tight() && !pressure_->paused())
      timeout = std::min(timeout, milliseconds_until(pressure_->next_check()));
    const bool nothing = clock_.poll(waits, timeout) == 0;
    // Before the events: what was closed while a pool was full may be cut.
    check_pools();
    const bool calm = !pressure_->tight() && !pressure_->paused();
    if (nothing && early && calm && clock_.now() < next_.tick && !drain_->look_is_wanted()) continue;
    if (due || !nothing) next_.rest = clock_.now() + rest_after;
    if (due || (waits[2].revents & POLLIN) != 0) read_events();
    if ((waits[3].revents & POLLIN) != 0) drain_->on_outcomes();
    if (waits[1].revents != 0) {
      int status = 0;
      if (::read(program_.parent.get(), &status, sizeof status) == static_cast<ssize_t>(sizeof status))
        program_.parent_status = status;
      program_.parent.reset();  // it tells no more, or is gone
    }
    const std::size_t known = program_.members.size();
    for (std::size_t i = 0; i < known; ++i)
      if (waits[4 + 2 * i].revents != 0 && program_.members[i].socket) hear(program_.members[i]);
    if ((waits[0].revents & POLLIN) != 0) accept_member();
    members_ended();
    vouch_for_checkpoints();
    drain_->tick();
    hear_others();
    answer_user();
    tell_status(false);
    next_.tick = next_tick();
  }
}

bool Agent::alone() const {
  if (!plan_.decomposed || !plan_.launched) return true;
  return ranks_that_came() == plan_.ranks;
}

// Reading and telling is the reporter's thread; here is only what follows from it.
void Agent::hear_others() {
  if (!reporter_) return;
  if (alone()) {
    reporter_->stop_listening();  // before the last rank came others were expected
    return;
  }
  reporter_->listen(pace_.listen, std::ranges::find(report_.ranks, 0) != report_.ranks.end());
  const auto others = reporter_->heard();
  if (!others) return;
  if (const auto time = safe_over_others(report_, *others, plan_.ranks)) drain_->on_case_elsewhere(*time);
  std::vector<NodeReport> all{report_};
  all.insert(all.end(), others->begin(), others->end());
  std::map<int, core::Report> reports;
  for (const NodeReport& each : *others)
    if (each.times.are_written)
      reports[static_cast<int>(reports.size()) + 1] = {.carried = each.times.carried,
                                                       .drained = each.phase == Phase::done};
  // Until all have told of themselves nothing is safe.
  drain_->hear(reports, static_cast<int>(reports.size()) + (represents_all(all, plan_.ranks) ? 1 : 2));
}

void Agent::answer_user() {
  if (!reporter_ || report_.phase != Phase::running) return;
  if (auto request = reporter_->asked(); request && request->request.run == plan_.run)
    asked_.steering.take(std::move(*request));
  if (asked_.steering.act(*drain_, run_.tree(), report_)) tell_status(true);
}

void Agent::finish() {
  report_.lasted.program_seconds = since(program_.started);
  report_.phase = Phase::draining;
  check_pools();
  const double ended = drain_->activity().seconds;
  pressure_->release();
  report_.lasted.carried_before_drain = drain_->activity().carried_bytes;
  tell_status(true);  // what the program has purged will leave the case, whatever was called safe
  const auto began = clock_.now();
  const bool cleanly = ended_cleanly();
  if (auto read = drain_->on_events(); !read) log(read.error().text());
  if (cleanly)
    for (const auto& [rank, pool] : run_.ranks) drain_->rank_ended(rank, true);
  // `tee` may have opened its file only when the run had begun, and a launcher opens its own by itself.
  if (is_alive(plan_)) drain_->add_logs(logs_of(plan_.submit_pid, plan_.case_path));
  WriterWatch watch(run_, *drain_, clock_);
  watch.begin();
  if (auto begun = drain_->begin_finish(cleanly); !begun) log(begun.error().text());
  while (!drain_->finished()) {
    note_steps(true);
    if (name_exists(join(run_.home(), leave_name))) drain_->carry_restartable_only();
    pollfd wait{drain_->outcomes_descriptor(), POLLIN, 0};
    clock_.poll({&wait, 1}, watch.pause());
    watch.update();
    auto waits_for = watch.waits_for();
    const bool news = waits_for.empty() != report_.waits.for_writers.empty();
    report_.waits.for_writers = std::move(waits_for);
    report_.lasted.drain_seconds = since(began);
    tell_status(news);
  }
  report_.waits.for_writers.clear();
  report_.lasted.drain_seconds = since(began);
  note_steps(true);
  report_.drain = drain_->report(most_of_timeline);
  if (asked_.steering.was_rewritten(run_.tree())) report_.drain.notices.push_back(text_of_rewritten());
  report_.stability = course_.steadiness.report();
  report_.stability.program_ended = ended;
  report_.stability.written_bytes = report_.drain.amounts.written.bytes;
  report_.stability.written_is_more = report_.drain.amounts.written_is_more;
  report_.times.complete = drain_->complete_times();
  report_.times.safe = drain_->safe_times();
  const bool keep = drain::needs_pool(report_.drain.trouble);
  staging_->keep_warm(cleanly && !report_.drain.trouble, pools_.front().budget);
  const std::string case_path = drain_->case_path();
  drain_.reset();
  const auto told = [&](Phase phase) {
    report_.phase = phase;
    tell_status(true);
    return reporter_->flush(plan_.settings.drain.patience);
  };
  report_.phase = keep ? Phase::done : Phase::removing;
  leave_outcome(lock_, report_);
  // The case learns of it while there is a pool: a node with neither pool nor report would have lost its data.
  bool knows = keep || told(Phase::removing);
  if (!keep && knows)
    if (auto removed = remove(run_); !removed) report_.drain.messages.push_back(removed.error().text());
  knows = knows && told(Phase::done);
  if (!knows && name_exists(run_.home())) tell_that_case_is_unaware(case_path);
}

// Its pool stays: a node with neither pool nor report would have lost its data.
void Agent::tell_that_case_is_unaware(const std::string& case_path) {
  report_.drain.trouble = drain::graver(report_.drain.trouble, Code::undrained);
  report_.drain.messages.push_back(
      fmt::format("all that this node had is home, but the case cannot be told so: {}; when it takes something again, "
                  "run {} on this node",
                  printable(node_report_path(case_path, run_.node)), advice::resume(case_path)));
  leave_outcome(lock_, report_);
  report_.phase = Phase::done;
  tell_status(true);
}

void Agent::tell_status(bool at_once) {
  Pulse::beat();
  const auto now = clock_.now();
  const auto beat = alone() ? std::chrono::milliseconds(beat_interval) : pace_.listen;
  if (!at_once && now - told_.at < std::min<std::chrono::milliseconds>(status_interval, beat)) return;
  told_.at = now;
  ++report_.beat;
  if (drain_) take_state(report_, *drain_);
  if (report_.stability.course.empty()) report_.stability = course_.steadiness.pace();
  if (report_.phase == Phase::running) report_.lasted.program_seconds = since(program_.started);
  if (pressure_) std::tie(report_.pool.held_bytes, report_.pool.may_hold) = pressure_->held_in_fullest();
  report_.lasted.paused_milliseconds = pressure_ ? static_cast<std::uint64_t>(pressure_->paused_for().count()) : 0;
  add_usage(report_);
  const std::string text = to_json(report_);
  if (name_exists(run_.home())) (void)replace_file(join(run_.home(), status_name), text);
  const auto interval = report_.phase == Phase::running ? beat : std::chrono::milliseconds(status_interval);
  const bool due = at_once || told_.safe_times != report_.times.safe || now - told_.to_case_at >= interval;
  if (!reporter_) return;
  if (due) {
    told_.to_case_at = now;
    reporter_->post(text);
    told_.safe_times = report_.times.safe;
  }
  if (drain_ && now - told_.to_drain_at >= status_interval) {
    told_.to_drain_at = now;
    drain_->told();
  }
}

}  // namespace

int run_agent(const Plan& plan, Descriptor listener, Descriptor parent, Clock& clock) {
  // The node's memory is the program's: what is freed goes back at once, and threads share their heaps.
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 128 << 10);
  ::signal(SIGIO, SIG_IGN);  // a program that opens a file at the very moment when it is asked for a lease
  return Agent(plan, std::move(listener), std::move(parent), clock).run();
}

}  // namespace forebay::launch
