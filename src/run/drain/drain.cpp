#include "run/drain/drain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
Outcomes::Outcomes() : signal_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Outcomes::push(Outcome outcome) {
  const std::scoped_lock lock(mutex_);
  outcomes_.push_back(std::move(outcome));
  ::eventfd_write(signal_.get(), 1);
}

std::vector<Outcome> Outcomes::take() {
  const std::scoped_lock lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(signal_.get(), &count);
  return std::exchange(outcomes_, {});
}

void Temporaries::tell(const std::string& path, bool made) {
  const std::scoped_lock lock(mutex_);
  if (made) {
    names_.insert(path);
  } else {
    names_.erase(path);
  }
}

std::set<std::string> Temporaries::names() const {
  const std::scoped_lock lock(mutex_);
  return names_;
}

namespace {
// Whether something has the file open for writing; nullopt where it cannot be opened to ask.
std::optional<bool> is_written(const std::string& path) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return std::nullopt;
  // A read lease is refused (EAGAIN) while anything has the file open for writing or mapped writable. File systems
  // without leases refuse with another errno: there the close event has to do.
  if (::fcntl(file->get(), F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  ::fcntl(file->get(), F_SETLEASE, F_UNLCK);
  return false;
}
}  // namespace

bool is_sealed(const std::string& path) {
  return is_written(path) == false;
}

bool is_open_for_writing(const std::string& path) {
  return is_written(path) == true;
}

std::optional<Code> graver(std::optional<Code> a, std::optional<Code> b) {
  static constexpr std::array order{Code::lost, Code::undrained, Code::conflict, Code::pool_full, Code::failed};
  for (const Code code : order)
    if (a == code || b == code) return code;
  return a ? a : b;
}

void Drain::State::record(const std::vector<Record>& entries) {
  for (const Record& entry : entries) ledger.apply(entry);
  if (!journal || journal_failed || entries.empty()) return;
  if (auto appended = journal->append(entries); !appended) {
    journal_failed = true;
    note(std::nullopt,
         "the journal can no longer be written, so this run could not be resumed: " + appended.error().text());
  }
}

void Drain::State::note(std::optional<Code> code, const std::string& message) {
  trouble = graver(trouble, code);
  if (std::find(messages.begin(), messages.end(), message) == messages.end()) messages.push_back(message);
}

bool Drain::State::serves(int rank) const {
  const auto& ranks = times.ranks();
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool Drain::State::alone() const {
  return request.settings.all_ranks <= static_cast<int>(times.ranks().size());
}

std::string Drain::State::time_directory(int rank, const std::string& time) const {
  return rank < 0 ? time : fmt::format("processor{}/{}", rank, time);
}

std::vector<std::string> Drain::State::times_here(int rank) const {
  std::vector<std::string> names;
  const auto entries = list_directory(local_of(roots, std::string(parent_of(time_directory(rank, "0")))));
  if (!entries) return names;  // that it is gone is told elsewhere
  for (const DirectoryEntry& entry : *entries)
    if (entry.type == DT_DIR && openfoam::is_time_name(entry.name)) names.push_back(entry.name);
  return names;
}

// A time that the case did not have: it appears there as a whole. Files of a time that was there are carried one by
// one.
bool Drain::State::is_new_time(int rank, const std::string& time) const {
  const auto known = ledger.find(time_directory(rank, time));
  return !known || !known->staged;
}

bool Drain::State::is_drained(int rank, const std::string& time) const {
  return drained_times.contains(time) || drained_ranks.contains({rank, time});
}

double Drain::State::now() const {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Drain::Drain(std::unique_ptr<State> state) : state_(std::move(state)) {}
Drain::~Drain() = default;

std::unique_ptr<Mover> make_mover(const DrainRequest& request, SharedFiles& shared, Journal& journal,
                                  Temporaries& temporaries) {
  MoverSettings settings = request.settings.mover;
  settings.publish.local_group = local_group(request.home);
  // Appending is thread-safe; the ledger learns of temporaries only from a journal that is read again.
  settings.publish.temporary = [&journal, &temporaries](const std::string& path, bool made) {
    auto told = journal.append(temporary_record(path, made));
    if (told || !made) temporaries.tell(path, made);
    return told;
  };
  settings.publish.placing = [&journal](const std::string& path, const Identity& identity) {
    return journal.append(placing_record(path, identity));
  };
  return std::make_unique<Mover>(shared, request.run, std::move(settings));
}

Result<std::unique_ptr<Drain>> Drain::open(const DrainRequest& request) {
  auto state = std::make_unique<State>(request);
  auto shared = open_shared(request.case_path, Resolve::by_kernel, std::nullopt, request.linked);
  if (!shared) return forward(shared);
  state->shared = std::move(*shared);
  const std::string path = join(request.home, "journal");
  auto journal = Journal::open(path, request.durable);
  if (!journal) return forward(journal);
  state->journal.emplace(std::move(*journal));
  if (request.settings.handed_over) {
    auto hold = Hold::make(join(request.home, hold_name), request.settings.all_ranks);
    if (!hold) return forward(hold);
    state->hold.emplace(std::move(*hold));
    std::vector<std::string> pools = request.placed;
    pools.push_back(request.home);
    auto failed = FailedWrites::make(join(request.home, failed_writes_name), pools);
    if (!failed) return forward(failed);
    state->failed_writes.emplace(std::move(*failed));
  }
  auto watcher = Watcher::open();
  if (!watcher) return forward(watcher);
  state->watcher.emplace(std::move(*watcher));
  for (const std::string& directory : request.placed)
    if (auto watched = state->watcher->add_tree(directory, directory); !watched) return forward(watched);
  if (auto opened = state->open_checkpoints(); !opened) return forward(opened);
  state->mover = make_mover(request, *state->shared, *state->journal, state->temporaries);
  return std::unique_ptr<Drain>(new Drain(std::move(state)));
}

Status Drain::State::record_staged(const std::vector<tree::Entry>& staged) {
  std::vector<Record> records;
  records.reserve(staged.size());
  for (const tree::Entry& entry : staged) records.push_back(staged_record(entry));
  for (const Record& entry : records) ledger.apply(entry);
  return journal->append(records);
}

Status Drain::add_directory(const std::string& path, const std::vector<tree::Entry>& staged,
                            const std::function<Status()>& put) {
  if (auto before = on_events(); !before) return before;
  if (auto recorded = state_->record_staged(staged); !recorded) return recorded;
  if (auto done = put(); !done) return done;
  state_->being_put = path;
  auto told = on_events();
  state_->being_put.clear();
  if (!told) return told;
  return state_->watcher->add_directory(local_of(state_->roots, path), path);
}

Status Drain::add_root(const Root& root, const std::vector<tree::Entry>& staged) {
  if (auto recorded = state_->record_staged(staged); !recorded) return recorded;
  state_->roots.push_back(root);
  return state_->watcher->add_tree(root.local, root.prefix);
}

void Drain::ranks_need_case_path() {
  if (state_->hold) state_->hold->map_nothing();
}

Status Drain::add_rank(int rank, const std::string& pool) {
  state_->times.add_rank(rank);
  if (state_->hold) state_->hold->add_rank(rank);
  return state_->keep.add_rank(rank, pool);
}

int Drain::events_descriptor() const {
  return state_->watcher ? state_->watcher->descriptor() : -1;
}
bool Drain::events_crowd() {
  if (!state_->watcher) return false;
  (void)state_->watcher->take_in();  // on_events() tells what is wrong
  return state_->watcher->crowded();
}
bool Drain::events_wait() const {
  return state_->watcher && state_->watcher->has_taken_in();
}
int Drain::outcomes_descriptor() const {
  return state_->outcomes.descriptor();
}

Status Drain::on_events() {
  if (!state_->watcher) return {};
  if (!state_->hold) return state_->look();
  state_->hold->begin_look();
  auto looked = state_->look();
  state_->hold->end_look(state_->may_let_ranks_free());
  return looked;
}

Status Drain::State::look() {
  auto events = read_events();
  if (!events) return forward(events);
  note_failed_writes();
  left_in_batch.clear();  // a time may have been left without events
  for (const Event& event : *events)
    if (event.directory && !event.gone()) beginning.insert(event.path);
  for (const Event& event : *events) handle(event);
  beginning.clear();
  trust_like_others();
  made_in_batch.clear();
  for (Checkpoint& each : checkpoints) each.told_all();
  new_complete_times();
  return {};
}

void Drain::on_outcomes() {
  for (const Outcome& outcome : state_->outcomes.take()) state_->settle(outcome);
  if (state_->phase == State::Phase::running) state_->submit_waiting();
}

void Drain::tick() {
  State& state = *state_;
  if (state.phase != State::Phase::running) return;
  const DrainSettings& settings = state.request.settings;
  const auto now = Clock::now();
  state.note_failed_writes();
  state.new_complete_times();
  const auto unsure = [](const Checkpoint& each) { return each.is_unsure(); };
  if (std::any_of(state.checkpoints.begin(), state.checkpoints.end(), unsure))
    if (auto read = on_events(); !read) state.note(std::nullopt, read.error().text());
  state.settle_checkpoints();
  state.find_overlooked();
  if (settings.live) {
    std::vector<std::string> quiet;
    for (const auto& [path, changed] : state.pending) {
      if (state.jobs.size() + quiet.size() >= State::most_jobs) break;
      if (now - changed >= settings.settle && !state.in_flight.contains(path)) quiet.push_back(path);
    }
    for (const std::string& path : quiet) {
      state.pending.erase(path);
      state.submit_file(path, true);
    }
  }
  if (state.alone() && now - state.last_safe >= settings.safe_interval) {
    state.last_safe = now;
    for (const std::string& time : state.restart_points())
      if (!state.safe_times.contains(time)) state.submit_time(time, true);
  }
}

bool Drain::pin(const std::string& time) {
  const std::vector<std::string> held = complete_times();
  if (std::find(held.begin(), held.end(), time) == held.end()) return false;
  state_->pinned = time;
  return true;
}

void Drain::agree(const std::string& time) {
  state_->agreed = time;
  for (const std::string& older : state_->candidates.times())
    if (state_->times.before(older, time)) state_->candidates.remove(older);
  secure(time);
  state_->release_kept();
}

void Drain::safe_everywhere(const std::string& time) {
  State& state = *state_;
  if (!state.safe_times.contains(time)) return;
  if (state.newest_everywhere && !state.times.before(*state.newest_everywhere, time)) return;
  state.newest_everywhere = time;
}

void Drain::kept_by_others(std::set<std::string> times) {
  state_->kept_by_others = std::move(times);
}

void Drain::told() {
  state_->remove_superseded();
  state_->find_superseded();
}

void Drain::secure(const std::string& time) {
  if (!state_->safe_times.contains(time)) state_->submit_time(time, true);
}

const std::optional<std::string>& Drain::newest_complete() const {
  return state_->newest_complete;
}

bool Drain::holds_last_time() const {
  const Times& times = state_->times;
  const std::string last = times.begun_by_all();
  if (last.empty()) return false;
  const auto& complete = state_->newest_complete;
  return times.has_all_files(last) || (complete && times.order(*complete) + 1 == times.order(last));
}

bool Drain::times_go() const {
  return state_->times_go || state_->request.settings.hold_times;
}

bool Drain::ranks_keep() const {
  return state_->hold && state_->hold->ranks_keep();
}

void Drain::room_is_scarce(bool now) {
  state_->room_is_scarce = now;
  state_->room_was_scarce = state_->room_was_scarce || now;
  if (now && state_->hold) state_->hold->free_nothing();
}

// Where times are carried while the program runs, or several nodes must agree on one, it is known only here what may
// go.
bool Drain::State::may_let_ranks_free() const {
  return holds_times() && alone() && !room_is_scarce && !pool_is_full && !ledger.lost_events() && !names_too_long;
}

std::size_t Drain::times_begun() const {
  return state_->timeline.steps();
}

std::vector<std::string> Drain::complete_times() const {
  const State& state = *state_;
  std::vector<std::string> held = state.candidates.times();
  for (const auto& each : {state.pinned, state.agreed})
    if (each && std::find(held.begin(), held.end(), *each) == held.end()) held.insert(held.begin(), *each);
  return held;
}

std::vector<std::string> Drain::safe_times() const {
  return state_->recently_safe;
}

void Drain::pool_is_full(bool now) {
  if (!now) {
    // What is still unread was written while the pool was full.
    if (state_->pool_is_full) (void)on_events();
    state_->pool_is_full = false;
    return;
  }
  state_->pool_is_full = true;
  state_->times.spoil_open();
  state_->pool_ran_full();
}

void Drain::State::pool_ran_full() {
  for (Checkpoint& each : checkpoints) each.distrust();
  trouble = graver(trouble, Code::pool_full);
  const auto first = failed_writes ? failed_writes->first() : std::nullopt;
  if (!ledger.pool_was_full()) record(pool_full_record(first ? first->path : ""));
}

// The ranks' page tells which times may be cut (hold.h), until a rank begins an older one.
void Drain::State::note_failed_writes() {
  const std::uint64_t count = failed_writes ? failed_writes->count() : 0;
  if (count == failures_seen) return;
  failures_seen = count;
  pool_ran_full();
  for (const std::string& time : times.all())
    if (hold && hold->may_lack(time) && !times.complete(time))
      for (const int rank : times.ranks()) times.spoil(rank, time);
}

std::vector<int> Drain::take_doubtful_ranks() {
  const auto now = Clock::now();
  std::vector<int> ranks;
  for (auto at = state_->doubtful.begin(); at != state_->doubtful.end();) {
    if (now - at->second < state_->request.settings.vouch_after) {
      ++at;
    } else if (!state_->times.needs_voucher(at->first)) {
      at = state_->doubtful.erase(at);
    } else {
      ranks.push_back(at->first);
      at->second = now;  // asked again so much later
      ++at;
    }
  }
  // Any rank may write into a checkpoint.
  for (Checkpoint& each : state_->checkpoints)
    if (each.takes_doubt(now, state_->request.settings.vouch_after)) ranks.push_back(-1);
  return ranks;
}

void Drain::vouch(int rank) {
  state_->times.vouch(rank);
  state_->doubtful.erase(rank);
  if (rank < 0)
    for (Checkpoint& each : state_->checkpoints) each.vouch();
  state_->new_complete_times();
}

void Drain::rank_ended(int rank, bool cleanly) {
  state_->adopt(rank);
  state_->ask_unsure(State::Ask::all);  // nobody has its files open any more
  if (cleanly) state_->settle_suspects(rank);
  state_->times.rank_ended(rank, cleanly);
  state_->new_complete_times();
}

void Drain::abandon() {
  state_->mover->stop();
  state_->gave_up = true;
}

MoverProgress Drain::progress() const {
  return state_->mover->progress();
}

DrainReport Drain::report(std::size_t timeline_entries) const {
  const State& state = *state_;
  DrainReport report;
  report.trouble = state.trouble;
  report.messages = state.messages;
  if (state.ledger.pool_was_full())
    report.messages.push_back(
        pool_full_message(state.failures_seen, state.failed_writes ? state.failed_writes->first() : std::nullopt));
  if (state.room_was_scarce && !(state.failed_writes && state.failed_writes->is_watched()))
    report.messages.emplace_back(writes_not_seen_text);
  report.local_files = state.local_files;
  report.local_bytes = state.local_bytes;
  report.shared_files = state.shared_files;
  report.shared_bytes = state.shared_bytes;
  report.undrained_files = state.undrained_files;
  report.undrained_bytes = state.undrained_bytes;
  report.kept_from_shared = state.kept_from_shared;
  report.unseen_times = state.unseen_times;
  report.uncounted_times = state.unseen.size();
  report.newest_safe = state.newest_safe;
  report.newest_complete = state.newest_anywhere();
  report.kept_beside = state.kept_beside();
  report.groups = state.groups;
  report.lag_seconds = state.timeline.longest_lag();
  report.timeline = state.timeline.newest(timeline_entries);
  return report;
}

}  // namespace forebay::drain
