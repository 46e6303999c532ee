// ways: how processes get to the local tree on this machine. Deciding is a pure function of what was found.
#pragma once

#include <optional>
#include <string>

#include "base/base.h"

namespace forebay::node {

enum class Way { path, redirect, namespaces };
std::string name_of(Way way);  // "path", "redirect", "namespace"

// The ways that the machine allows.
struct WayFacts {
  bool user_namespaces = false;   // a private mount namespace inside a user namespace of one's own works
  bool mount_namespaces = false;  // a private mount namespace works without one (root)
  std::string namespace_trouble;  // why not, when neither works: "unshare: Operation not permitted"
  std::string redirect_library;   // path of libforebay_redirect.so; empty: not found
};
// Tries for real: a child makes the namespaces, maps its own uid and gid and binds a directory there; nothing is left
// behind and no other process notices. A few milliseconds.
WayFacts observe_ways();
// ../lib/libforebay_redirect.so (or in lib/forebay) as seen from the running program; empty when there is none.
std::string redirect_library();

struct WayChoice {
  Way way = Way::path;
  std::string why;  // one line for doctor
};
// namespace where it works, else redirect where the library is, else path. An error when `forced` cannot work here.
Result<WayChoice> choose_way(const WayFacts& facts, std::optional<Way> forced);

}  // namespace forebay::node
