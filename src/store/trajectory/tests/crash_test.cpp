// Kills a writer at random points, a few hundred times over, and asks a new process for everything that was
// acknowledged. The store is never cleaned in between: each writer goes on with what the killed one left.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>

#include "store/trajectory/tests/content.h"

namespace forebay {
namespace {

struct Operation {
  enum class Kind { none, put, drop, rewind } kind;
  std::int64_t step;
  std::uint64_t version;
};
constexpr std::size_t kOperations = 200000;

// Shared with the writer; what it has noted here is known after its death.
struct Log {
  std::atomic<std::size_t> begun, acknowledged;
  Operation operations[kOperations];
};

using Model = std::map<std::int64_t, std::uint64_t>;  // step -> version of its content

void replay(Model& model, const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::none:
      break;
    case Operation::Kind::put:
      model[operation.step] = operation.version;
      break;
    case Operation::Kind::drop:
      model.erase(operation.step);
      break;
    case Operation::Kind::rewind:
      model.clear();
      break;
  }
}

// Runs until it is killed.
void write(const OptionsOf& options, const Content& content, std::uint64_t seed, Log& log) {
  forebay_trajectory* t = nullptr;
  if (forebay_trajectory_open(options.get(), &t) != FOREBAY_OK || content.declare(t) != FOREBAY_OK) {
    std::fprintf(stderr, "the writer cannot open the store: %s\n", forebay_error_get_text());
    ::_exit(1);
  }
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> buffer(content.words);
  const auto attempt = [&](Operation operation, auto call) {
    const std::size_t n = log.begun.load();
    log.operations[n] = operation;
    log.begun = n + 1;
    const int status = call();
    if (status != FOREBAY_OK) log.operations[n].kind = Operation::Kind::none;
    log.acknowledged = n + 1;
    return status;
  };
  const auto put = [&](std::int64_t step) {
    const std::uint64_t version = random();
    return attempt({Operation::Kind::put, step, version}, [&] {
      std::uint64_t* u = buffer.data();
      const bool in_place = version % 2 == 0;
      if (in_place) {
        const int status = begin_values(t, step, 0, u);
        if (status != FOREBAY_OK) return status;
      }
      content.fill(u, step, version);
      const void* memory = u;
      return in_place ? forebay_trajectory_commit(t) : forebay_trajectory_put(t, step, 0, &memory, 1);
    });
  };
  while (log.begun < kOperations) {
    const std::uint64_t dice = random() % 400;
    const auto step = static_cast<std::int64_t>(random() % 600);
    const bool stored = forebay_trajectory_get_time(t, step, nullptr) == FOREBAY_OK;
    if (dice > 392 && stored) {
      int tiers = 0;
      forebay_trajectory_count_tiers(t, &tiers);
      forebay_trajectory_move(t, step, static_cast<int>(random() % static_cast<unsigned>(tiers)));
    }
    if (dice == 0) {
      attempt({Operation::Kind::rewind, 0, 0}, [&] { return forebay_trajectory_rewind(t); });
    } else if (stored) {
      attempt({Operation::Kind::drop, step, 0}, [&] { return forebay_trajectory_drop(t, step); });
    } else if (put(step) != FOREBAY_OK) {
      attempt({Operation::Kind::rewind, 0, 0}, [&] { return forebay_trajectory_rewind(t); });
    }
  }
  for (;;) ::pause();
}

// Everything in the store, compared word by word.
Model read(const OptionsOf& options, const Content& content, const Model& before, const Model& after,
           std::string& wrong) {
  Model found;
  forebay_trajectory* t = nullptr;
  if (forebay_trajectory_open(options.get(), &t) != FOREBAY_OK) {
    wrong = std::string("cannot be opened: ") + forebay_error_get_text();
    return found;
  }
  if (*forebay_trajectory_get_recovery(t) != '\0') wrong = forebay_trajectory_get_recovery(t);
  std::uint64_t count = 0;
  forebay_trajectory_count_steps(t, &count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t step = 0;
    const std::uint64_t* u = nullptr;
    forebay_trajectory_get_step(t, i, &step, nullptr);
    if (get_values(t, step, u) != FOREBAY_OK) {
      wrong = forebay_error_get_text();
      break;
    }
    const auto version_in = [&](const Model& model) {
      const auto at = model.find(step);
      if (at == model.end() || !content.is(u, step, at->second)) return false;
      found[step] = at->second;
      return true;
    };
    if (!version_in(after) && !version_in(before)) wrong = "step " + std::to_string(step) + " is not what was stored";
    forebay_trajectory_release(t, step);
  }
  forebay_trajectory_close(t);
  return found;
}

class Crash : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = ::mmap(nullptr, sizeof(Log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    log_ = static_cast<Log*>(memory);
    const char* given = std::getenv("FOREBAY_TEST_SEED");
    seed_ = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("FOREBAY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  }
  void TearDown() override { ::munmap(log_, sizeof(Log)); }

  // FOREBAY_TEST_KILLS: how often instead, where processes start slowly.
  void kill_again_and_again(const OptionsOf& options, const Content& content, int times) {
    if (const char* kills = std::getenv("FOREBAY_TEST_KILLS"); kills != nullptr) times = std::atoi(kills);
    std::mt19937_64 random(seed_);
    Model model;
    std::size_t operations = 0;
    for (int trial = 0; trial < times; ++trial) {
      log_->begun = log_->acknowledged = 0;
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) write(options, content, random(), *log_);
      (void)random();
      // Once it is at work, or sometimes before: opening again is work, too.
      const auto patience = random() % 5 == 0 ? 0 : 1;
      for (int i = 0; i < 50000 && log_->begun < static_cast<std::size_t>(patience); ++i) ::usleep(100);
      ::usleep(static_cast<useconds_t>(random() % 3000));
      ::kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status)) << "trial " << trial;

      const std::size_t acknowledged = log_->acknowledged;
      for (std::size_t i = 0; i < acknowledged; ++i) replay(model, log_->operations[i]);
      Model after = model;
      if (log_->begun > acknowledged) replay(after, log_->operations[acknowledged]);
      operations += acknowledged;
      std::string wrong;
      const Model found = read(options, content, model, after, wrong);
      ASSERT_EQ(wrong, "") << "trial " << trial;
      ASSERT_TRUE(found == model || found == after)
          << "trial " << trial << ": " << found.size() << " steps, not " << model.size() << " or " << after.size();
      model = found;
    }
    std::printf("%d kills, %zu operations\n", times, operations);
  }

  Log* log_ = nullptr;
  std::uint64_t seed_ = 0;
};

TEST_F(Crash, LosesNothingThatWasAcknowledged) {
  const Scratch pool;
  kill_again_and_again(std::move(OptionsOf().pool(pool.path(), 30 * 65536).segments(65536).keep()), {500}, 150);
}

TEST_F(Crash, LosesNothingWhileStatesMoveBetweenTiers) {
  const Scratch pool, below;
  kill_again_and_again(std::move(OptionsOf()
                                     .pool(pool.path(), 5 * 32768)
                                     .shared(below.path(), 60 * 32768)
                                     .segments(32768)
                                     .keep()
                                     .process_only()),
                       {200}, 100);
}

TEST_F(Crash, LosesNothingBetweenTwoMappedTiers) {
  const Scratch pool, below;
  kill_again_and_again(
      std::move(OptionsOf().pool(pool.path(), 4 * 32768).pool(below.path(), 40 * 32768).segments(32768).keep()), {200},
      75);
}

TEST_F(Crash, LosesNothingOnADiskFileSystem) {
  const Scratch pool("/tmp");
  kill_again_and_again(std::move(OptionsOf().pool(pool.path(), 30 * 65536).segments(65536).keep().process_only()),
                       {500}, 50);
}

TEST_F(Crash, LosesNothingThatIsEncoded) {
  const Scratch pool, below;
  kill_again_and_again(std::move(OptionsOf()
                                     .pool(pool.path(), 5 * 16384)
                                     .shared(below.path(), 20 * 16384)
                                     .segments(16384)
                                     .keep()
                                     .process_only()),
                       {200, 1e-4}, 100);
}

TEST_F(Crash, LosesNothingOnADevice) {
  const char* device = std::getenv("FOREBAY_TEST_DEVICE");
  if (device == nullptr) GTEST_SKIP() << "FOREBAY_TEST_DEVICE names no device; the tests nvdimm/ have one";
  const Scratch below;
  OptionsOf options;
  options.pool(device, 4 * 32768).pool(below.path(), 40 * 32768).segments(32768).keep();
  kill_again_and_again(options, {200}, 50);
  forebay_trajectory* left = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &left));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_keep(left, 0));
  forebay_trajectory_close(left);
}

}  // namespace
}  // namespace forebay
