// Random operations on a kept trajectory beside a table of what must be there, over many processes: some close it, some
// are killed, some only read. The seeds are fixed: what fails once fails again. FOREBAY_TEST_SEED gives another one,
// FOREBAY_TEST_OPERATIONS another number (trajectory/million_operations: a million).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <utility>

#include "store/trajectory/tests/content.h"

namespace forebay::operations_test {
namespace {

constexpr std::uint64_t kSegment = 16 << 10;
constexpr std::int64_t kSteps = 400;
constexpr std::uint64_t kWords = 200;
constexpr std::uint64_t kOperations = 12500;  // of each kind of store

// The states that must be stored. It lies in memory that outlives a process that is killed.
struct Model {
  std::uint64_t versions[kSteps];  // 0: not stored
  bool begun;                      // there is a store
  std::uint64_t operations;
  char wrong[1000];

  std::uint64_t count() const {
    return static_cast<std::uint64_t>(kSteps - std::count(std::begin(versions), std::end(versions), 0u));
  }
};

// The acts of one process with it, up to the first thing that is wrong.
class Session {
 public:
  Session(const Content& content, std::uint64_t seed, Model& model) : content_(content), random_(seed), model_(model) {}
  ~Session() { forebay_trajectory_close(t_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool right() const { return model_.wrong[0] == '\0'; }

  void open(const OptionsOf& options, bool read_only = false) {
    check(FOREBAY_OK, forebay_trajectory_open(options.get(), &t_), "open");
    if (!right()) return;
    if (const std::string lost = forebay_trajectory_get_recovery(t_); !lost.empty()) return wrong("reported: " + lost);
    if (!read_only || model_.begun) check(FOREBAY_OK, content_.declare(t_), "declare");
    look_at_all();
  }
  void operate(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && right(); ++i) {
      ++model_.operations;
      operate();
      look_at_lent();
      std::uint64_t count = 0;
      check(FOREBAY_OK, forebay_trajectory_count_steps(t_, &count), "count");
      if (right() && count != model_.count()) {
        wrong(std::to_string(count) + " steps, not " + std::to_string(model_.count()));
      }
    }
  }
  void only_read() {
    const std::vector<std::uint64_t> words(kWords);
    const void* memory = words.data();
    check(FOREBAY_E_READ_ONLY, forebay_trajectory_put(t_, kSteps, 0, &memory, 1), "put");
    check(FOREBAY_E_READ_ONLY, forebay_trajectory_rewind(t_), "rewind");
    const std::int64_t step = any_step();
    if (stored(step)) check(FOREBAY_E_READ_ONLY, forebay_trajectory_drop(t_, step), "drop");
    look_at_all();
  }
  void give_up() {
    check(FOREBAY_OK, forebay_trajectory_keep(t_, 0), "keep");
    operate(20);
    check(FOREBAY_E_NO_SUCH_FILE, forebay_trajectory_keep(t_, 1), "keep again, without a name");
    look_at_all();
  }
  void close() {
    while (right() && !pinned_.empty()) release();
    check(FOREBAY_OK, forebay_trajectory_close(std::exchange(t_, nullptr)), "close");
  }

 private:
  struct Pinned {
    std::int64_t step;
    const std::uint64_t* memory;
    std::vector<std::uint64_t> words;  // as they were
  };

  void wrong(const std::string& what) {
    if (right()) std::snprintf(model_.wrong, sizeof(model_.wrong), "%s", what.c_str());
  }
  void check(int expected, int status, const char* call) {
    if (status == expected) return;
    wrong(std::string(call) + ": " + forebay_status_get_name(status) + " (" + forebay_error_get_text() + "), not " +
          forebay_status_get_name(expected));
  }
  bool stored(std::int64_t step) const { return model_.versions[step] != 0; }
  std::int64_t any_step() { return static_cast<std::int64_t>(random_() % kSteps); }
  bool is_pinned(std::int64_t step) const {
    return std::any_of(pinned_.begin(), pinned_.end(), [&](const Pinned& pin) { return pin.step == step; });
  }

  const std::uint64_t* get(std::int64_t step) {
    const std::uint64_t* u = nullptr;
    check(FOREBAY_OK, get_values(t_, step, u), "get");
    if (right() && !content_.is(u, step, model_.versions[step])) {
      wrong("step " + std::to_string(step) + " is not what was stored");
    }
    return u;
  }
  void look_at(std::int64_t step) {
    (void)get(step);
    if (right()) check(FOREBAY_OK, forebay_trajectory_release(t_, step), "release");
  }
  void look_at_all() {
    std::uint64_t count = 0;
    forebay_trajectory_count_steps(t_, &count);
    if (count != model_.count()) {
      return wrong("found " + std::to_string(count) + " steps, not " + std::to_string(model_.count()));
    }
    for (std::int64_t step = kSteps; step-- > 0 && right();) {
      if (stored(step)) look_at(step);
    }
  }
  // Memory that begin returned is to stay.
  void look_at_lent() {
    if (lent_ != nullptr && !std::equal(lent_words_.begin(), lent_words_.end(), lent_)) {
      wrong("memory of the last step was changed");
    }
  }

  void operate() {
    const std::int64_t step = any_step();
    const std::uint64_t dice = random_() % 100;
    if (dice < 32) return put(step);
    if (dice < 50) return drop(step);
    if (dice < 70) return stored(step) ? look_at(step) : misses(step);
    if (dice < 75) return pin(step);
    if (dice < 82) return pinned_.empty() ? void() : release();
    if (dice < 83) return sweep(step);
    if (dice < 86) return stored(step) ? move(step) : misses(step);
    if (dice == 86 && random_() % 8 == 0) return rewind();
    if (dice == 87 && random_() % 10 == 0) return use_in_a_child(step);
  }
  void misses(std::int64_t step) {
    const void* memory = nullptr;
    check(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get(t_, step, 0, &memory), "get of a step that is not stored");
  }
  void put(std::int64_t step) {
    const std::uint64_t version = random_() | 1;
    std::vector<std::uint64_t> words(kWords);
    content_.fill(words.data(), step, version);
    const void* from = words.data();
    lent_ = nullptr;
    const bool in_place = random_() % 2 == 0;
    std::uint64_t* u = nullptr;
    int status = in_place ? begin_values(t_, step, 0, u) : forebay_trajectory_put(t_, step, 0, &from, 1);
    if (stored(step)) return check(FOREBAY_E_STEP_EXISTS, status, "put of a step that is stored");
    model_.begun = true;
    if (status == FOREBAY_E_NO_SPACE) return make_room();
    check(FOREBAY_OK, status, "put");
    if (!right()) return;
    if (in_place) {
      std::copy(words.begin(), words.end(), u);
      lent_ = u;
      lent_words_ = words;
      if (random_() % 8 == 0) return check(FOREBAY_OK, forebay_trajectory_cancel(t_), "cancel");
      lent_step_ = step;
      status = forebay_trajectory_commit(t_);
      // Encoded, it takes what it takes.
      if (status == FOREBAY_E_NO_SPACE && content_.accepted > 0) return make_room();
      check(FOREBAY_OK, status, "commit");
    }
    if (right()) model_.versions[step] = version;
  }
  void make_room() {
    std::uint64_t capacity = 0;
    check(FOREBAY_OK, forebay_trajectory_get_capacity(t_, &capacity), "capacity");
    const bool excused = content_.accepted > 0 || !pinned_.empty();
    if (model_.count() < capacity && !excused) {
      wrong("no room for more than " + std::to_string(model_.count()) + " steps, where " + std::to_string(capacity) +
            " fit");
    }
    for (int i = 0; i < 100 && right(); ++i) drop(any_step());
  }
  void drop(std::int64_t step) {
    if (step == lent_step_) lent_ = nullptr;
    const int status = forebay_trajectory_drop(t_, step);
    if (!stored(step)) return check(FOREBAY_E_NO_SUCH_STEP, status, "drop of a step that is not stored");
    if (is_pinned(step)) return check(FOREBAY_E_PINNED, status, "drop of a step that is pinned");
    check(FOREBAY_OK, status, "drop");
    if (right()) model_.versions[step] = 0;
  }
  void pin(std::int64_t step) {
    if (!stored(step) || pinned_.size() == 2) return;
    const std::uint64_t* u = get(step);
    if (right()) pinned_.push_back({step, u, {u, u + kWords}});
  }
  void release() {
    const auto at = pinned_.begin() + static_cast<std::ptrdiff_t>(random_() % pinned_.size());
    if (!std::equal(at->words.begin(), at->words.end(), at->memory)) wrong("a pinned state was changed");
    check(FOREBAY_OK, forebay_trajectory_release(t_, at->step), "release");
    pinned_.erase(at);
  }
  void sweep(std::int64_t from) {
    const auto* const lowest = std::find_if(std::begin(model_.versions), std::end(model_.versions),
                                            [](std::uint64_t version) { return version != 0; });
    const bool any_below = lowest - model_.versions <= from;
    check(any_below ? FOREBAY_OK : FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_reverse(t_, from), "reverse");
    for (int i = 0; i < 40 && from >= 0 && right(); ++i, --from) {
      if (stored(from)) look_at(from);
    }
  }
  void move(std::int64_t step) {
    int tiers = 0;
    forebay_trajectory_count_tiers(t_, &tiers);
    lent_ = nullptr;  // it may lie in the same segment
    const int status = forebay_trajectory_move(t_, step, static_cast<int>(random_() % static_cast<unsigned>(tiers)));
    const bool refused = status == FOREBAY_E_NO_SPACE || (status == FOREBAY_E_PINNED && !pinned_.empty());
    if (!refused) check(FOREBAY_OK, status, "move");
  }
  void rewind() {
    lent_ = nullptr;
    const int status = forebay_trajectory_rewind(t_);
    if (!pinned_.empty()) return check(FOREBAY_E_PINNED, status, "rewind while steps are pinned");
    check(FOREBAY_OK, status, "rewind");
    if (right()) std::fill(std::begin(model_.versions), std::end(model_.versions), 0);
  }
  void use_in_a_child(std::int64_t step) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::uint64_t> words(kWords);
      const void* memory = words.data();
      const bool refused = forebay_trajectory_put(t_, step, 0, &memory, 1) == FOREBAY_E_FORKED &&
                           forebay_trajectory_get(t_, step, 0, &memory) == FOREBAY_E_FORKED &&
                           forebay_trajectory_drop(t_, step) == FOREBAY_E_FORKED &&
                           forebay_trajectory_rewind(t_) == FOREBAY_E_FORKED &&
                           forebay_trajectory_close(t_) == FOREBAY_E_FORKED;
      ::_exit(refused ? 0 : 1);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) wrong("a forked child was not refused");
  }

  const Content& content_;
  std::mt19937_64 random_;
  Model& model_;
  forebay_trajectory* t_ = nullptr;
  std::vector<Pinned> pinned_;
  const std::uint64_t* lent_ = nullptr;
  std::vector<std::uint64_t> lent_words_;
  std::int64_t lent_step_ = -1;
};

class Operations : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = ::mmap(nullptr, sizeof(Model), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    model_ = new (memory) Model{};
    if (const char* given = std::getenv("FOREBAY_TEST_SEED")) seed_ = std::strtoull(given, nullptr, 10);
    if (const char* given = std::getenv("FOREBAY_TEST_OPERATIONS")) most_ = std::strtoull(given, nullptr, 10) / 4;
  }
  void TearDown() override { ::munmap(model_, sizeof(Model)); }

  using Options = std::function<OptionsOf()>;
  // `kind`: of store, each has another order of operations.
  void run(const Options& options, const Content& content, std::uint64_t kind) {
    std::mt19937_64 random(seed_ + kind);
    int sessions = 0, killed = 0;
    for (; model_->operations < most_; ++sessions) {
      const std::uint64_t seed = random(), length = random() % 400;
      if (seed % 4 == 0) look(options(), content, seed);
      if (seed % 3 == 0) {
        ++killed;
        work_and_die(options(), content, seed, length);
      } else {
        work_and_close(options(), content, seed, length);
      }
      ASSERT_STREQ(model_->wrong, "") << "FOREBAY_TEST_SEED=" << seed_ << ", operation " << model_->operations
                                      << ", session " << sessions;
    }
    std::printf("%llu operations in %d sessions, %d of them killed\n",
                static_cast<unsigned long long>(model_->operations), sessions, killed);
  }

 private:
  void look(OptionsOf options, const Content& content, std::uint64_t seed) {
    forebay_trajectory* refused = nullptr;
    if (!model_->begun) {
      EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, forebay_trajectory_open(options.mode("read-only").get(), &refused));
      return;
    }
    EXPECT_STATUS(FOREBAY_E_STORE_EXISTS, forebay_trajectory_open(options.mode("create").get(), &refused));
    options.mode(seed % 8 == 0 ? "read-only" : "partial");
    Session one(content, seed, *model_), another(content, seed, *model_);
    one.open(options, true);
    another.open(options, true);
    if (one.right()) one.only_read();
    if (one.right()) another.only_read();
  }
  void work_and_close(OptionsOf options, const Content& content, std::uint64_t seed, std::uint64_t length) {
    Session session(content, seed, *model_);
    session.open(options.mode(model_->begun ? "must-exist" : "create"));
    session.operate(length);
    if (!session.right()) return;
    const bool given_up = seed / 16 % 32 == 0;
    if (given_up) session.give_up();
    session.close();
    if (!given_up || !session.right()) return;
    std::fill(std::begin(model_->versions), std::end(model_->versions), 0);
    model_->begun = false;
  }
  void work_and_die(const OptionsOf& options, const Content& content, std::uint64_t seed, std::uint64_t length) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Session session(content, seed, *model_);
      session.open(options);
      session.operate(length);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }

  Model* model_ = nullptr;
  std::uint64_t seed_ = 20260731;
  std::uint64_t most_ = kOperations;
};

TEST_F(Operations, OnOneTier) {
  const Scratch pool;
  run([&] { return std::move(OptionsOf().pool(pool.path(), 20 * kSegment).segments(kSegment).keep().process_only()); },
      {kWords}, 0);
}

TEST_F(Operations, OnMemoryAboveFiles) {
  const Scratch pool, below("/tmp");
  run(
      [&] {
        return std::move(OptionsOf()
                             .pool(pool.path(), 5 * kSegment)
                             .shared(below.path(), 20 * kSegment)
                             .segments(kSegment)
                             .keep()
                             .process_only());
      },
      {kWords}, 1);
}

TEST_F(Operations, OnThreeTiers) {
  const Scratch pool("/tmp"), middle, below("/tmp");
  run(
      [&] {
        return std::move(OptionsOf()
                             .pool(pool.path(), 4 * kSegment)
                             .pool(middle.path(), 6 * kSegment)
                             .shared(below.path(), 15 * kSegment)
                             .segments(kSegment)
                             .keep()
                             .process_only());
      },
      {kWords}, 2);
}

TEST_F(Operations, OnEncodedStates) {
  const Scratch pool, below("/tmp");
  run(
      [&] {
        return std::move(OptionsOf()
                             .pool(pool.path(), 5 * kSegment)
                             .shared(below.path(), 10 * kSegment)
                             .segments(kSegment)
                             .keep()
                             .process_only());
      },
      {kWords, 1e-4}, 3);
}

}  // namespace
}  // namespace forebay::operations_test
