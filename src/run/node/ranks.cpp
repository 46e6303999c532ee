// Ranks to nodes, sockets and pools, as a launcher hands them out.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "run/node/node.h"

namespace forebay::node {
namespace {

// Socket of the `local`-th rank of a node; more ranks than cores start again at the first.
int socket_at(const Machine& machine, Order order, int local) {
  const auto& sockets = machine.sockets;
  if (order == Order::by_socket) return sockets[static_cast<std::size_t>(local) % sockets.size()].index;
  const auto cores_of = [](const Socket& socket) {
    return std::max(1, socket.cores > 0 ? socket.cores : static_cast<int>(socket.cpus.size()));
  };
  int all = 0;
  for (const Socket& socket : sockets) all += cores_of(socket);
  int core = local % all;
  for (const Socket& socket : sockets) {
    if (core < cores_of(socket)) return socket.index;
    core -= cores_of(socket);
  }
  return sockets.back().index;
}

std::string pool_of(const std::vector<Pool>& pools, int socket) {
  for (const Pool& pool : pools)
    if (pool.socket == socket || pool.socket == -1) return pool.path;
  return pools.empty() ? std::string() : pools.front().path;
}

// Index of the node of each rank. Slots are filled once; what is left over starts another round, as oversubscription
// does.
std::vector<std::size_t> nodes_of_ranks(const std::vector<std::pair<std::string, int>>& nodes, int ranks, Order order) {
  std::vector<std::size_t> of_rank;
  const auto wanted = static_cast<std::size_t>(std::max(0, ranks));
  const auto slots = [&](std::size_t node) { return std::max(1, nodes[node].second); };
  while (!nodes.empty() && of_rank.size() < wanted) {
    if (order == Order::by_node) {
      int most = 0;
      for (std::size_t node = 0; node < nodes.size(); ++node) most = std::max(most, slots(node));
      for (int slot = 0; slot < most; ++slot)
        for (std::size_t node = 0; node < nodes.size(); ++node)
          if (slot < slots(node)) of_rank.push_back(node);
    } else {
      for (std::size_t node = 0; node < nodes.size(); ++node)
        of_rank.insert(of_rank.end(), static_cast<std::size_t>(slots(node)), node);
    }
  }
  of_rank.resize(std::min(of_rank.size(), wanted));
  return of_rank;
}

}  // namespace

Placement place_ranks(const std::vector<std::pair<std::string, int>>& nodes, int ranks, Order order,
                      const Machine& machine, const std::vector<Pool>& pools) {
  Placement placement;
  if (machine.sockets.empty()) return placement;
  std::vector<int> placed(nodes.size(), 0);  // ranks so far on each node
  for (const std::size_t node : nodes_of_ranks(nodes, ranks, order)) {
    const int socket = socket_at(machine, order, placed[node]++);
    placement.ranks.push_back(
        {static_cast<int>(placement.ranks.size()), nodes[node].first, socket, pool_of(pools, socket)});
  }
  return placement;
}

std::string Placement::text() const {
  struct Row {
    std::string ranks, node, socket, pool;
  };
  std::vector<Row> rows{{"ranks", "node", "socket", "pool"}};
  for (std::size_t first = 0, end = 0; first < ranks.size(); first = end) {
    const RankPlace& place = ranks[first];
    const auto same = [&](const RankPlace& other) {
      return other.node == place.node && other.socket == place.socket && other.pool == place.pool;
    };
    for (end = first + 1; end < ranks.size() && same(ranks[end]);) ++end;
    const int last = ranks[end - 1].rank;
    rows.push_back({place.rank == last ? std::to_string(last) : fmt::format("{}-{}", place.rank, last),
                    printable(place.node), std::to_string(place.socket), printable(place.pool)});
  }
  std::size_t widest_ranks = 0, widest_node = 0;
  for (const Row& row : rows) {
    widest_ranks = std::max(widest_ranks, row.ranks.size());
    widest_node = std::max(widest_node, row.node.size());
  }
  std::string text;
  for (const Row& row : rows)
    text += fmt::format("{:>{}}  {:<{}}  {:>6}  {}\n", row.ranks, widest_ranks, row.node, widest_node, row.socket,
                        row.pool);
  return text;
}

std::string Placement::json() const {
  auto list = nlohmann::ordered_json::array();
  for (const RankPlace& place : ranks) {
    nlohmann::ordered_json row;
    row["rank"] = place.rank;
    row["node"] = place.node;
    row["socket"] = place.socket;
    row["pool"] = place.pool;
    list.push_back(std::move(row));
  }
  // Paths may be any bytes; JSON may not.
  const nlohmann::ordered_json out{{"forebay_version", FOREBAY_VERSION}, {"ranks", list}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace forebay::node
