#include "run/launch/staging.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "run/advice/commands.h"
#include "run/contract/text.h"
#include "run/launch/kept_sets.h"
#include "run/launch/several_nodes.h"
#include "run/launch/watched.h"
#include "run/openfoam/openfoam.h"
#include "run/tree/links.h"
#include "run/tree/own_copies.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

Result<tree::Inputs> inputs_of(const tree::StageRequest& request, const std::string& pool) {
  auto inputs = tree::list_inputs(request);
  if (!inputs) return inputs;
  if (runs_programs(pool)) tree::copy_programs(request, *inputs);
  tree::copy_what_cannot_be_replaced(request, *inputs);
  return inputs;
}

bool is_in_written_group(const Plan& plan, const std::string& path) {
  return std::ranges::any_of(plan.groups.written, [&](const auto& group) { return is_below(path, group.second); });
}

}  // namespace

Status Staging::carry_out(const tree::StageRequest& request, tree::Inputs& inputs) {
  tree::StageProgress progress;
  count_warm(tree::bring_warm(warm_, request, inputs));
  report_.staged.copy_bytes_in_all += inputs.copy_bytes;
  const std::uint64_t before = report_.staged.copied_bytes;
  const auto count = [&] { report_.staged.copied_bytes = before + progress.bytes; };
  const auto done = clock_.meanwhile([&] { return tree::carry_out(request, inputs, progress); }, 200ms,
                                     [&] {
                                       count();
                                       show_();
                                     });
  count();
  report_.staged.staged_files += inputs.copy_files + inputs.link_files;
  for (const tree::Entry& entry : inputs.entries)
    if (entry.kind == tree::Kind::link || entry.kind == tree::Kind::copy)
      report_.staged.staged_bytes += entry.identity.size;
  if (!done) return done;
  count_warm(tree::use_warm(warm_, request, inputs.entries));
  tree::note_copies(request, inputs.entries);
  return {};
}

Status Staging::common() {
  const bool apart = plan_.decomposed && plan_.launched;
  const auto is_rank_directory = [&](const std::string& path) {
    const auto rank = openfoam::processor_of(path);
    return apart && rank && *rank < plan_.ranks;
  };
  DirectDirectories direct(plan_);
  const std::string control(name_of(control_directory(plan_.case_path)));
  const auto left_out = [&](const std::string& path) {
    return path == control || is_rank_directory(path) || direct.take(path);
  };
  tree::StageRequest request{plan_.case_path,
                             "",
                             run_.tree(),
                             run_.lower(),
                             left_out,
                             [&](const std::string& path) { return is_copied(plan_, path); },
                             plan_.settings.stage.threads};
  auto inputs = inputs_of(request, run_.home());
  if (!inputs) return forward(inputs);
  for (const std::string& directory : warm_directories(run_))
    for (tree::WarmFile& file : tree::read_warm(directory)) warm_.push_back(std::move(file));
  if (auto staged = carry_out(request, *inputs); !staged) return staged;
  if (auto linked = direct.link(run_.tree(), run_.lower()); !linked) return linked;
  if (plan_.way == node::Way::path) {
    const auto shown = tree::show_beside(plan_.case_path, run_.tree());
    if (!shown) return forward(shown);
    if (auto noted = drain::note_beside(run_.home(), *shown); !noted) return noted;
  }
  if (apart) {
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      const std::string name = contract::name_of_rank(rank);
      struct stat status {};
      if (::stat(join(plan_.case_path, name).c_str(), &status) != 0) continue;
      if (::symlink(join(run_.lower(), name).c_str(), join(run_.tree(), name).c_str()) != 0)
        return errno_error("cannot link", join(run_.tree(), name));
      inputs->entries.push_back(
          {name, tree::Kind::directory, status.st_mode & 07777, identity_of(status), {}, owner_of(status)});
    }
    for (const tree::Entry& entry : inputs->entries)
      if (entry.kind == tree::Kind::symlink && is_in_written_group(plan_, entry.path) &&
          tree::leads_out(parent_of(entry.path), entry.target))
        drain_.ranks_need_case_path();
  } else {
    if (auto added = add_rank(-1, run_.home()); !added) return added;
  }
  return drain_.add_root({run_.tree(), "", run_.home()}, inputs->entries);
}

Status Staging::add_rank(int rank, const std::string& pool) {
  run_.ranks[rank] = pool;
  if (auto saved = save(run_); !saved) return saved;
  return drain_.add_rank(rank, plan_.groups.written.empty() ? pool : run_.home());
}

Status Staging::rank(int rank, const std::string& pool) {
  const std::string name = contract::name_of_rank(rank), local = join(pool, name);
  tree::StageRequest request{plan_.case_path,
                             name,
                             local,
                             run_.lower(),
                             {},
                             [&](const std::string& path) { return is_copied(plan_, path); },
                             plan_.settings.stage.threads};
  std::vector<tree::Entry> entries;
  struct stat status {};
  if (::stat(join(plan_.case_path, name).c_str(), &status) == 0) {
    if (auto checked = check_linked(name); !checked) return checked;
    auto inputs = inputs_of(request, pool);
    if (!inputs) return forward(inputs);
    if (auto checked = check_links(name, inputs->entries); !checked) return checked;
    if (auto staged = carry_out(request, *inputs); !staged) return staged;
    entries = std::move(inputs->entries);
  } else if (!plan_.groups.written.empty()) {
    return add_rank(rank, pool);
  } else if (::mkdir(local.c_str(), (0777 & ~run_.umask) | S_IRWXU) != 0 && errno != EEXIST) {
    return errno_error("cannot make directory", local);
  }
  if (auto added = add_rank(rank, pool); !added) return added;
  const std::string in_tree = join(run_.tree(), name);
  if (run_.one_mount)
    return drain_.add_directory(name, entries, [&]() -> Status {
      if ((::unlink(in_tree.c_str()) != 0 && errno != ENOENT) || ::rename(local.c_str(), in_tree.c_str()) != 0)
        return errno_error("cannot put into the tree:", in_tree);
      return {};
    });
  // The link to the case gives way to the link to the pool in one step.
  const std::string temporary = join(parent_of(run_.tree()), ".fb-" + name);
  ::unlink(temporary.c_str());
  if (::symlink(local.c_str(), temporary.c_str()) != 0 || ::rename(temporary.c_str(), in_tree.c_str()) != 0)
    return errno_error("cannot link", in_tree);
  return drain_.add_root({local, name, pool}, entries);
}

// Inputs are links to where a namespace has the case beside the tree. From there a relative link out of the case leads
// elsewhere.
Status Staging::check_linked(const std::string& rank_directory) {
  const auto target = read_link(join(plan_.case_path, rank_directory));
  if (plan_.way != node::Way::namespaces || !target || !tree::leads_out("", *target)) return {};
  return error(Code::bad_input,
               "a relative link out of the case stands for a rank's directory:", join(plan_.case_path, rank_directory),
               "make it absolute, or use --via redirect");
}

// Links that lead out of a rank's directory. Where this is a directory of the tree the kernel comes to what they mean,
// but not to what lies outside the case without the mount over the case. If it lies in a pool of its own, only redirect
// comes there.
Status Staging::check_links(const std::string& rank_directory, const std::vector<tree::Entry>& entries) {
  for (const tree::Entry& entry : entries) {
    if (entry.kind != tree::Kind::symlink) continue;
    const std::string_view in_case = parent_of(entry.path);
    if (run_.one_mount) {
      if (tree::leads_out(in_case, entry.target)) drain_.ranks_need_case_path();
    } else if (plan_.way != node::Way::redirect &&
               tree::leads_out(in_case.substr(std::min(in_case.size(), rank_directory.size() + 1)), entry.target)) {
      return error(Code::bad_input,
                   fmt::format("the link {} -> {} leads out of the rank's directory, which would lie in a pool on "
                               "another mount than the rest of the case, where the program could not follow it:",
                               printable(entry.path), printable(entry.target)),
                   plan_.case_path, "give pools on one mount (--pool DIRECTORY), or --via redirect");
    }
  }
  return {};
}

void Staging::count_warm(const tree::WarmSet& used) {
  warm_used_.files += used.files;
  warm_used_.bytes += used.bytes;
}

void Staging::keep_warm(bool cleanly, std::uint64_t budget) {
  constexpr std::uint64_t part_of_budget = 4;
  if (warm_used_.files > 0)
    report_.drain.notices.push_back(fmt::format("{} ({}) in the pool already, and not read from the case",
                                                plural(warm_used_.files, "input"), human_bytes(warm_used_.bytes)));
  std::vector<tree::WarmFile> files;
  if (cleanly && plan_.openfoam && !plan_.launched)
    files = drain_.carried_files([](const std::string& path) {
      return openfoam::processor_of(std::string_view(path).substr(0, path.find('/'))).has_value();
    });
  const std::vector<std::string> directories = warm_directories(run_);
  for (const std::string& directory : directories)
    if (directory != directories.front()) (void)remove_tree(directory);
  const auto kept = tree::keep_warm(directories.front(), files, budget / part_of_budget);
  if (!kept) {
    report_.drain.messages.push_back(kept.error().text());
  } else if (kept->files > 0) {
    (void)name_case(directories.front(), plan_.case_path);
    report_.drain.notices.push_back(
        fmt::format("{} ({}) of the processor directories kept in the pool for the next run on this case; "
                    "{} gives the memory back",
                    plural(kept->files, "file"), human_bytes(kept->bytes), advice::clean(plan_.case_path)));
  }
}

}  // namespace forebay::launch
