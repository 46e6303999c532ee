#include "run/openfoam/stop_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "run/openfoam/dictionary_reader.h"
#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

constexpr const char* by_hand =
    "write `stopAt` into it by hand, and take it out again before the next run; or end the run by a signal";

// As OpenFOAM's Switch takes it; a number is true unless it is 0.
bool is_on(std::string_view word) {
  constexpr std::array words{"yes", "on", "true", "y", "t"};
  return std::ranges::find(words, word) != words.end() || parse_integer(word).value_or(0) != 0;
}

bool keeps_last_entry(std::string_view directive) {
  if (!directive.starts_with("#inputMode")) return true;
  const auto has = [&](std::string_view mode) { return directive.find(mode) != std::string_view::npos; };
  return has("merge") || has("overwrite") || has("default");
}

// Goes through a whole controlDict.
class Control {
 public:
  Control(std::string_view text, const std::string& path) : reader_(text), path_(path) {}

  Status read() {
    for (;;) {
      line_ = reader_.line();
      reader_.skip_space_and_comments();
      if (reader_.was_cut_off()) return not_understood("what begins there, or behind it, has no end");
      if (reader_.at_end()) break;
      line_ = reader_.line();
      if (auto taken = reader_.front() == '#' ? directive() : entry(); !taken) return taken;
      if (reader_.was_cut_off()) return not_understood("what begins there has no end");
    }
    if (conditions_ > 0) return not_understood("an #if has no #endif");
    return {};
  }

  Status expect_read_again() const {
    const auto is_off = [&](const std::string& why) {
      return error(Code::bad_input, "the program does not read this again while it runs, " + why + ":", path_,
                   "write `runTimeModifiable yes;` there before the next run; this one ends at its endTime, or by a "
                   "signal");
    };
    if (inotify_)
      return is_off(
          fmt::format("since fileModificationChecking is inotify (line {}), which sees no other file", *inotify_));
    if (!modifiable_ && included_)
      return error(Code::bad_input,
                   fmt::format("whether runTimeModifiable is on may be said in what line {} brings in, which is not "
                               "read here:",
                               *included_),
                   path_,
                   "write `runTimeModifiable yes;` into it before the next run; for this one, " + std::string(by_hand));
    if (!modifiable_) return is_off("since runTimeModifiable is not there, and so off");
    if (!modifiable_->literal)
      return error(Code::bad_input,
                   fmt::format("only OpenFOAM can evaluate runTimeModifiable in line {}:", modifiable_line_), path_,
                   by_hand);
    if (!is_on(modifiable_->text))
      return is_off(fmt::format("since runTimeModifiable is {} (line {})", modifiable_->text, modifiable_line_));
    return {};
  }

 private:
  Status not_understood(const std::string& why) const {
    return error(Code::bad_input, fmt::format("this is not changed, since line {} is not understood ({}):", line_, why),
                 path_, by_hand);
  }

  Status directive() {
    const std::string_view line = reader_.skip_line();
    if (line.starts_with("#if")) ++conditions_;
    if (line.starts_with("#endif") && --conditions_ < 0) return not_understood("no #if is open");
    if (line.starts_with("#eof")) return not_understood("what follows is not read");
    if (!keeps_last_entry(line)) return not_understood("an entry that comes later would not count");
    const bool includes = line.starts_with("#include") || line.starts_with("#sinclude");
    if (includes && !line.starts_with("#includeFunc")) included_ = line_;
    return {};
  }

  Status entry() {
    const char c = reader_.front();
    if (c == ';') {
      reader_.take();
      return {};
    }
    const std::string_view keyword = c == '"' ? reader_.take_string() : reader_.take_word();
    if (keyword.empty()) return not_understood(fmt::format("`{}` stands alone", c));
    if (keyword.front() == '$') return {};  // merges a dictionary
    const std::string_view before = reader_.rest();
    Value value = reader_.take_value();
    const std::string_view whole = before.substr(0, before.size() - reader_.rest().size());
    if (keyword == "OptimisationSwitches" && whole.find('{') != std::string_view::npos) {
      const auto checking = dictionary_entry(whole.substr(whole.find('{') + 1), "fileModificationChecking");
      if (checking && checking->starts_with("inotify")) inotify_ = line_;
    }
    if (keyword != "runTimeModifiable") return {};
    if (conditions_ > 0) value.literal = false;
    modifiable_ = std::move(value);
    modifiable_line_ = line_;
    return {};
  }

  Reader reader_;
  const std::string& path_;
  std::size_t line_ = 1, modifiable_line_ = 0;
  int conditions_ = 0;
  std::optional<Value> modifiable_;
  std::optional<std::size_t> included_, inotify_;
};

}  // namespace

Result<std::string> with_stop_at(std::string_view control, std::string_view how, const std::string& path) {
  Control read(control, path);
  if (auto understood = read.read(); !understood) return forward(understood);
  if (auto again = read.expect_read_again(); !again) return forward(again);
  return fmt::format("{}\n// By `forebay stop`, for this run only: the case's own file is as it was.\nstopAt {};\n",
                     control, how);
}

}  // namespace forebay::openfoam
