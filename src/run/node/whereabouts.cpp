#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "run/node/node.h"

namespace forebay::node {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

std::vector<int> allowed_cpus() {
  // The kernel refuses a set smaller than its own (EINVAL), so the size grows until it fits.
  for (std::size_t cpus = 1024; cpus <= (std::size_t{1} << 20); cpus *= 4) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(cpus));
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    CPU_ZERO_S(bytes, set.get());
    if (::sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<int> allowed;
      for (std::size_t cpu = 0; cpu < cpus; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set.get())) allowed.push_back(static_cast<int>(cpu));
      return allowed;
    }
    if (errno != EINVAL) break;
  }
  return {};
}

bool holds(const Socket& socket, int cpu) {
  return std::ranges::find(socket.cpus, cpu) != socket.cpus.end();
}

}  // namespace

Whereabouts whereabouts() {
  return {allowed_cpus(), ::sched_getcpu()};
}

int socket_of(const Machine& machine, const std::vector<int>& cpus) {
  int best = -1;
  std::ptrdiff_t most = 0;
  for (const Socket& socket : machine.sockets) {
    const auto here = std::ranges::count_if(cpus, [&](int cpu) { return holds(socket, cpu); });
    if (here == most) best = -1;  // a tie, or nothing anywhere yet
    if (here > most) {
      most = here;
      best = socket.index;
    }
  }
  return best;
}

int socket_of(const Machine& machine, const Whereabouts& where) {
  for (const Socket& socket : machine.sockets) {
    const auto inside = [&](int cpu) { return holds(socket, cpu); };
    if (!where.allowed.empty() && std::ranges::all_of(where.allowed, inside)) return socket.index;
  }
  return socket_of(machine, std::vector<int>{where.cpu});
}

}  // namespace forebay::node
