// The messages between `forebay exec` and the node's agent, over a private socket of the node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/launch/plan.h"

namespace forebay::launch {

// A rank says hello.
struct Hello {
  int rank = -1;    // -1: no launcher
  int size = 1;     // ranks of the run, 0: not known
  int on_node = 0;  // ranks of the run on this node, 0: not known
  std::vector<int> cpus;
  int cpu = -1;
  std::string program;
};
// The agent answers when everything that this rank needs is staged. The socket stays open.
struct Welcome {
  std::string error;  // not empty: do not start
  int error_code = 1;
  std::string case_path, typed_path, tree;         // tree: what stands for the case_path
  bool rewrite_arguments = false;                  // way "path": arguments that lead into the case lead into the tree
  bool enter_namespace = false;                    // descriptors come along
  std::map<std::string, std::string> environment;  // to set
  std::string preload;                             // to put in front of LD_PRELOAD
};

Status send_hello(int socket, const Hello& hello);
Result<Hello> receive_hello(int socket);
// `user` and `mount`: descriptors of the namespace, or -1.
Status send_welcome(int socket, const Welcome& welcome, int user, int mount);
Result<Welcome> receive_welcome(int socket, Descriptor& user, Descriptor& mount);

// Where the processes of a run meet on a node: abstract sockets. They need no directory, so a /tmp that is full,
// read-only or somebody else's is no hindrance, and they vanish with their processes, so nothing is left to tidy.
// Nobody can take the names first: both are drawn at random for the run, and told only by the plan in the case's
// private control directory. Anybody who reads a name once it is there (/proc/net/unix) can call, but both sides ask
// the kernel which user the other one is. A name is of one network namespace: a process from another one on the same
// node finds the pool's lock taken and is refused.
struct Meeting {
  std::string first;  // bound by the node's first process, its keeper and its agent, until the last of them ends
  std::string agent;  // where the agent listens; does not follow from `first`, which is seen a moment earlier
};
Meeting meeting_of(const Plan& plan);
// Takes a name; nullopt: somebody has it. Nobody is listened to there.
Result<std::optional<Descriptor>> take_name(const std::string& name);
Result<Descriptor> listen_at(const std::string& name);
// Refuses a listener of another user.
Result<Descriptor> connect_to(const std::string& name);

}  // namespace forebay::launch
