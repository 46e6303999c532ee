#include <hwloc.h>

#include <memory>

#include "run/node/observe.h"

namespace forebay::node {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

std::vector<int> numbers_in(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) numbers.push_back(i);
  return numbers;
}

Socket socket_from(hwloc_topology_t topology, hwloc_obj_t object, int index) {
  Socket socket;
  socket.index = index;
  socket.cpus = numbers_in(object->cpuset);
  socket.cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE);
  socket.numa_nodes = numbers_in(object->nodeset);
  return socket;
}

}  // namespace

Result<std::vector<Socket>> load_sockets() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return errno_error("cannot start hwloc", "");
  const Topology topology(raw);
  // Caches, devices and the like cost time and are not asked for.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(raw) != 0)
    return errno_error("hwloc cannot read the topology of this node", "",
                       "check HWLOC_SYNTHETIC and HWLOC_XMLFILE, or look at what lstopo says");
  std::vector<Socket> sockets;
  const int packages = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PACKAGE);
  for (int i = 0; i < packages; ++i) {
    hwloc_obj_t package = hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, static_cast<unsigned>(i));
    // A package whose cpus are all offline runs nothing.
    if (!hwloc_bitmap_iszero(package->cpuset))
      sockets.push_back(socket_from(raw, package, static_cast<int>(sockets.size())));
  }
  if (sockets.empty()) sockets.push_back(socket_from(raw, hwloc_get_root_obj(raw), 0));
  return sockets;
}

}  // namespace forebay::node
