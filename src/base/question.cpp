#include "base/question.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/pulse.h"
#include "base/text.h"

namespace forebay {
namespace {

constexpr char end_of_answer = '\x04';

// A reader of what this process prints would otherwise wait for the child, too.
void close_all_but(std::initializer_list<int> kept) {
  if (const int null = ::open("/dev/null", O_RDWR); null >= 0)
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, standard);
  const auto entries = list_directory("/proc/self/fd");
  if (!entries) return;
  for (const DirectoryEntry& entry : *entries)
    if (const auto number = parse_integer(entry.name);
        number && *number > STDERR_FILENO && std::ranges::find(kept, *number) == kept.end())
      ::close(static_cast<int>(*number));
}

}  // namespace

Result<Question> Question::ask(const std::function<std::string()>& find, int kept) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno_error("cannot make a pipe", "");
  Descriptor in(ends[0]), out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return errno_error("cannot start a process", "");
  if (child == 0) {
    Pulse::tell_no_calls();
    close_all_but({out.get(), kept});
    (void)write_all(out.get(), find() + end_of_answer, "");
    ::_exit(0);
  }
  (void)::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  return Question(child, std::move(in));
}

Question::Question(Question&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      answers_(std::move(other.answers_)),
      text_(std::move(other.text_)),
      over_(other.over_) {}

Question& Question::operator=(Question&& other) noexcept {
  leave();
  child_ = std::exchange(other.child_, -1);
  answers_ = std::move(other.answers_);
  text_ = std::move(other.text_);
  over_ = other.over_;
  return *this;
}

Question::~Question() {
  leave();
}

bool Question::is_over() {
  std::array<char, 1 << 14> part{};
  while (!over_) {
    const ssize_t got = ::read(answers_.get(), part.data(), part.size());
    if (got > 0) {
      text_.append(part.data(), static_cast<std::size_t>(got));
      over_ = text_.ends_with(end_of_answer);
    } else if (got == 0) {
      over_ = true;
    } else if (errno != EINTR) {
      break;
    }
  }
  return over_;
}

bool Question::is_over_by(Clock::time_point until, Clock& clock) {
  while (!is_over()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock.now());
    pollfd wait{answers_.get(), POLLIN, 0};
    if (left.count() <= 0 || (clock.poll({&wait, 1}, left) == 0 && clock.now() >= until)) return false;
  }
  return true;
}

std::optional<std::string> Question::answer() const {
  if (!over_ || !text_.ends_with(end_of_answer)) return std::nullopt;
  return text_.substr(0, text_.size() - 1);
}

void Question::leave() {
  if (child_ < 0) return;
  // A child that has answered is about to end, and waits for nothing.
  if (!answer()) ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, answer() ? 0 : WNOHANG) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

std::optional<std::string> ask(const std::function<std::string()>& find, std::chrono::milliseconds at_most,
                               Clock& clock, int kept) {
  auto question = Question::ask(find, kept);
  if (!question) return std::nullopt;
  if (!question->is_over_by(clock.now() + at_most, clock)) return std::nullopt;
  return question->answer();
}

}  // namespace forebay
