#include "run/node/ways.h"

#include <unistd.h>

#include "run/node/observe.h"

namespace forebay::node {

std::string name_of(Way way) {
  switch (way) {
    case Way::path:
      return "path";
    case Way::redirect:
      return "redirect";
    case Way::namespaces:
      return "namespace";
  }
  return {};
}

std::string redirect_library() {
  const auto program = read_link("/proc/self/exe");
  if (!program) return {};
  const std::string above(parent_of(parent_of(*program)));
  for (const char* directory : {"/lib", "/lib/forebay"}) {  // of a build, and installed
    const std::string library = above + directory + "/libforebay_redirect.so";
    if (::access(library.c_str(), R_OK) == 0) return library;
  }
  return {};
}

WayFacts observe_ways() {
  WayFacts facts;
  const Status with_user = try_namespaces(true);
  const Status alone = try_namespaces(false);
  facts.user_namespaces = with_user.has_value();
  facts.mount_namespaces = alone.has_value();
  if (!with_user && !alone) facts.namespace_trouble = with_user.error().text();
  facts.redirect_library = redirect_library();
  return facts;
}

Result<WayChoice> choose_way(const WayFacts& facts, std::optional<Way> forced) {
  const bool namespaces_work = facts.user_namespaces || facts.mount_namespaces;
  const bool library = !facts.redirect_library.empty();
  if (forced == Way::namespaces && !namespaces_work)
    return error(Code::bad_input, "namespaces do not work on this machine (" + facts.namespace_trouble + ")", {},
                 library ? "use --via redirect" : "use --via path");
  if (forced == Way::redirect && !library)
    return error(Code::bad_input, "libforebay_redirect.so is not beside this program (../lib/forebay)", {},
                 namespaces_work ? "install it, or use --via namespace" : "install it, or use --via path");
  if (forced) return WayChoice{*forced, "as asked for"};
  if (namespaces_work)
    return WayChoice{Way::namespaces, facts.user_namespaces ? "user namespaces work: nothing is interposed"
                                                            : "mount namespaces work: nothing is interposed"};
  if (library)
    return WayChoice{Way::redirect, "namespaces do not work (" + facts.namespace_trouble + "), the library is there"};
  return WayChoice{Way::path, "namespaces do not work (" + facts.namespace_trouble +
                                  ") and libforebay_redirect.so is not beside this program"};
}

}  // namespace forebay::node
