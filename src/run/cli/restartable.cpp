// forebay restartable: from which output time of a case a solver can be started again.
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/say.h"
#include "run/advice/commands.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/contract/text.h"
#include "run/core/restartable.h"
#include "run/launch/plan.h"
#include "run/openfoam/case_times.h"
#include "run/openfoam/openfoam.h"

namespace forebay::cli {
namespace {

using nlohmann::json;

constexpr const char* aside_name = "forebay-set-aside";

struct RestartableOptions {
  std::string case_path = ".";
  bool set_aside = false, json = false;
};

// The findings about one time.
struct Judged {
  std::string time;
  bool restartable = false;
  core::Lacks lacks;       // required names; of an older restart point: what the newest one has not
  core::NamesOfRanks cut;  // files that are there, and cut
};

struct CaseReport {
  std::string case_path;
  std::optional<std::string> newest;
  core::NamesOfRanks cut;              // files of the newest that are there, and cut: a solver stops where it reads one
  std::vector<Judged> newer;           // than the newest restartable one, which they are not; all where there is none
  std::vector<Judged> older;           // restartable, with files that the newest lacks
  std::vector<std::string> set_aside;  // new names of directories and files, relative to the case
};

core::NamesOfRanks plain(const openfoam::RankNames& names) {
  core::NamesOfRanks plain;
  for (const auto& [rank, of_rank] : names) {
    plain[rank];
    for (const std::string& name : of_rank) plain[rank].insert(core::plain_name(name));
  }
  return plain;
}

// Reads the files of a time only when it is asked for that time; of others those that tell how its files are to be
// judged.
class CaseReader {
 public:
  // `found` must outlive it.
  CaseReader(std::string case_path, const openfoam::CaseTimes& found) : path_(std::move(case_path)), found_(found) {
    for (const auto& [time, names] : found_.times) order_.push_back(time);
    std::ranges::sort(order_, openfoam::time_less);
    core::Written written;
    std::optional<core::Spread> start;
    for (const std::string& time : order_) {
      const core::NamesOfRanks names = plain(found_.times.at(time));
      if (is_start(time)) {
        start = core::spread_of(names);
      } else {
        written.add(time, names);
      }
    }
    required_ = core::Required::of(start, written);
  }

  // The order is from the oldest to the newest.
  const std::vector<std::string>& order() const { return order_; }

  bool is_start(const std::string& time) const { return time == found_.start; }

  Judged judge(const std::string& time) {
    Judged judged{time, false, {}, cut_in(time)};
    const core::NamesOfRanks names = whole_names(time, judged.cut);
    const core::Required required = is_start(time) ? of_start(time) : required_;
    judged.restartable = core::is_restartable(names, required);
    judged.lacks = core::lacks(names, required);
    return judged;
  }

  core::NamesOfRanks whole_names(const std::string& time, const core::NamesOfRanks& cut) const {
    core::NamesOfRanks names = plain(found_.times.at(time));
    for (const auto& [rank, of_rank] : cut)
      for (const std::string& name : of_rank) names[rank].erase(name);
    return names;
  }

 private:
  // The files of 0/ may be written by hand, without OpenFOAM's closing line.
  core::NamesOfRanks cut_in(const std::string& time) {
    if (is_start(time) && time == "0") return {};
    const auto endings = endings_of(time, [](const std::string&) { return true; });
    core::Names doubtful;
    for (const auto& [rank, of_rank] : endings) {
      habits_.add(time, of_rank);
      for (const auto& [name, ending] : of_rank)
        if (ending == openfoam::Ending::unclosed || ending == openfoam::Ending::empty) doubtful.insert(name);
    }
    compare(doubtful);
    core::NamesOfRanks cut;
    for (const auto& [rank, of_rank] : endings)
      for (const auto& [name, ending] : of_rank)
        if (habits_.is_cut(name, ending)) cut[rank].insert(name);
    return cut;
  }

  // Compares how the files of these names end in all times.
  void compare(core::Names names) {
    std::erase_if(names, [&](const std::string& name) { return !compared_.insert(name).second; });
    if (names.empty()) return;
    for (const std::string& time : order_)
      for (const auto& [rank, of_rank] :
           endings_of(time, [&](const std::string& name) { return names.contains(name); }))
        habits_.add(time, of_rank);
  }

  template <class Wanted>
  std::map<int, openfoam::Endings> endings_of(const std::string& time, const Wanted& wanted) const {
    std::map<int, openfoam::Endings> plain;
    const auto found = openfoam::endings_of(path_, found_, time,
                                            [&](const std::string& name) { return wanted(core::plain_name(name)); });
    for (const auto& [rank, of_rank] : found)
      for (const auto& [name, ending] : of_rank) plain[rank].emplace(core::plain_name(name), ending);
    return plain;
  }

  // The run has started from it. Where it only is the oldest time that is left, it may have been cut like any other.
  core::Required of_start(const std::string& time) const {
    const core::Spread spread = core::spread_of(plain(found_.times.at(time)));
    return core::Required::all_of(spread);
  }

  const std::string path_;
  const openfoam::CaseTimes& found_;
  std::vector<std::string> order_;
  core::Required required_;
  openfoam::Habits habits_;
  core::Names compared_;  // with the files of all times
};

CaseReport report_on(const std::string& case_path, CaseReader reader) {
  constexpr std::size_t most_older = contract::most_restart_points - 1;
  CaseReport report;
  report.case_path = case_path;
  std::vector<core::NamesOfRanks> restartable;  // the newest first
  const auto superseded = [&](const core::NamesOfRanks& names) {
    return std::ranges::any_of(restartable,
                               [&](const core::NamesOfRanks& newer) { return core::lacks(newer, names).nothing(); });
  };
  for (auto time = reader.order().rbegin(); time != reader.order().rend() && report.older.size() < most_older; ++time) {
    if (!report.newest) {
      Judged judged = reader.judge(*time);
      if (judged.restartable) {
        report.newest = judged.time;
        report.cut = judged.cut;
        restartable.push_back(reader.whole_names(*time, judged.cut));
      } else {
        report.newer.push_back(std::move(judged));
      }
      continue;
    }
    // The run had what the start time has. Later times are opened only where their names say that they have something.
    if (reader.is_start(*time) || superseded(reader.whole_names(*time, {}))) continue;
    Judged judged = reader.judge(*time);
    core::NamesOfRanks names = reader.whole_names(*time, judged.cut);
    if (!judged.restartable || superseded(names)) continue;
    judged.lacks = core::lacks(restartable.front(), names);
    restartable.push_back(std::move(names));
    report.older.push_back(std::move(judged));
  }
  return report;
}

std::string where_rank_writes(int rank) {
  return rank < 0 ? "the case" : contract::name_of_rank(rank);
}

// "p, phi on processor1; U on processor2".
std::string text_of(const core::Lacks& lacks) {
  constexpr std::size_t most_named = 6;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const auto& [rank, names] : lacks.on_rank)
    add(fmt::format("{} on {}", listed(names, most_named), where_rank_writes(rank)));
  if (!lacks.on_all_ranks.empty()) add(listed(lacks.on_all_ranks, most_named) + " on every rank");
  return text;
}

void print_text(const CaseReport& report) {
  fmt::print("{}\n", printable(report.case_path));
  fmt::print("  {:<26}{}\n", "newest restartable time", report.newest.value_or("none"));
  if (!report.cut.empty()) fmt::print("  {:<26}{}\n", "cut in it", text_of({report.cut, {}}));
  for (const Judged& each : report.newer) {
    const std::string lacks = text_of(each.lacks);
    fmt::print("  {:<26}time {} {}{}\n", report.newest ? "newer, not restartable" : "not restartable", each.time,
               lacks.empty() ? "cannot be compared with other times" : "lacks " + lacks,
               each.cut.empty() ? "" : " (cut: " + text_of({each.cut, {}}) + ")");
  }
  for (const Judged& each : report.older)
    fmt::print("  {:<26}time {} is restartable, too, and has {}, which time {} lacks\n", "older", each.time,
               text_of(each.lacks), *report.newest);
  for (const std::string& path : report.set_aside) fmt::print("  {:<26}{}\n", "set aside as", printable(path));
  if (!report.newest || !report.set_aside.empty()) return;
  if (!report.newer.empty())
    fmt::print(
        "  startFrom latestTime would take time {}: `forebay restartable --set-aside` moves the newer times away\n",
        report.newer.front().time);
  if (!report.cut.empty())
    fmt::print("  a solver stops where it reads a cut file: `forebay restartable --set-aside` moves those away\n");
}

json json_of(const core::NamesOfRanks& names) {
  json object = json::object();
  for (const auto& [rank, of_rank] : names) object[rank < 0 ? "case" : contract::name_of_rank(rank)] = of_rank;
  return object;
}

json json_of(const Judged& judged) {
  json lacks = json_of(judged.lacks.on_rank);
  if (!judged.lacks.on_all_ranks.empty()) lacks["every rank"] = judged.lacks.on_all_ranks;
  return {{"time", judged.time}, {"restartable", judged.restartable}, {"lacks", lacks}, {"cut", json_of(judged.cut)}};
}

void print_json(const CaseReport& report) {
  json newer = json::array(), older = json::array();
  for (const Judged& each : report.newer) newer.push_back(json_of(each));
  for (const Judged& each : report.older) {
    json one = json_of(each);
    one["has"] = one["lacks"];
    one.erase("lacks");
    older.push_back(one);
  }
  const json record{{"forebay_version", FOREBAY_VERSION},
                    {"case", escape(report.case_path)},
                    {"restartable", report.newest ? json(*report.newest) : json()},
                    {"cut", json_of(report.cut)},
                    {"newer", newer},
                    {"older", older},
                    {"set_aside", report.set_aside}};
  fmt::print("{}\n", record.dump(1));
}

// Below `base`, in the directory for what is set aside, under the path `name` or, where that is taken, "<name>.1" and
// so on. Nothing is replaced.
Result<std::string> move_aside(const std::string& from, const std::string& base, const std::string& name) {
  constexpr int most_names = 10'000;
  const std::string directory(parent_of(join(join(base, aside_name), name)));
  for (std::size_t end = base.size(); end != std::string::npos;) {
    end = directory.find('/', end + 1);
    const std::string part = directory.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) return errno_error("cannot make directory", part);
  }
  for (int number = 0; number < most_names; ++number) {
    const std::string to =
        join(directory, number == 0 ? std::string(name_of(name)) : fmt::format("{}.{}", name_of(name), number));
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return to;
    // Some shared file systems know no RENAME_NOREPLACE. A directory never replaces one that is not empty.
    const bool unknown = errno == EINVAL && !name_exists(to);
    if (unknown && ::rename(from.c_str(), to.c_str()) == 0) return to;
    if (errno != EEXIST && errno != ENOTEMPTY && errno != EINVAL) return errno_error("cannot set aside", from);
  }
  return error(Code::failed, "too many of this name are set aside already:", directory);
}

// Sets aside a directory of a time of the case, or a file below one ("processor3/0.1/phi").
Status set_aside(CaseReport& report, const std::string& path) {
  const std::string from = join(report.case_path, path);
  auto moved = move_aside(from, report.case_path, path);
  // A rank's directory may be a link to another file system: then it is set aside there.
  const std::size_t holder = path.find('/');
  if (!moved && moved.error().errno_value == EXDEV && holder != std::string::npos)
    moved = move_aside(from, join(report.case_path, path.substr(0, holder)), path.substr(holder + 1));
  if (!moved) return forward(moved);
  report.set_aside.push_back(moved->substr(report.case_path.size() + 1));
  return {};
}

// Newer times, and of the newest restartable one the files that are cut on any rank: on all ranks, which then agree.
Status set_aside(CaseReport& report, const openfoam::CaseTimes& found) {
  for (const Judged& each : report.newer)
    for (const std::string& directory : openfoam::directories_of_time(report.case_path, found, each.time))
      if (auto done = set_aside(report, directory); !done) return done;
  for (const std::string& directory : openfoam::directories_of_time(report.case_path, found, *report.newest))
    for (const std::string& name : core::spread_of(report.cut).on_some_rank)
      for (const std::string& file : {join(directory, name), join(directory, name + ".gz")})
        if (name_exists(join(report.case_path, file)))
          if (auto done = set_aside(report, file); !done) return done;
  return {};
}

int restartable(const RestartableOptions& options) {
  auto case_path = real_path(options.case_path);
  struct stat status {};
  if (case_path && ::stat(case_path->c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    errno = ENOTDIR;
    case_path = errno_error("cannot read a case in", *case_path);
  }
  if (!case_path) {
    case_path.error().code = Code::bad_input;
    case_path.error().advice = "name the directory of a case with --case";
    return failed(case_path.error());
  }
  const auto found = openfoam::times_of_case(*case_path);
  if (!found) return failed(found.error());
  if (found->times.empty() && !name_exists(join(*case_path, "system/controlDict")))
    return failed({Code::bad_input, "no case here, neither system/controlDict nor a time:", *case_path, 0,
                   "name the directory of a case with --case"});
  const auto run = launch::read_plan(*case_path);
  if (run && options.set_aside)
    return failed(error(Code::busy, "run " + run->run + " works on this case or has left its mark there:", *case_path,
                        "wait for its end, or " + advice::resume(*case_path) + ": it may bring home newer times")
                      .value());
  if (run)
    say(stderr,
        "forebay: run {} works on this case or has left its mark there: what it has not brought home yet is not seen\n",
        run->run);
  CaseReport report = report_on(*case_path, CaseReader(*case_path, *found));
  if (options.set_aside && report.newest)
    if (auto moved = set_aside(report, *found); !moved) return failed(moved.error());
  if (options.json) {
    print_json(report);
  } else {
    print_text(report);
  }
  return report.newest ? 0 : static_cast<int>(Code::undrained);
}

}  // namespace

void add_restartable(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<RestartableOptions>();
  CLI::App* command = app.add_subcommand(
      "restartable", "name the newest output time from which the solver of an OpenFOAM case can be started again");
  command->add_option("--case", options->case_path, "the case")->capture_default_str()->type_name("DIR");
  command->add_flag(
      "--set-aside", options->set_aside,
      std::string("move newer times, which are not restartable, and cut files of the newest one that is, into ") +
          aside_name + "/ of the case, so that startFrom latestTime works; nothing is removed");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      footer({"forebay restartable", "forebay restartable --case /shared/motorBike --set-aside"},
             {"A time is restartable when every rank has, whole, the files that the run's start time had and "
              "that the run writes. The case may be decomposed, collated or in one piece, and need not have "
              "been run by forebay.",
              "Exit status: 0 when there is such a time, 2 where there is no case, 3 when there is no such time, 7 "
              "when --set-aside is asked "
              "for while a run of forebay holds the case."}));
  command->callback([options, &exit_status] { exit_status = restartable(*options); });
}

}  // namespace forebay::cli
