#include "run/drain/drain.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "run/drain/state.h"

namespace forebay::drain {
namespace {
// Whether something has the file open for writing; nullopt where it cannot be opened to ask.
std::optional<bool> is_written(const std::string& path) {
  auto file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return std::nullopt;
  if (take_lease(*file) == Lease::written) return true;
  ::fcntl(file->get(), F_SETLEASE, F_UNLCK);
  return false;
}
}  // namespace

Lease take_lease(const Descriptor& file) {
  if (::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) return Lease::taken;
  return errno == EAGAIN ? Lease::written : Lease::unknown;
}

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

Drain::Drain(std::unique_ptr<State> state) : state_(std::move(state)) {}
Drain::~Drain() = default;

std::unique_ptr<Mover> make_mover(Run& run, Temporaries& temporaries) {
  Journal& journal = *run.journal;
  MoverSettings settings = run.request.settings.mover;
  settings.publish.local_group = local_group(run.request.home);
  // Appending is thread-safe; the ledger learns of temporaries only from a journal that is read again.
  settings.publish.temporary = [&journal, &temporaries](const std::string& path, bool made) {
    auto noted = journal.append(temporary_record(path, made));
    if (noted || !made) temporaries.note(path, made);
    return noted;
  };
  settings.publish.replacing = [&journal](const std::string& path, const std::string& target, std::uint64_t inode) {
    return journal.append(replacing_record(path, target, inode));
  };
  settings.publish.placing = [&journal](const std::vector<std::pair<std::string, Identity>>& files) {
    std::vector<Record> records;
    for (const auto& [path, identity] : files) records.push_back(placing_record(path, identity));
    return journal.append(records);
  };
  return std::make_unique<Mover>(*run.shared, run.request.run, std::move(settings), run.clock);
}

Result<std::unique_ptr<Drain>> Drain::open(const DrainRequest& request, Clock& clock) {
  auto state = std::make_unique<State>(request, clock);
  auto shared = open_shared(request.case_path, Resolve::by_kernel, std::nullopt, request.linked);
  if (!shared) return forward(shared);
  state->run.shared = std::move(*shared);
  const std::string path = join(request.home, "journal");
  auto journal = Journal::open(path, request.durable, request.budget);
  if (!journal) return forward(journal);
  state->run.journal.emplace(std::move(*journal));
  state->run.uncarried.open(join(request.home, uncarried_name));
  state->points.pool_is_full(false);  // it has just taken the journal
  if (request.settings.redirected) {
    auto pages = Pages::make(join(request.home, pages_name), request.settings.all_ranks);
    if (!pages) return forward(pages);
    state->run.witnesses.pages = std::move(*pages);
    std::vector<std::string> pools = request.placed;
    pools.push_back(request.home);
    auto failed = FailedWrites::make(join(request.home, failed_writes_name), pools);
    if (!failed) return forward(failed);
    state->run.witnesses.failed_writes.emplace(std::move(*failed));
  }
  auto watcher = Watcher::open();
  if (!watcher) return forward(watcher);
  state->run.witnesses.watcher.emplace(std::move(*watcher));
  for (const std::string& directory : request.placed)
    if (auto watched = state->run.witnesses.watcher->add_tree(directory, directory); !watched) return forward(watched);
  if (auto opened = state->work.checkpoints.open(); !opened) return forward(opened);
  state->work.mover = make_mover(state->run, state->work.temporaries);
  return std::unique_ptr<Drain>(new Drain(std::move(state)));
}

Status Drain::add_directory(const std::string& path, const std::vector<tree::Entry>& staged,
                            const std::function<Status()>& put) {
  if (auto before = on_events(); !before) return before;
  if (auto recorded = state_->run.record_staged(staged); !recorded) return recorded;
  if (auto done = put(); !done) return done;
  state_->seen.note_being_put(path);
  auto after = on_events();
  state_->seen.note_being_put("");
  if (!after) return after;
  if (!state_->run.request.settings.written_groups.empty()) state_->points.note_start();
  return state_->run.witnesses.watcher->add_directory(local_of(state_->run.roots, path), path);
}

Status Drain::add_root(const Root& root, const std::vector<tree::Entry>& staged) {
  if (auto recorded = state_->run.record_staged(staged); !recorded) return recorded;
  state_->run.roots.push_back(root);
  for (const tree::Entry& entry : staged)
    if (entry.kind == tree::Kind::copy) state_->work.waiting.growing().note(entry.path);
  state_->points.note_start();
  return state_->run.witnesses.watcher->add_tree(root.local, root.prefix);
}

void Drain::ranks_need_case_path() {
  state_->points.map_nothing();
}

Status Drain::add_rank(int rank, const std::string& pool) {
  if (!state_->run.add_rank(rank)) return {};
  const std::string kept = kept_directory(rank, pool, state_->run.request.settings.written_groups);
  state_->points.add_rank(rank, kept);
  state_->points.note_start();
  return make_private_directory(kept);
}

int Drain::events_descriptor() const {
  return state_->run.witnesses.watcher ? state_->run.witnesses.watcher->descriptor() : -1;
}

bool Drain::events_crowd() {
  if (!state_->run.witnesses.watcher) return false;
  (void)state_->run.witnesses.watcher->take_in(state_->run.now());  // on_events() tells what is wrong
  return state_->run.witnesses.watcher->crowded();
}

bool Drain::events_wait() const {
  return state_->run.witnesses.watcher && state_->run.witnesses.watcher->has_taken_in();
}

int Drain::outcomes_descriptor() const {
  return state_->work.outcomes.descriptor();
}

Status Drain::on_events() {
  return state_->run.witnesses.watcher ? state_->seen.look() : Status();
}

void Drain::on_outcomes() {
  Work& work = state_->work;
  for (const Outcome& outcome : work.outcomes.take()) {
    work.take(outcome);
    for (const std::string& time : std::exchange(work.times_home, {})) state_->points.time_is_home(time);
  }
  state_->run.uncarried.flush();
  if (state_->run.phase != Phase::running) return;
  follow_case();
}

// Shows the program what somebody changes on the case while it works. The program's own acts must be known first.
void Drain::follow_case() {
  ControlFiles& controls = state_->controls;
  if (!controls.take_news()) return;
  if (auto read = on_events(); !read) return state_->run.note(std::nullopt, read.error().text());
  controls.act();
}

void Drain::tick() {
  State& state = *state_;
  if (state.run.phase != Phase::running) return;
  state.run.uncarried.tell_alive();
  const DrainSettings& settings = state.run.request.settings;
  state.seen.note_failed_writes();
  state.work.checkpoints.advance();
  state.work.waiting.find_overlooked();
  state.work.waiting.growing().refresh();
  follow_case();
  state.work.eviction.let_go();
  if (settings.live) state.work.waiting.submit_quiet(settings.settle);
  state.points.look_when_due();
  if (state.run.witnesses.lost_events)
    if (auto read = on_events(); !read) state.run.note(std::nullopt, read.error().text());
}

void Drain::free_purged() {
  state_->points.look_when_due();
}

void Drain::on_case_elsewhere(const std::string& time) {
  state_->work.waiting.times().on_case_elsewhere(time);
}

bool Drain::look_is_wanted() const {
  return state_->points.look_is_wanted();
}

void Drain::told() {
  state_->points.remove_superseded();
  state_->points.give_up_superseded();
}

void Drain::room_is_scarce(bool now) {
  state_->run.witnesses.pool_was_scarce = state_->run.witnesses.pool_was_scarce || now;
}

std::vector<Timeline::Begun> Drain::take_begun(bool all) {
  Run& run = state_->run;
  std::vector<Timeline::Begun> begun = run.figures.times().take_begun(all);
  const auto own = static_cast<std::size_t>(std::ranges::count_if(run.ranks, [](int rank) { return rank >= 0; }));
  for (Timeline::Begun& each : begun) each.ranks = own;
  for (Timeline::Begun& each : run.figures.times_of_script().take_begun(all)) {
    each.ranks = state_->work.waiting.times().of_script().ranks();
    begun.push_back(std::move(each));
  }
  return begun;
}

Activity Drain::activity() const {
  const Amounts amounts = state_->run.figures.amounts();
  const MoverProgress at_work = progress();
  return {state_->run.now(), amounts.written.bytes, amounts.shared.bytes, at_work.queued + at_work.active > 0};
}

void Drain::hear(core::Reports reports, int nodes) {
  state_->points.hear(std::move(reports), nodes);
}

const std::set<core::StateId>& Drain::carried() const {
  return state_->points.carried();
}

bool Drain::writes_times() const {
  return !state_->run.ranks.empty();
}

std::vector<std::string> Drain::complete_times() const {
  return state_->points.complete_times();
}

std::vector<std::string> Drain::safe_times() const {
  return state_->points.safe_times();
}

void Drain::pool_is_full(bool now) {
  state_->points.pool_is_full(now);
  if (!now) {
    // The files of events that are still unread were written while the pool was full.
    if (state_->run.witnesses.pool_is_full) (void)on_events();
    state_->run.witnesses.pool_is_full = false;
    return;
  }
  state_->run.witnesses.pool_is_full = true;
  state_->seen.pool_ran_full();
}

bool Drain::doubts_checkpoints() {
  return state_->work.checkpoints.take_doubts();
}

void Drain::vouch_for_checkpoints() {
  state_->work.checkpoints.vouch();
}

void Drain::rank_ended(int rank, bool cleanly) {
  if (cleanly) state_->points.note_ended(rank);
}

void Drain::add_logs(const std::set<std::uint64_t>& inodes) {
  state_->run.request.logs.insert(inodes.begin(), inodes.end());
}

void Drain::carry_restartable_only() {
  State& state = *state_;
  if (state.run.phase == Phase::carrying) state.end.carry_restartable();
}

void Drain::abandon() {
  state_->work.mover->stop();
  state_->end.give_up();
}

MoverProgress Drain::progress() const {
  return state_->work.mover->progress();
}

std::string Drain::case_path() const {
  return state_->run.shared->case_path();
}

std::string Drain::failure() const {
  const auto& failures = state_->work.not_carried.failures;
  return failures.empty() ? std::string() : failures.begin()->second;
}

Standing Drain::standing() const {
  const bool runs = state_->run.phase == Phase::running;
  Standing standing;
  standing.only_local = state_->run.uncarried.only_local().amount(state_->run.now());
  if (runs) standing.growing = state_->work.waiting.growing().report();
  standing.safe_of_script = state_->work.waiting.times().of_script().newest_safe(!runs);
  standing.ranks_of_script = state_->work.waiting.times().of_script().ranks();
  TimelineEntry last;
  for (const Timeline* timeline : {&state_->run.figures.times(), &state_->run.figures.times_of_script()})
    for (TimelineEntry& each : timeline->newest(1))
      if (each.begun >= last.begun) last = std::move(each);
  if (!last.time.empty()) standing.newest_begun = std::move(last.time);
  return standing;
}

DrainReport Drain::report(std::size_t timeline_entries) const {
  State& state = *state_;
  DrainReport report;
  report.trouble = state.run.trouble;
  report.messages = state.run.messages;
  report.notices = state.run.notices;
  if (state.run.ledger.pool_was_full())
    report.messages.push_back(pool_full_message(
        state.run.witnesses.failures_seen,
        state.run.witnesses.failed_writes ? state.run.witnesses.failed_writes->first() : std::nullopt));
  if (state.run.witnesses.pool_was_scarce &&
      !(state.run.witnesses.failed_writes && state.run.witnesses.failed_writes->is_watched()))
    report.messages.emplace_back(writes_not_seen_text);
  report.amounts = state.run.figures.amounts();
  report.amounts.undrained = state.end.undrained();
  report.standing = standing();
  report.newest_safe = state.points.newest_safe();
  report.newest_complete = state.points.newest_complete();
  report.groups = state.work.groups.made();
  report.safe_times = state.run.figures.times().safe_times();
  report.timeline = state.run.figures.times().newest(timeline_entries);
  return report;
}

}  // namespace forebay::drain
