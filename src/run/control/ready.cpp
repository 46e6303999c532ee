// Files that the program is to be shown are made beside the tree, as the inputs are that are staged before it begins.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/pulse.h"
#include "run/control/control.h"
#include "run/tree/own_copies.h"

namespace forebay::control {
namespace {

// It goes from the case, or changes, while it is looked at: the next look tells.
bool changes(const Error& failure) {
  return failure.code == Code::conflict || failure.errno_value == ENOENT || failure.errno_value == ENOTDIR ||
         failure.errno_value == ESTALE;
}

class Listing {
 public:
  Listing(drain::SharedFiles& files, const Watched& watched, tree::Inputs& inputs)
      : files_(files), watched_(watched), inputs_(inputs) {}

  Status add(const std::string& path) {
    const auto status = files_.status(path);
    if (!status) return forward(status);
    if (!*status) return error(Code::conflict, "gone:", path);
    tree::Entry entry{path, tree::Kind::link,  (*status)->st_mode & 07777, identity_of(**status),
                      {},   owner_of(**status)};
    if (S_ISDIR((*status)->st_mode)) return add_directory(std::move(entry));
    if (S_ISLNK((*status)->st_mode)) {
      auto target = files_.read_link(path);
      if (!target) return forward(target);
      entry.kind = tree::Kind::symlink;
      entry.target = std::move(*target);
    } else if (!S_ISREG((*status)->st_mode)) {
      return {};
    } else if (tree::matches_any(watched_.copied, path)) {
      entry.kind = tree::Kind::copy;
    } else {
      ++inputs_.link_files;
    }
    inputs_.entries.push_back(std::move(entry));
    return {};
  }

 private:
  Status add_directory(tree::Entry entry) {
    const std::string path = entry.path;
    entry.kind = tree::Kind::directory;
    inputs_.entries.push_back(std::move(entry));
    const auto entries = files_.list(path, most_names);
    if (!entries) return forward(entries);
    if (entries->size() + inputs_.entries.size() > most_names)
      return error(Code::failed, "there are more than " + plural(most_names, "name") + " below it");
    for (const DirectoryEntry& each : *entries)
      if (const std::string below = join(path, each.name); !is_left_out(watched_, below, each.type))
        if (auto added = add(below); !added) return added;
    return {};
  }

  drain::SharedFiles& files_;
  const Watched& watched_;
  tree::Inputs& inputs_;
};

// As staging does it: for the second rule the directory above must be known, too.
Status choose_copies(const Watched& watched, const tree::StageRequest& request, tree::Inputs& inputs) {
  if (watched.copies_programs) tree::copy_programs(request, inputs);
  const std::string above(parent_of(request.below));
  const auto status = status_of(join(watched.case_path, above));
  if (!status) return error(Code::conflict, "gone:", above);
  const tree::Entry directory{above, tree::Kind::directory, status->st_mode & 07777, identity_of(*status),
                              {},    owner_of(*status)};
  inputs.entries.insert(inputs.entries.begin(), directory);
  tree::copy_what_cannot_be_replaced(request, inputs);
  inputs.entries.erase(inputs.entries.begin());
  return {};
}

Status make(drain::SharedFiles& files, const Watched& watched, Ready& ready) {
  tree::Inputs inputs;
  tree::StageRequest request{watched.case_path, ready.wish.path, ready.aside, watched.lower, {}, {}, 1};
  if (auto listed = Listing(files, watched, inputs).add(ready.wish.path); !listed) return listed;
  if (inputs.entries.empty()) return error(Code::conflict, "gone:", ready.wish.path);
  const MayHang call(join(watched.case_path, ready.wish.path));
  if (auto chosen = choose_copies(watched, request, inputs); !chosen) return chosen;
  tree::StageProgress progress;
  if (auto made = tree::carry_out(request, inputs, progress); !made) return made;
  ready.entries = std::move(inputs.entries);
  return {};
}

}  // namespace

Ready make_ready(drain::SharedFiles& files, const Watched& watched, const Wish& wish, const std::string& aside,
                 Clock& clock) {
  Ready ready{.wish = wish, .began = clock.now(), .aside = aside};
  if (!wish.there) {
    // A listing may lack what is there, where a server has just come back.
    const auto status = files.status(wish.path);
    ready.holds = status && !*status;
    return ready;
  }
  auto made = make(files, watched, ready);
  ready.holds = made.has_value();
  if (!made && !changes(made.error())) ready.failure = made.error();
  if (!made) (void)remove_tree(aside);
  return ready;
}

}  // namespace forebay::control
