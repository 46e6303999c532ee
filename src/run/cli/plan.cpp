// forebay plan: which rank would use which pool.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/node/node.h"
#include "run/settings/settings.h"

namespace forebay::cli {
namespace {

using Nodes = std::vector<std::pair<std::string, int>>;

struct PlanOptions {
  int ranks = 0;
  std::string nodes;
  std::string order = "core";
  bool json = false;
};

// "n1:24,n2:24"; a node without a number has `usual` slots.
Result<Nodes> parse_nodes(const std::string& text, int usual) {
  Nodes nodes;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    const std::string name(part.substr(0, colon));
    const auto slots = colon == std::string_view::npos ? usual : parse_integer(part.substr(colon + 1)).value_or(0);
    if (name.empty() || slots < 1 || slots > 1'000'000)
      return error(Code::bad_input, fmt::format("--nodes: \"{}\" is not a node", printable(part)), {},
                   "write name:slots, for example n1:24,n2:24");
    nodes.emplace_back(name, static_cast<int>(slots));
  }
  return nodes;
}

Result<node::Placement> place_ranks(const PlanOptions& options) {
  const auto settings = settings::load();
  if (!settings) return forward(settings);
  const auto machine = node::observe();
  if (!machine) return forward(machine);
  const auto pools = node::choose_pools(*machine, settings->pool);
  if (!pools) return forward(pools);

  int cores = 0;
  for (const node::Socket& socket : machine->sockets) cores += socket.cores;
  Result<Nodes> nodes = Nodes{{machine->node, options.ranks}};
  if (!options.nodes.empty()) nodes = parse_nodes(options.nodes, cores);
  if (!nodes) return forward(nodes);
  std::int64_t slots = 0;
  for (const auto& [name, of_node] : *nodes) slots += of_node;
  if (slots < options.ranks)
    return error(Code::bad_input,
                 fmt::format("{} on {} do not fit", plural(static_cast<std::uint64_t>(options.ranks), "rank"),
                             plural(static_cast<std::uint64_t>(slots), "slot")),
                 {}, "name more nodes, or more slots per node");
  const node::Order order = options.order == "socket" ? node::Order::by_socket
                            : options.order == "node" ? node::Order::by_node
                                                      : node::Order::by_core;
  return node::place_ranks(*nodes, options.ranks, order, *machine, *pools);
}

int print_placement(const PlanOptions& options) {
  const auto placement = place_ranks(options);
  if (!placement) return failed(placement.error());
  if (options.json) {
    fmt::print("{}\n", placement->json());
  } else {
    fmt::print("{}", placement->text());
    if (!options.nodes.empty())
      fmt::print("(every node taken to be like this one; what holds is where each rank finds itself)\n");
  }
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "tell which rank would run on which node and socket, with which pool");
  command->add_option("--ranks,-n", options->ranks, "number of ranks")
      ->type_name("N")
      ->required()
      ->check(CLI::Range(1, 10'000'000).description(""));
  command->add_option("--nodes", options->nodes, "nodes with their slots, for example n1:24,n2:24 (default: this node)")
      ->type_name("NODES");
  command
      ->add_option("--order", options->order,
                   "how the launcher hands out ranks: core after core, or round the sockets or the nodes")
      ->type_name("core|socket|node")
      ->check(CLI::IsMember({"core", "socket", "node"}).description(""))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      footer({"forebay plan --ranks 96", "forebay plan --ranks 96 --nodes n1:48,n2:48 --order socket --json"},
             {"A forecast: what holds is where each rank finds itself."}));
  command->callback([options, &exit_status] { exit_status = print_placement(*options); });
}

}  // namespace forebay::cli
