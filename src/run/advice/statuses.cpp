#include "run/advice/statuses.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/shell.h"

namespace forebay::advice {
namespace {

struct Row {
  int status;
  std::string_view means;
  std::string_view helps;  // {}: the case
};

// docs/exit-codes.md tells more of each below its table.
constexpr std::array rows{
    Row{0, "the program ended well, and everything it left is on the case, whole and verified", ""},
    Row{1, "something failed that has no status of its own; the message says what", ""},
    Row{2,
        "the command line, the configuration or the case is not usable; nothing was touched: "
        "mend what the message names, and run again",
        ""},
    Row{3, "*undrained*: data is still only local",
        "when the cause that is named is gone, `forebay drain --resume --case {}` on that node"},
    Row{4,
        "*lost*: data that the run made is gone; what was whole elsewhere came home, and nothing was removed from the "
        "case",
        "go on from the time that is safe; where the pool that is named can be brought back, `forebay drain "
        "--resume --case {}` brings home what it holds"},
    Row{5, "*conflict*: the case changed under the run, or something that the program removed is still there",
        "compare the two and keep one: `find {} -name '*.forebay-*'` lists the run's versions"},
    Row{6, "*pool full*: a pool ran full while the program wrote, or its device or a quota failed it",
        "run again with a larger pool (`--pool`, `--budget`), or write less often: `forebay doctor --case "
        "{}` shows the pools"},
    Row{7, "*busy*: another run holds the case, or a dead one left it unfinished",
        "`forebay status --case {}`, from any host; wait, resume on its nodes, or clean"}};

// "{}" of `helps` is the case.
std::string with_case(std::string_view helps, const std::string& name) {
  std::string text(helps);
  if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, name);
  return text;
}

}  // namespace

std::string statuses_as_markdown() {
  std::string text = "| status | means | what to do |\n|---|---|---|\n";
  for (const Row& row : rows)
    text += fmt::format("| {} | {} | {} |\n", row.status, row.means, with_case(row.helps, "DIR"));
  return text;
}

std::string what_helps(Code trouble, const std::string& case_path) {
  for (const Row& row : rows)
    if (row.status == static_cast<int>(trouble)) return with_case(row.helps, shell_word(case_path));
  return {};
}

}  // namespace forebay::advice
