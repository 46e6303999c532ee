// The way "namespace": the local tree bound over the case's path in a private mount namespace, so that any program,
// static ones too, finds it under the path it knows. The case itself is bound to `lower`, where the tree's links lead.
// All ranks of a node join one namespace, or MPI's copies between ranks fail across user namespaces.
#pragma once

#include <string>

#include "base/base.h"

namespace forebay::launch {

struct Namespace {
  Descriptor user;  // empty when none was needed (root)
  Descriptor mount;
};

// Makes the namespaces in a child that then goes away; they live as long as a descriptor or a process in them does.
// To be called before this process has threads.
Result<Namespace> make_namespace(const std::string& case_path, const std::string& lower, const std::string& tree);

// The calling process (of one thread) enters. Its working directory must be set anew afterwards.
Status enter(int user, int mount);

}  // namespace forebay::launch
