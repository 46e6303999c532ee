#include "run/publish/mover.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "run/publish/tests/case_fixture.h"
#include "run/publish/tests/faulty_files.h"

namespace forebay::drain {
namespace {

using std::chrono::milliseconds;
// Far more than any of these tests needs.
constexpr milliseconds patience{20'000};

// The outcomes that `done` was told, from any thread.
class Outcomes {
 public:
  struct Seen {
    std::uint64_t ticket;
    bool final;
    int attempts;
    bool good;
    Error error;
    std::size_t files;
  };
  Mover::Done collector() {
    return [this](const Outcome& outcome) {
      const std::lock_guard lock(mutex_);
      seen_.push_back({outcome.ticket, outcome.final, outcome.attempts, outcome.result.has_value(),
                       outcome.result ? Error{} : outcome.result.error(),
                       outcome.result ? outcome.result->files.size() : 0});
      changed_.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return seen_.size() >= count; });
  }
  std::vector<Seen> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Seen> seen_;
};

// A unit that keeps a thread until it is let go, and is nothing then.
class Gate {
 public:
  ~Gate() { open(); }
  Mover::Make wait() {
    return [this]() -> Result<std::optional<layouts::Unit>> {
      reached_ = true;
      reached_.notify_all();
      open_.wait(false);
      return std::nullopt;
    };
  }
  void await() { reached_.wait(false); }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> reached_ = false, open_ = false;
};

class MoverTest : public CaseTest {
 protected:
  static MoverSettings quick(int threads = 2) {
    MoverSettings settings;
    settings.threads = threads;
    settings.first_retry = milliseconds(5);
    settings.last_retry = milliseconds(20);
    return settings;
  }
  // Until nothing is left, whatever waits for a retry.
  void carry_all(Mover& mover) {
    while (!mover.wait_idle()) clock_.move(milliseconds(5));
  }
  static Mover::Make make(const layouts::Unit& unit) {
    return [unit]() -> Result<std::optional<layouts::Unit>> { return unit; };
  }

  Outcomes outcomes_;
};

TEST_F(MoverTest, ManyUnitsOfSeveralThreadsAllArriveAndAreReportedOnce) {
  std::atomic<int> paced{0};
  MoverSettings settings = quick(4);
  settings.publish.pace = [&](std::size_t) { return ++paced > 0; };
  Mover mover(*files_, "run", settings, clock_);
  std::vector<layouts::Unit> units;
  for (int i = 0; i < 200; ++i)
    units.push_back(file_unit("d" + std::to_string(i % 7) + "/" + std::to_string(i), std::to_string(i)));
  std::vector<std::thread> submitters;
  for (std::size_t thread = 0; thread < 4; ++thread)
    submitters.emplace_back([&, thread] {
      for (std::size_t i = thread; i < units.size(); i += 4) mover.submit(make(units[i]), outcomes_.collector());
    });
  for (std::thread& thread : submitters) thread.join();
  carry_all(mover);
  std::set<std::uint64_t> tickets;
  for (const auto& seen : outcomes_.seen()) {
    EXPECT_TRUE(seen.good && seen.final) << seen.error.text();
    EXPECT_EQ(seen.attempts, 1);
    tickets.insert(seen.ticket);
  }
  EXPECT_EQ(tickets.size(), 200u);
  EXPECT_EQ(outcomes_.seen().size(), 200u);
  for (const layouts::Unit& unit : units) EXPECT_TRUE(std::filesystem::exists(case_ + "/" + unit.target));
  EXPECT_EQ(mover.progress().files_written, 200u);
  EXPECT_EQ(mover.progress().bytes_written, 10u + 90 * 2 + 100 * 3);
  EXPECT_EQ(paced, 200);
}

TEST_F(MoverTest, UnitsStartInTheOrderOfSubmission) {
  Mover mover(*files_, "run", quick(1), clock_);
  Gate gate;
  mover.submit(gate.wait(), {});
  std::vector<int> order;
  for (int i = 0; i < 20; ++i)
    mover.submit(
        [&order, i]() -> Result<std::optional<layouts::Unit>> {
          order.push_back(i);
          return std::nullopt;
        },
        outcomes_.collector());
  gate.await();
  EXPECT_EQ(mover.progress().queued, 20u);
  gate.open();
  carry_all(mover);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 20u);
}

TEST_F(MoverTest, AUnitThatIsNothingByItsTurnCostsNothing) {
  FaultyFiles counted(*files_);
  Mover mover(counted, "run", quick(), clock_);
  mover.submit([]() -> Result<std::optional<layouts::Unit>> { return std::nullopt; }, outcomes_.collector());
  carry_all(mover);
  ASSERT_EQ(outcomes_.seen().size(), 1u);
  EXPECT_TRUE(outcomes_.seen()[0].good && outcomes_.seen()[0].final);
  EXPECT_EQ(outcomes_.seen()[0].files, 0u);
  EXPECT_EQ(counted.calls(), 0);
}

TEST_F(MoverTest, AFailureIsRetriedUntilItPassesAndEachAttemptIsReported) {
  FaultyFiles files(*files_);
  files.refuse("create", EIO, "", 3);
  Mover mover(files, "run", quick(), clock_);
  const auto ticket = mover.submit(make(file_unit("U", "x")), outcomes_.collector());
  carry_all(mover);
  const auto seen = outcomes_.seen();
  ASSERT_EQ(seen.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(seen[i].ticket, ticket);
    EXPECT_EQ(seen[i].attempts, static_cast<int>(i) + 1);
    EXPECT_EQ(seen[i].final, i == 3);
    EXPECT_EQ(seen[i].good, i == 3);
  }
  EXPECT_EQ(content(case_ + "/U"), "x");
}

TEST_F(MoverTest, WaitingForARetryOccupiesNoThread) {
  FaultyFiles files(*files_);
  files.refuse("rename_new", EIO, "bad");
  auto settings = quick(1);
  settings.first_retry = settings.last_retry = milliseconds(60'000);
  Mover mover(files, "run", settings, clock_);
  mover.submit(make(file_unit("bad", "x")), outcomes_.collector());
  mover.submit(make(file_unit("good", "x")), outcomes_.collector());
  ASSERT_TRUE(outcomes_.wait_for(2));
  EXPECT_EQ(content(case_ + "/good"), "x");
  EXPECT_EQ(mover.progress().waiting_for_retry, 1u);
  EXPECT_FALSE(mover.wait_idle());
}

TEST_F(MoverTest, TheTimeBetweenRetriesDoublesUpToItsLimit) {
  FaultyFiles files(*files_);
  std::mutex mutex;
  std::vector<Clock::time_point> tries;
  files.before = [&](const std::string& call, const std::string&) {
    const std::lock_guard lock(mutex);
    if (call == "create") tries.push_back(clock_.now());
  };
  files.refuse("create", EIO, "", 4);
  auto settings = quick(1);
  settings.first_retry = milliseconds(20);
  settings.last_retry = milliseconds(40);
  Mover mover(files, "run", settings, clock_);
  mover.submit(make(file_unit("U", "x")), outcomes_.collector());
  carry_all(mover);
  ASSERT_EQ(tries.size(), 5u);
  EXPECT_EQ(tries[1] - tries[0], milliseconds(20));
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(tries[i] - tries[i - 1], milliseconds(40)) << i;
}

TEST_F(MoverTest, AConflictAVanishedSourceAndBadInputAreFinalAtOnce) {
  write(case_ + "/taken", "hers");
  Mover mover(*files_, "run", quick(1), clock_);
  mover.submit(make(file_unit("taken", "ours")), outcomes_.collector());
  layouts::Unit gone = file_unit("gone", "x");
  std::filesystem::remove(gone.files[0].pieces[0].source);
  mover.submit(make(gone), outcomes_.collector());
  mover.submit(make(file_unit("../out", "x")), outcomes_.collector());
  mover.submit([]() -> Result<std::optional<layouts::Unit>> { return error(Code::failed, "not of this layout"); },
               outcomes_.collector());
  carry_all(mover);
  const auto seen = outcomes_.seen();
  ASSERT_EQ(seen.size(), 4u);
  for (const auto& one : seen) EXPECT_TRUE(one.final && !one.good) << one.ticket;
  EXPECT_EQ(seen[0].error.code, Code::conflict);
  EXPECT_TRUE(source_changed(seen[1].error));
}

TEST_F(MoverTest, GivingUpEndsWhatWaitsWithItsLastError) {
  FaultyFiles files(*files_);
  files.refuse("create", ENOSPC);
  auto settings = quick();
  settings.first_retry = settings.last_retry = milliseconds(60'000);
  Mover mover(files, "run", settings, clock_);
  mover.submit(make(file_unit("U", "x")), outcomes_.collector());
  ASSERT_TRUE(outcomes_.wait_for(1));
  mover.give_up();
  carry_all(mover);
  mover.submit(make(file_unit("V", "x")), outcomes_.collector());
  carry_all(mover);
  const auto seen = outcomes_.seen();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_FALSE(seen[0].final);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_TRUE(seen[i].final);
    EXPECT_EQ(seen[i].error.errno_value, ENOSPC);
  }
}

TEST_F(MoverTest, WhatIsDroppedEndsAndTheRestGoesOn) {
  auto settings = quick(1);
  std::atomic<bool> writing{false}, dropped{false};
  settings.publish.pace = [&](std::size_t) {
    writing = true;
    writing.notify_all();
    dropped.wait(false);
    return true;
  };
  Mover mover(*files_, "run", settings, clock_);
  const auto large = mover.submit(make(file_unit("large", std::string(24 << 20, 'x'))), outcomes_.collector());
  const auto queued = mover.submit(make(file_unit("queued", "x")), outcomes_.collector());
  const auto wanted = mover.submit(make(file_unit("wanted", "x")), outcomes_.collector());
  writing.wait(false);
  mover.drop({large, queued});
  dropped = true;
  dropped.notify_all();
  carry_all(mover);
  ASSERT_EQ(outcomes_.seen().size(), 3u);
  for (const auto& each : outcomes_.seen()) {
    EXPECT_TRUE(each.final);
    EXPECT_EQ(each.good, each.ticket == wanted);
  }
  EXPECT_EQ(names(), std::set<std::string>{"wanted"});
}

TEST_F(MoverTest, StoppingEndsWhatIsActiveAndDropsWhatIsQueued) {
  auto settings = quick(1);
  std::atomic<bool> writing{false};
  settings.publish.pace = [&](std::size_t) {
    writing = true;
    writing.notify_all();
    return true;
  };
  settings.bytes_per_second = 1 << 20;  // the file would take a minute, which does not pass
  Mover mover(*files_, "run", settings, clock_);
  mover.submit(make(file_unit("large", std::string(60 << 20, 'x'))), outcomes_.collector());
  mover.submit(make(file_unit("queued", "x")), outcomes_.collector());
  writing.wait(false);
  mover.stop();
  const auto seen = outcomes_.seen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(seen[0].final && !seen[0].good);
  EXPECT_TRUE(names().empty());
  mover.submit(make(file_unit("late", "x")), outcomes_.collector());
  EXPECT_TRUE(mover.wait_idle());
  mover.stop();
}

TEST_F(MoverTest, WhatWasRenamedIsStillToldWhenItStops) {
  Mover mover(*files_, "run", quick(1), clock_);
  std::atomic<bool> turn{false};
  mover.submit(make(file_unit("U", "x")), outcomes_.collector());
  mover.submit(
      [&]() -> Result<std::optional<layouts::Unit>> {
        turn = true;
        turn.notify_all();
        return std::nullopt;
      },
      {});
  turn.wait(false);
  mover.stop();
  ASSERT_EQ(outcomes_.seen().size(), 1u);
  EXPECT_TRUE(outcomes_.seen()[0].good);
}

// Units in lines, of which the first is held until it is let go.
class OrderTest : public MoverTest {
 protected:
  // A unit whose making waits.
  Mover::Make slow(const layouts::Unit& unit) {
    return [this, unit]() -> Result<std::optional<layouts::Unit>> {
      go_.wait(false);
      return unit;
    };
  }
  void go() {
    go_ = true;
    go_.notify_all();
  }
  bool on_case(const std::string& name) const { return std::filesystem::exists(case_ + "/" + name); }
  // Waits until the content of so many was written; each has its name after that, when its turn comes.
  void await_written(int count) {
    for (int now = written_; now < count; now = written_) written_.wait(now);
  }
  void SetUp() override {
    MoverTest::SetUp();
    counted_ = std::make_unique<FaultyFiles>(*files_);
    counted_->before = [this](const std::string& call, const std::string&) {
      if (call != "sync") return;
      ++written_;
      written_.notify_all();
    };
  }
  ~OrderTest() override { go(); }

  std::unique_ptr<FaultyFiles> counted_;
  std::atomic<bool> go_ = false;
  std::atomic<int> written_ = 0;
};

TEST_F(OrderTest, NamesComeInOrderThoughLaterUnitsAreWrittenFirst) {
  Mover mover(*counted_, "run", quick(2), clock_);
  mover.submit(slow(file_unit("data", "x")), outcomes_.collector(), {Line::files, 1});
  for (int i = 2; i < 12; ++i)
    mover.submit(make(file_unit("later" + std::to_string(i), "x")), outcomes_.collector(),
                 {Line::files, static_cast<std::uint64_t>(i)});
  mover.submit(make(time_unit("0.5", "x")), outcomes_.collector(), {Line::times, 12});
  mover.submit(make(file_unit("in no line", "x")), outcomes_.collector());
  ASSERT_TRUE(outcomes_.wait_for(2)) << "who waits keeps no thread from others";
  await_written(10);
  EXPECT_TRUE(on_case("0.5") && on_case("in no line"));
  EXPECT_FALSE(on_case("later2") || on_case("later11"));
  go();
  carry_all(mover);
  EXPECT_TRUE(on_case("data") && on_case("later11"));
  EXPECT_TRUE(temporaries().empty());
}

TEST_F(OrderTest, ManyThatWaitLeaveRoomForWhatTheyWaitFor) {
  FaultyFiles files(*files_);
  files.refuse("create", EIO, "", 1);
  std::mutex mutex;
  std::vector<std::string> named;
  files.before = [&](const std::string& call, const std::string& path) {
    const std::lock_guard lock(mutex);
    if (call == "rename_new") named.push_back(path);
  };
  auto settings = quick(2);
  settings.first_retry = settings.last_retry = milliseconds(60'000);
  Mover mover(files, "run", settings, clock_);
  std::vector<std::string> submitted{"data"};
  mover.submit(make(file_unit("data", "x")), outcomes_.collector(), {Line::files, 1});
  ASSERT_TRUE(outcomes_.wait_for(1));
  for (std::uint64_t i = 2; i <= 60; ++i) {
    submitted.push_back(std::to_string(i));
    mover.submit(make(file_unit(submitted.back(), "x")), outcomes_.collector(), {Line::files, i});
  }
  ASSERT_TRUE(outcomes_.wait_for(61)) << "what failed was tried again when others waited for it";
  EXPECT_EQ(named, submitted);
}

TEST_F(OrderTest, WhatFailsAgainIsWaitedForByNobody) {
  FaultyFiles files(*files_);
  files.refuse("rename_new", EACCES, "bad");
  auto settings = quick(1);
  settings.first_retry = settings.last_retry = milliseconds(60'000);
  Mover mover(files, "run", settings, clock_);
  mover.submit(make(file_unit("bad", "x")), outcomes_.collector(), {Line::files, 1});
  ASSERT_TRUE(outcomes_.wait_for(1));
  mover.submit(make(file_unit("good", "x")), outcomes_.collector(), {Line::files, 2});
  ASSERT_TRUE(outcomes_.wait_for(3));
  EXPECT_TRUE(on_case("good"));
}

TEST_F(OrderTest, WhoWaitsGoesOnWhenAnotherLeavesItsPlace) {
  Mover mover(*counted_, "run", quick(1), clock_);
  mover.submit([]() -> Result<std::optional<layouts::Unit>> { return std::nullopt; }, outcomes_.collector(),
               {Line::files, 1});
  mover.submit(make(file_unit("later", "x")), outcomes_.collector(), {Line::files, 2});
  ASSERT_TRUE(outcomes_.wait_for(1));
  await_written(1);
  EXPECT_FALSE(on_case("later")) << "it may come again";
  mover.leave({Line::files, 1});
  ASSERT_TRUE(outcomes_.wait_for(2));
  EXPECT_TRUE(on_case("later"));
}

TEST_F(OrderTest, WhoWaitsCanBeDroppedAndStopped) {
  Mover mover(*counted_, "run", quick(2), clock_);
  mover.submit(slow(file_unit("data", "x")), outcomes_.collector(), {Line::files, 1});
  const auto dropped = mover.submit(make(file_unit("dropped", "x")), outcomes_.collector(), {Line::files, 2});
  mover.submit(make(file_unit("stopped", "x")), outcomes_.collector(), {Line::files, 3});
  await_written(2);
  mover.drop({dropped});
  ASSERT_TRUE(outcomes_.wait_for(1));
  std::thread stopping([&] { mover.stop(); });
  ASSERT_TRUE(outcomes_.wait_for(2));
  go();
  stopping.join();
  EXPECT_FALSE(on_case("dropped") || on_case("stopped"));
  EXPECT_TRUE(temporaries().empty());
}

TEST_F(MoverTest, TheBandwidthCapHoldsOverAllThreads) {
  auto settings = quick(4);
  settings.bytes_per_second = 20 << 20;
  Mover mover(*files_, "run", settings, clock_);
  std::vector<layouts::Unit> units;
  for (int i = 0; i < 10; ++i) units.push_back(file_unit(std::to_string(i), std::string(1 << 20, 'x')));
  for (const layouts::Unit& unit : units) mover.submit(make(unit), outcomes_.collector());
  // Each write of 256 KiB takes 12.5 ms. At once there are those of 100 ms, and the one that begins now.
  constexpr std::uint64_t a_write = 256 << 10;
  clock_.await_waiting(4);
  EXPECT_EQ(mover.progress().bytes_written, 9 * a_write);
  clock_.move(milliseconds(12));
  clock_.await_waiting(4);
  EXPECT_EQ(mover.progress().bytes_written, 9 * a_write);
  clock_.move(milliseconds(1));
  clock_.await_waiting(4);
  EXPECT_EQ(mover.progress().bytes_written, 10 * a_write);
  clock_.move(milliseconds(37));
  clock_.await_waiting(4);
  EXPECT_EQ(mover.progress().bytes_written, 13 * a_write);
}

TEST_F(MoverTest, OneSyncOfADirectoryServesManyUnitsAndComesBeforeTheyAreReported) {
  FaultyFiles files(*files_);
  std::atomic<int> syncs{0};
  files.before = [&](const std::string& call, const std::string&) {
    if (call == "sync_directory") ++syncs;
  };
  Mover mover(files, "run", quick(1), clock_);
  Gate gate;
  mover.submit(gate.wait(), {});
  std::atomic<int> unsynced{0};
  for (int i = 0; i < 50; ++i)
    mover.submit(make(file_unit(std::to_string(i), "x")), [&](const Outcome&) { unsynced += syncs == 0 ? 1 : 0; });
  gate.open();
  carry_all(mover);
  EXPECT_EQ(unsynced, 0);
  EXPECT_GE(syncs, 1);
  EXPECT_LT(syncs, 25);
}

TEST_F(MoverTest, AFailedSyncOfADirectoryIsTriedAgainWithoutWritingAgain) {
  FaultyFiles files(*files_);
  files.refuse("sync_directory", EIO, "", 2);
  Mover mover(files, "run", quick(1), clock_);
  mover.submit(make(file_unit("U", "x")), outcomes_.collector());
  carry_all(mover);
  const auto seen = outcomes_.seen();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_FALSE(seen[0].good || seen[0].final || seen[1].good);
  EXPECT_TRUE(seen[2].good && seen[2].final);
  EXPECT_EQ(mover.progress().files_written, 1u);
  EXPECT_EQ(mover.progress().bytes_written, 1u);
}

TEST_F(MoverTest, ACallbackMaySubmitMore) {
  Mover mover(*files_, "run", quick(1), clock_);
  const layouts::Unit second = file_unit("second", "2");
  mover.submit(make(file_unit("first", "1")),
               [&](const Outcome&) { mover.submit(make(second), outcomes_.collector()); });
  ASSERT_TRUE(outcomes_.wait_for(1));
  EXPECT_EQ(content(case_ + "/second"), "2");
}

TEST_F(MoverTest, AnIdleMoverUsesNoProcessorTime) {
  auto settings = quick(4);
  settings.first_retry = settings.last_retry = milliseconds(60'000);
  FaultyFiles files(*files_);
  files.refuse("create", EIO);
  Mover mover(files, "run", settings, clock_);
  mover.submit(make(file_unit("waiting", "x")), outcomes_.collector());
  ASSERT_FALSE(mover.wait_idle());
  clock_.await_waiting();
  EXPECT_EQ(clock_.next(), clock_.now() + settings.first_retry) << "woken for nothing before";
  const auto used = [](clockid_t by) {
    struct timespec time {};
    clock_gettime(by, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto by_others = [&] { return used(CLOCK_PROCESS_CPUTIME_ID) - used(CLOCK_THREAD_CPUTIME_ID); };
  // The counts are taken while this thread takes a processor's time for itself.
  const auto before = by_others(), until = used(CLOCK_THREAD_CPUTIME_ID) + milliseconds(50);
  while (used(CLOCK_THREAD_CPUTIME_ID) < until) {
  }
  EXPECT_LT(by_others() - before, milliseconds(3));
}

TEST_F(MoverTest, ItsThreadsGiveWayToTheProgram) {
  std::atomic<int> niceness{0};
  Mover mover(*files_, "run", quick(1), clock_);
  mover.submit(
      [&]() -> Result<std::optional<layouts::Unit>> {
        niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
        return std::nullopt;
      },
      {});
  carry_all(mover);
  EXPECT_EQ(niceness, 19);
  EXPECT_LT(getpriority(PRIO_PROCESS, 0), 19);
}

}  // namespace
}  // namespace forebay::drain
