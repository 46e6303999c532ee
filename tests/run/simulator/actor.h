// An actor of the simulated world: a script of blocks. A block is done at once; between two steps anything else may
// happen, and the actor may die. What a block plans comes before what was planned earlier.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace forebay::simulator {

class Actor {
 public:
  enum class Kind { rank, thread, child, agent, resume };

  Actor(Kind kind, int owner) : kind_(kind), owner_(owner) {}
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  Kind kind() const { return kind_; }
  int owner() const { return owner_; }  // a rank, or a node for agents

  // One step; false when the script has ended.
  bool step() {
    while (!script_.empty()) {
      const Block block = std::move(script_.front());
      script_.pop_front();
      const Next next = block();
      script_.insert(script_.begin(), planned_.begin(), planned_.end());
      planned_.clear();
      if (next == Next::pause) return true;
    }
    return false;
  }

 protected:
  enum class Next { pause, go_on };
  using Block = std::function<Next()>;

  void then(Block block) { planned_.push_back(std::move(block)); }
  // A block without a step of its own.
  template <class Action>
  void then_at_once(Action action) {
    then([action] {
      action();
      return Next::go_on;
    });
  }
  // A block that ends a step.
  template <class Action>
  void then_step(Action action) {
    then([action] {
      action();
      return Next::pause;
    });
  }
  template <class Condition>
  void wait_while(Condition condition) {
    then([this, condition] {
      if (!condition()) return Next::go_on;
      wait_while(condition);
      return Next::pause;
    });
  }
  void pauses(int count) {
    for (int i = 0; i < count; ++i) then([] { return Next::pause; });
  }
  // The first blocks of a script, planned when the actor is made.
  void begin() {
    script_.insert(script_.end(), planned_.begin(), planned_.end());
    planned_.clear();
  }

 private:
  Kind kind_;
  int owner_;
  std::deque<Block> script_;
  std::vector<Block> planned_;
};

}  // namespace forebay::simulator
