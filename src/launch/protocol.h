// What `forebay exec` and the node's agent say to each other, over a private socket of the node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/base.h"

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

// The node's private directory of a run outside the pools: /tmp/forebay-<uid>/<run>-<host>. Holds the lock that makes
// one process the first, and the socket.
std::string meeting_directory(const std::string& run);
Result<Descriptor> listen_at(const std::string& path);
Result<Descriptor> connect_to(const std::string& path);

}  // namespace forebay::launch
