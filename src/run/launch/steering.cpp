#include "run/launch/steering.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "run/openfoam/stop_at.h"

namespace forebay::launch {
namespace {

std::optional<tree::Copied> file_at(const std::string& path) {
  const auto status = status_of(path);
  if (!status || !S_ISREG(status->st_mode)) return std::nullopt;
  return tree::Copied{status->st_ino, identity_of(*status).ctime_ns};
}

Result<bool> stop(const Asked& asked, drain::Drain& drain) {
  if (!asked.control) return forward(asked.control);
  return drain.change_input(control_dict, *asked.control, [&](const std::string& text) {
    return openfoam::with_stop_at(text, asked.request.now ? "writeNow" : "nextWrite", control_dict);
  });
}

}  // namespace

bool Steering::act(drain::Drain& drain, const std::string& tree, NodeReport& report) {
  if (!asked_) return false;
  const auto done = stop(*asked_, drain);
  if (done && !*done) return false;
  report.answer = {asked_->request.name, done ? std::string() : done.error().text()};
  if (done) put_ = file_at(join(tree, control_dict));
  asked_.reset();
  return true;
}

bool Steering::was_rewritten(const std::string& tree) const {
  return put_ && file_at(join(tree, control_dict)) != put_;
}

std::string text_of_rewritten() {
  return fmt::format(
      "the program itself wrote {} after `forebay stop`, so the case has the program's version: see what its stopAt is "
      "before the next run",
      control_dict);
}

}  // namespace forebay::launch
