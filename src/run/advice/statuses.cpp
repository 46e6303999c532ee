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
  std::string_view more;   // in the page only
};

constexpr std::array rows{
    Row{0, "the program ended well, and everything it left is on the case, whole and verified", "", ""},
    Row{1, "something failed that has no status of its own; the message says what", "", ""},
    Row{2, "the command line, the configuration or the case is not usable; nothing was touched", "",
        "read the message, mend, run again"},
    Row{3,
        "*undrained*: data is still only local (also while a node is silent, and what you may not read "
        "yourself)",
        "when the cause that is named is gone, `forebay drain --resume --case {}` on that node",
        "Where you interrupted `forebay run` while it drained, the same command brings home the rest; with a "
        "launcher, or interrupted twice, the drain goes on meanwhile: `forebay status --watch` "
        "shows it, and when all is home the same command on the host of `forebay run` removes the mark on "
        "the case. Where the message names processes that still had files open for writing, end them or let "
        "them finish first. Where a message names a pool that is not mounted, mount it first: all else is "
        "home. Where a message names a file or directory that cannot be read, make it readable (chmod) at "
        "the path that it tells and resume, or throw away this one with `forebay clean --case DIR --drop "
        "PATH`, and resume; all else is on the case, but nothing that the program removed is removed there "
        "before"},
    Row{4,
        "*lost*: data that the run made is gone (a pool was emptied, files were removed from a dead run's pool, "
        "a journal is damaged or gone, a staged checkpoint has changed since it was staged, `forebay clean` was told "
        "to throw it away); what was "
        "whole elsewhere came home, and nothing was removed from the case",
        "go on from the time that is safe; where the pool that is named can be brought back, `forebay drain "
        "--resume --case {}` brings home what it holds",
        "The message names the pool, the summary what is safe. What lies in a pool beside a journal that is "
        "damaged or gone can be copied from there by hand. When you need no more of it, `forebay clean "
        "--case DIR --throw-away --throw-away` on that node, which lists what goes and asks (remove a "
        "directory that it names first): until then a new run is refused with 7"},
    Row{5,
        "*conflict*: the case changed under the run; both versions are kept, the run's beside yours as "
        "`NAME.forebay-RUN`. Or what the program removed is still there, since events of files were lost (the "
        "limits are fs.inotify.max_queued_events and fs.inotify.max_user_watches), or since by `path` nothing above "
        "the case is removed",
        "compare the two and keep one: `find {} -name '*.forebay-*'` lists the run's versions",
        "What the program had removed, remove yourself: the message names it"},
    Row{6,
        "*pool full*: a pool ran full while the program wrote, or its device or a quota failed it. The "
        "message counts the calls that failed and names the first file, with the reason, as far as the "
        "library saw them ([redirect.md](run/redirect.md), *Writes that fail*). It stays 6 when the program "
        "saw the error and wrote again with success. Times that were open then are not called complete",
        "run again with a larger pool (`--pool`, `--budget`), or write less often: `forebay doctor --case "
        "{}` shows the pools",
        "Look at the file that is named. Where the reason is *Input/output error*: another device (`--pool`)"},
    Row{7, "*busy*: another run holds the case, or a dead one left it unfinished",
        "`forebay status --case {}`, from any host; wait, resume on its nodes, or clean", ""}};

// "{}" of `helps` is the case.
std::string with_case(std::string_view helps, const std::string& name) {
  std::string text(helps);
  if (const std::size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, name);
  return text;
}

}  // namespace

std::string statuses_as_markdown() {
  std::string text = "| status | means | what to do |\n|---|---|---|\n";
  for (const Row& row : rows) {
    const std::string helps = with_case(row.helps, "DIR");
    text += fmt::format("| {} | {} | {}{}{} |\n", row.status, row.means, helps,
                        helps.empty() || row.more.empty() ? "" : ". ", row.more);
  }
  return text;
}

std::string what_helps(Code trouble, const std::string& case_path) {
  for (const Row& row : rows)
    if (row.status == static_cast<int>(trouble)) return with_case(row.helps, shell_word(case_path));
  return {};
}

}  // namespace forebay::advice
