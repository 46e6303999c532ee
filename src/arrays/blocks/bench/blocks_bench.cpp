// The cost of redistribution, plan and checkpoints, against a copy of the same bytes. Run by mpirun; rank 0 prints
// JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "arrays/blocks/bench/arrays_of_ranks.h"
#include "arrays/blocks/bench/need.h"
#include "arrays/blocks/bench/timed.h"
#include "arrays/blocks/blocks.h"
#include "store/segment/medium.h"

namespace {

using namespace forebay;
using namespace forebay::blocks;
using bench::need;
using bench::repeated;
using bench::timed;

struct Settings : bench::ArraysOfRanks {
  std::string pool = "/dev/shm";
  std::vector<std::string> methods;
};

Options options_for(const std::string& method, const Settings& settings) {
  Options options;
  options.method = need(method_named(method));
  options.pool = settings.pool;
  return options;
}

// Touches as much memory as the images take, and gives it back. The peers write over the memory of their last file.
// Memory that has lain idle a virtual machine gets anew from its host, at a fiftieth of the rate, by chance.
void have_memory_at_hand(const Settings& settings, int ranks) {
  const std::uint64_t bytes = kSlots * settings.items * sizeof(double) / static_cast<std::uint64_t>(ranks);
  const auto memory = segment::memory_of_process();
  const auto taken = need(memory->make(0, (bytes / kHugePage + 1) * kHugePage));
  MPI_Barrier(MPI_COMM_WORLD);
}

// The first checkpoint of a program, and those that follow once every slot has been used. Each with a copy of its items
// right after it, since what else a machine does changes within seconds.
nlohmann::json checkpoints(const Team& team, const Settings& settings, const std::string& method,
                           const FieldToWrite& field, const std::function<void()>& copy) {
  have_memory_at_hand(settings, team.ranks());
  const auto store = need(Checkpoints::open(team, settings.directory, options_for(method, settings)));
  std::vector<double> seconds, settled, copies;
  const std::string name = fmt::format("blocks-bench-{}.h5", method);
  for (int i = 0; i < settings.repeat + kSlots; ++i) {
    seconds.push_back(timed([&] { need(store->write(name, {i, 0, "blocks_bench", ""}, std::span(&field, 1))); }));
    settled.push_back(seconds.back() + timed([&] { need(store->settle()); }));
    copies.push_back(timed(copy));
    // As the peers do: a file that is replaced has to be freed, which takes longer than the renaming itself.
    if (team.rank() == 0) std::filesystem::remove(std::filesystem::path(settings.directory) / name);
  }
  const auto later = [](const std::vector<double>& all) { return std::vector(all.begin() + kSlots, all.end()); };
  return {{"first", seconds.front()}, {"again", later(seconds)}, {"settled", later(settled)}, {"copy", later(copies)}};
}

// The first staged checkpoint of a program that takes its room ahead.
nlohmann::json prepared(const Team& team, const Settings& settings, const FieldToWrite& field) {
  have_memory_at_hand(settings, team.ranks());
  const auto store = need(Checkpoints::open(team, settings.directory, options_for("staged", settings)));
  const double preparing = timed([&] { need(store->prepare(std::span(&field, 1))); });
  const double first = timed([&] {
    need(store->write("blocks-bench-prepared.h5", {0, 0, "blocks_bench", ""}, std::span(&field, 1)));
  });
  need(store->settle());
  return {{"prepare", preparing}, {"first", first}};
}

nlohmann::json measured(const Team& team, const Settings& settings) {
  const auto numbers = settings.numbers(team.ranks(), team.rank());
  std::vector<double> data(numbers.size()), copy(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) data[i] = static_cast<double>(numbers[i]);
  nlohmann::json json;
  const auto copy_all = [&] { std::memcpy(copy.data(), data.data(), data.size() * sizeof(double)); };
  json["copy"] = repeated(settings.repeat, copy_all);
  std::optional<Plan> plan;
  json["plan"] = repeated(settings.repeat, [&] {
    plan = need(Plan::make(team, numbers, settings.items, {{0, 8, 1, 0}, Shared::refused}));
  });
  const double here = static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
  json["plan_bytes_per_item"] = static_cast<double>(plan->report().peak_bytes) / here;
  json["plan_kept_bytes_per_item"] = static_cast<double>(plan->report().kept_bytes) / here;
  Exchange exchange(*plan);
  NodeMemory image;
  need(image.reserve(team.node(), exchange.layout().items * sizeof(double)));
  auto* bytes = reinterpret_cast<std::byte*>(data.data());
  slots::ItemSum sum;
  std::vector<double> copied, summed;  // by turns
  for (int i = 0; i <= settings.repeat; ++i) {
    copied.push_back(timed([&] { need(exchange.to_image(bytes, 8, image.data())); }));
    summed.push_back(timed([&] { need(exchange.to_image(bytes, 8, image.data(), &sum)); }));
  }
  json["to_image"] = copied;
  json["to_image_with_checksum"] = summed;
  json["from_image"] = repeated(settings.repeat + 1, [&] { need(exchange.from_image(image.data(), 8, bytes)); });
  const FieldToWrite field{"values", "cells", array_file::Type::float64, 1, &exchange, data.data()};
  for (const std::string& method : settings.methods)
    json[method] = checkpoints(team, settings, method, field, copy_all);
  if (!settings.methods.empty()) json["prepared"] = prepared(team, settings, field);
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Settings settings;
  CLI::App app("Costs of global arrays: seconds, each the slowest rank's");
  settings.add_to(app);
  app.add_option("--pool", settings.pool, "of the staged images");
  app.add_option("--methods", settings.methods, "which write checkpoints")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  {
    const Team team = need(Team::of(MPI_COMM_WORLD));
    const nlohmann::json json = measured(team, settings);
    if (team.rank() == 0) fmt::print("{}\n", json.dump(1));
  }
  MPI_Finalize();
}
