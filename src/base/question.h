// Asking what may never answer: a file system whose server is dead, a directory of users that cannot be reached. A
// child of this process asks, and is left alone where it takes too long: not even SIGKILL ends a process in a request
// that a server has read and does not answer.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/file.h"

namespace forebay {

class Question {
 public:
  // `find` runs in the child, which has nothing of this process open but what is `kept`. It must not wait for another
  // thread's locks.
  static Result<Question> ask(const std::function<std::string()>& find, int kept = -1);
  Question(Question&& other) noexcept;
  Question& operator=(Question&& other) noexcept;
  ~Question();

  // Becomes readable when there is more of the answer.
  int descriptor() const { return answers_.get(); }
  // Takes in what is there; true once nothing more will come.
  bool is_over();
  // The same, once that is so or this moment has come.
  bool is_over_by(Clock::time_point until, Clock& clock);
  // The whole answer, of one that is over; nullopt where the child died before.
  std::optional<std::string> answer() const;

 private:
  Question(pid_t child, Descriptor answers) : child_(child), answers_(std::move(answers)) {}
  void leave();

  pid_t child_ = -1;
  Descriptor answers_;
  std::string text_;
  bool over_ = false;
};

// The answer, where it comes in time.
std::optional<std::string> ask(const std::function<std::string()>& find, std::chrono::milliseconds at_most,
                               Clock& clock, int kept = -1);

}  // namespace forebay
