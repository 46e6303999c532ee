#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run/node/node.h"

namespace forebay::node {
namespace {

using Nodes = std::vector<std::pair<std::string, int>>;

Machine with_cores(int per_socket) {
  Machine machine;
  for (int s = 0; s < 2; ++s) machine.sockets.push_back({s, {}, per_socket, {s}});
  return machine;
}
const std::vector<Pool> kPools{{"/p0", Medium::fsdax, 0, 1, ""}, {"/p1", Medium::fsdax, 1, 1, ""}};

// "n1:0 n1:1 n2:0": node and socket by rank.
std::string places(const Nodes& nodes, int ranks, Order order, const Machine& machine = with_cores(2)) {
  std::string text;
  for (const RankPlace& place : place_ranks(nodes, ranks, order, machine, kPools).ranks)
    text += (text.empty() ? "" : " ") + place.node + ":" + std::to_string(place.socket);
  return text;
}

TEST(PlaceRanks, by_core_fills_socket_after_socket_and_node_after_node) {
  EXPECT_EQ(places({{"n1", 4}, {"n2", 4}}, 6, Order::by_core), "n1:0 n1:0 n1:1 n1:1 n2:0 n2:0");
  EXPECT_EQ(places({{"n1", 2}, {"n2", 2}}, 4, Order::by_core), "n1:0 n1:0 n2:0 n2:0") << "fewer slots than cores";
}

TEST(PlaceRanks, by_socket_goes_round_the_sockets_of_each_node) {
  EXPECT_EQ(places({{"n1", 4}, {"n2", 4}}, 6, Order::by_socket), "n1:0 n1:1 n1:0 n1:1 n2:0 n2:1");
}

TEST(PlaceRanks, by_node_goes_round_the_nodes_that_have_slots_left) {
  EXPECT_EQ(places({{"n1", 1}, {"n2", 3}}, 4, Order::by_node), "n1:0 n2:0 n2:0 n2:1");
}

TEST(PlaceRanks, more_ranks_than_slots_start_another_round) {
  EXPECT_EQ(places({{"n1", 1}, {"n2", 1}}, 4, Order::by_core), "n1:0 n2:0 n1:0 n2:0");
  EXPECT_EQ(places({{"n1", 5}}, 5, Order::by_core), "n1:0 n1:0 n1:1 n1:1 n1:0");
}

TEST(PlaceRanks, gives_each_rank_the_pool_of_its_socket) {
  const Placement placement = place_ranks({{"n1", 4}}, 4, Order::by_core, with_cores(2), kPools);
  EXPECT_EQ(placement.ranks[1].pool, "/p0");
  EXPECT_EQ(placement.ranks[2].pool, "/p1");
  const Placement shared =
      place_ranks({{"n1", 4}}, 4, Order::by_core, with_cores(2), {{"/all", Medium::file, -1, 1, ""}});
  EXPECT_EQ(shared.ranks[3].pool, "/all");
}

TEST(PlaceRanks, of_nothing_is_empty) {
  EXPECT_TRUE(place_ranks({}, 4, Order::by_core, with_cores(2), kPools).ranks.empty());
  EXPECT_TRUE(place_ranks({{"n1", 1}}, 0, Order::by_node, with_cores(2), kPools).ranks.empty());
}

TEST(Placement, prints_neighbours_in_one_line) {
  const Placement placement = place_ranks({{"n1", 48}, {"n2", 48}}, 49, Order::by_core, with_cores(24), kPools);
  EXPECT_EQ(placement.text(),
            "ranks  node  socket  pool\n"
            " 0-23  n1         0  /p0\n"
            "24-47  n1         1  /p1\n"
            "   48  n2         0  /p0\n");
}

TEST(Placement, prints_json_that_names_every_rank) {
  EXPECT_EQ(place_ranks({{"n1", 1}}, 1, Order::by_core, with_cores(2), kPools).json(),
            R"({"forebay_version":")" FOREBAY_VERSION R"(","ranks":[{"rank":0,"node":"n1","socket":0,"pool":"/p0"}]})");
  Placement odd;
  odd.ranks = {{0, "n\"1", 0, "/p\xff"}};
  EXPECT_EQ(nlohmann::json::parse(odd.json())["ranks"][0]["node"], "n\"1");
}

}  // namespace
}  // namespace forebay::node
