#include "run/advice/commands.h"

#include "base/shell.h"

namespace forebay::advice {

std::string resume(const std::string& case_path) {
  return "`forebay drain --resume --case " + shell_word(case_path) + "`";
}

std::string status(const std::string& case_path) {
  return "`forebay status --case " + shell_word(case_path) + "`";
}

std::string clean(const std::string& case_path) {
  return "`forebay clean --case " + shell_word(case_path) + "`";
}

std::string throw_away(const std::string& case_path) {
  const std::string of = case_path.empty() ? "" : " --case " + shell_word(case_path);
  return "`forebay clean" + of + " --throw-away --throw-away`";
}

std::string drop(const std::string& case_path, const std::string& path) {
  return "`forebay clean --case " + shell_word(case_path) + " --drop" + (path.starts_with('-') ? "=" : " ") +
         shell_word(path) + "`";
}

}  // namespace forebay::advice
