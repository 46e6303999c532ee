#include "run/launch/stage_ahead.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "run/advice/commands.h"
#include "run/contract/text.h"
#include "run/launch/kept_sets.h"
#include "run/launch/plan.h"
#include "run/launch/pool_run.h"
#include "run/node/node.h"
#include "run/openfoam/openfoam.h"
#include "run/tree/tree.h"
#include "run/tree/warm.h"

namespace forebay::launch {
namespace {

constexpr std::chrono::milliseconds progress_interval{200};
constexpr const char* index_name = "index";

struct Part {
  tree::StageRequest request;
  tree::Inputs inputs;
};
// The part of the case that one pool gets.
struct Share {
  std::string pool, directory;
  std::uint64_t room = 0;
  Descriptor lock;
  std::vector<Part> parts;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts) sum += part.inputs.copy_bytes;
    return sum;
  }
};

std::vector<std::string> times_in(const std::string& directory) {
  std::vector<std::string> times;
  if (const auto entries = list_directory(directory))
    for (const DirectoryEntry& entry : *entries)
      if (openfoam::is_time_name(entry.name)) times.push_back(entry.name);
  return times;
}

// The files that a run reads. A decomposed case is read from the ranks' directories, constant and system, but not the
// mesh in one piece; another case is read whole. The run reads no time but the one that it starts from.
class Selection {
 public:
  Selection(const AheadRequest& request, const std::string& case_path, const openfoam::CaseFacts& facts)
      : request_(request), facts_(facts), decomposed_(facts.is_case && facts.ranks > 0) {
    const auto control = facts.is_case ? read_file(join(case_path, "system/controlDict")) : Result<std::string>("");
    const std::string first = decomposed_ ? "processor0" : "";
    start_ = start_time(control ? *control : std::string(), times_in(join(case_path, first)));
  }

  // `below`: the part's own directory of a rank, or empty for what all ranks share.
  bool leaves_out(const std::string& path, const std::string& below) const {
    if (tree::matches_any(request_.settings.stage.direct, path)) return true;
    if (!facts_.is_case) return false;
    const std::string top = path.substr(0, path.find('/'));
    if (decomposed_ && below.empty())
      return (top != "system" && top != "constant") || is_below(path, "constant/polyMesh");
    const auto time = openfoam::time_path(path);
    return time && time->time != start_;
  }

 private:
  const AheadRequest& request_;
  const openfoam::CaseFacts& facts_;
  const bool decomposed_;
  std::string start_;
};

Result<std::string> resolve(const std::string& typed) {
  auto real = real_path(typed);
  if (!real) return error(Code::bad_input, "no such case:", typed, "give the case's directory with --case");
  if (!leads_to_directory(*real))
    return error(Code::bad_input, "not a directory:", *real, "give the case's directory with --case");
  if (has_control_directory(*real))
    return error(Code::busy, "a run works on this case, or left it unfinished:", *real,
                 advice::status(*real) + " shows it");
  return real;
}

Result<std::optional<RankRange>> choose_ranks(const AheadRequest& request, const openfoam::CaseFacts& facts,
                                              const std::string& case_path) {
  if (!request.ranks)
    return facts.is_case && facts.ranks > 0 ? std::optional(RankRange{0, facts.ranks - 1, facts.ranks}) : std::nullopt;
  if (!facts.is_case || facts.ranks == 0)
    return error(Code::bad_input, "the case is not decomposed:", case_path, "leave --ranks out, or run decomposePar");
  if (request.ranks->all.value_or(facts.ranks) != facts.ranks || request.ranks->last >= facts.ranks)
    return error(
        Code::bad_input,
        fmt::format("{}, but the case is decomposed into {}:",
                    plural(static_cast<std::uint64_t>(request.ranks->all.value_or(request.ranks->last + 1)), "rank"),
                    facts.ranks),
        case_path, "give --ranks as many as it has, or leave it out");
  return request.ranks;
}

Share& share_of(std::vector<Share>& shares, const std::string& pool) {
  const auto found = std::ranges::find_if(shares, [&](const Share& share) { return share.pool == pool; });
  if (found != shares.end()) return *found;
  shares.emplace_back().pool = pool;
  return shares.back();
}

Status add_part(Share& share, const std::string& below, const AheadRequest& request, const std::string& case_path,
                const Selection& selection) {
  share.directory = ahead_directory(share.pool, case_path);
  Part part;
  part.request = {case_path,
                  below,
                  join(join(share.directory, ahead_tree_name), below),
                  case_path,
                  [&selection, below](const std::string& path) { return selection.leaves_out(path, below); },
                  [](const std::string&) { return true; },
                  request.settings.stage.threads};
  auto inputs = tree::list_inputs(part.request);
  if (!inputs) return forward(inputs);
  part.inputs = std::move(*inputs);
  // Only what will be a warm file, and the directories on the way to it.
  std::erase_if(part.inputs.entries, [](const tree::Entry& entry) { return entry.kind == tree::Kind::symlink; });
  share.parts.push_back(std::move(part));
  return {};
}

// Divides the files among the pools, as far as that can be known before the ranks run.
Result<std::vector<Share>> divide(const AheadRequest& request, const std::string& case_path,
                                  const std::optional<RankRange>& ranks, const Selection& selection) {
  const auto machine = node::observe();
  if (!machine) return forward(machine);
  const auto pools = node::choose_pools(*machine, request.settings.pool);
  if (!pools) return forward(pools);
  std::vector<Share> shares;
  for (const node::Pool& pool : *pools)
    share_of(shares, pool.path).room +=
        static_cast<std::uint64_t>(static_cast<double>(pool.budget) * request.settings.pool.low_water);
  if (auto added = add_part(shares.front(), "", request, case_path, selection); !added) return forward(added);
  if (ranks) {
    const int count = ranks->last - ranks->first + 1;
    const node::Placement placement =
        node::place_ranks({{machine->node, count}}, count, node::Order::by_core, *machine, *pools);
    for (int i = 0; i < count; ++i)
      if (auto added = add_part(share_of(shares, placement.ranks[static_cast<std::size_t>(i)].pool),
                                contract::name_of_rank(ranks->first + i), request, case_path, selection);
          !added)
        return forward(added);
  }
  std::erase_if(shares, [](const Share& share) { return share.parts.empty(); });
  for (const Share& share : shares)
    if (share.bytes() > share.room)
      return error(Code::bad_input,
                   fmt::format("{} to stage, but a run needs room too, so at most {} may be in the pool",
                               human_bytes(share.bytes()), human_bytes(share.room)),
                   share.pool, "a larger pool (--pool), fewer ranks (--ranks), or no staging: runs work without");
  return shares;
}

std::vector<tree::WarmFile> files_of(const Share& share) {
  std::vector<tree::WarmFile> files;
  for (const Part& part : share.parts)
    for (const tree::Entry& entry : part.inputs.entries)
      if (entry.kind == tree::Kind::copy)
        files.push_back({entry.path, join(join(share.directory, ahead_tree_name), entry.path), entry.identity});
  return files;
}

// A file that an interrupted stage left is kept only where it is a copy of the case's present one.
Status prepare_share(Share& share, const std::string& case_path, const std::vector<tree::WarmFile>& warm) {
  for (const std::string& each : {share.directory, join(share.directory, ahead_tree_name)})
    if (auto made = make_private_directory(each); !made) return made;
  auto lock = lock_ahead(share.directory);
  if (!lock) return forward(lock);
  share.lock = std::move(*lock);
  if (auto named = name_case(share.directory, case_path); !named) return named;
  const std::string index = join(share.directory, index_name);
  std::map<std::string, Identity> before;
  if (const auto text = read_file(index))
    for (const tree::WarmFile& file : tree::warm_from_index(*text)) before[file.path] = file.on_case;
  const std::vector<tree::WarmFile> files = files_of(share);
  for (const tree::WarmFile& file : files)
    if (const auto known = before.find(file.path); known == before.end() || known->second != file.on_case)
      ::unlink(file.local.c_str());
  if (auto written = replace_file(index, tree::index_of_warm(files)); !written) return written;
  for (const Part& part : share.parts) tree::bring_warm(warm, part.request, part.inputs);
  return {};
}

}  // namespace

Result<RankRange> parse_ranks(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_integer(text.substr(0, dash));
  const auto last = dash == std::string::npos ? std::nullopt : parse_integer(text.substr(dash + 1));
  constexpr std::int64_t most = 10'000'000;
  if (dash == std::string::npos && first && *first >= 1 && *first <= most)
    return RankRange{0, static_cast<int>(*first) - 1, static_cast<int>(*first)};
  if (first && last && *first >= 0 && *first <= *last && *last < most)
    return RankRange{static_cast<int>(*first), static_cast<int>(*last), std::nullopt};
  return error(Code::bad_input, fmt::format("--ranks cannot be \"{}\"", printable(text)), {},
               "give their number, or this node's first and last, for example 8-15");
}

std::string start_time(const std::string& control, const std::vector<std::string>& times) {
  if (times.empty()) return {};
  const auto [earliest, latest] = std::ranges::minmax_element(times, openfoam::time_less);
  const std::string from = openfoam::dictionary_entry(control, "startFrom").value_or("latestTime");
  if (from == "firstTime") return *earliest;
  if (from != "startTime") return *latest;
  const auto value = openfoam::dictionary_entry(control, "startTime");
  if (!value || !openfoam::is_time_name(*value)) return *latest;
  // OpenFOAM takes the nearest; "0.50" and "0.5" are one time.
  const double wanted = std::stod(*value);
  return *std::ranges::min_element(times, [&](const std::string& a, const std::string& b) {
    return std::abs(std::stod(a) - wanted) < std::abs(std::stod(b) - wanted);
  });
}

Result<AheadReport> stage_ahead(const AheadRequest& request, const std::function<void(const NodeReport&)>& progress,
                                Clock& clock) {
  const auto case_path = resolve(request.case_path);
  if (!case_path) return forward(case_path);
  const auto facts = openfoam::inspect(*case_path);
  if (!facts) return forward(facts);
  const auto ranks = choose_ranks(request, *facts, *case_path);
  if (!ranks) return forward(ranks);
  const Selection selection(request, *case_path, *facts);
  auto shares = divide(request, *case_path, *ranks, selection);
  if (!shares) return forward(shares);

  std::vector<tree::WarmFile> warm;
  NodeReport state;
  state.phase = Phase::staging;
  AheadReport report;
  report.case_path = *case_path;
  for (const Share& share : *shares) {
    state.staged.copy_bytes_in_all += share.bytes();
    report.pools.push_back(share.pool);
    for (tree::WarmFile& file : tree::read_warm(warm_directory(share.pool, *case_path)))
      warm.push_back(std::move(file));
  }
  for (Share& share : *shares)
    if (auto prepared = prepare_share(share, *case_path, warm); !prepared) return forward(prepared);

  tree::StageProgress copied;
  const auto copy = [&]() -> Status {
    for (Share& share : *shares)
      for (Part& part : share.parts)
        if (auto done = tree::carry_out(part.request, part.inputs, copied); !done) return done;
    return {};
  };
  const auto show = [&] {
    state.staged.copied_bytes = copied.bytes;
    progress(state);
  };
  if (auto done = clock.meanwhile(copy, progress_interval, show); !done) return forward(done);
  report.kept_files = copied.kept_files;
  report.kept_bytes = copied.kept_bytes;
  for (const Share& share : *shares) {
    const auto kept = tree::keep_warm(warm_directory(share.pool, *case_path), files_of(share), UINT64_MAX);
    if (!kept) return forward(kept);
    if (kept->files > 0) (void)name_case(warm_directory(share.pool, *case_path), *case_path);
    report.files += kept->files;
    report.bytes += kept->bytes;
    if (auto removed = remove_tree(share.directory); !removed) return forward(removed);
  }
  return report;
}

}  // namespace forebay::launch
