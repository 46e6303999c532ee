// What redistribution, plan and checkpoints cost, against a copy of the same bytes. Run by mpirun; rank 0 prints JSON.
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "blocks/bench/numbering.h"
#include "blocks/blocks.h"

namespace {

using namespace forebay;
using namespace forebay::blocks;

struct Settings {
  std::uint64_t items = 8'000'000;
  std::uint64_t run = 32;
  bool shuffled = false;
  int repeat = 5;
  std::string directory = "/dev/shm";
  std::string pool = "/dev/shm";
  std::vector<std::string> methods;
};

void must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "blocks_bench: {}\n", status.error().text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Seconds until the last rank is through.
double timed(const Team& team, const std::function<void()>& work) {
  MPI_Barrier(team.all());
  const double begin = MPI_Wtime();
  work();
  double seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, team.all());
  return seconds;
}

// Seconds of processor time of the busiest rank: what work costs without waiting, whatever else the machine does.
std::vector<double> processor_time(const Team& team, int times, const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    MPI_Barrier(team.all());
    const double begin = now();
    work();
    double used = now() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_DOUBLE, MPI_MAX, team.all());
    seconds.push_back(used);
  }
  return seconds;
}

std::vector<double> repeated(const Team& team, int times, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) seconds.push_back(timed(team, work));
  return seconds;
}

nlohmann::json checkpoints(const Team& team, const Settings& settings, const std::string& method, Exchange& exchange,
                           const std::vector<double>& data) {
  Options options;
  options.method = *method_named(method);
  options.pool = settings.pool;
  auto store = Checkpoints::open(team, settings.directory, options);
  must(store ? Status{} : Status(forward(store)));
  const FieldToWrite field{"values", "cells", arrays::Type::float64, 1, &exchange, data.data()};
  std::vector<double> seconds, settled;
  for (int i = 0; i < settings.repeat + kSlots; ++i) {
    const std::string name = fmt::format("blocks-bench-{}.h5", method);
    seconds.push_back(timed(team, [&] {
      must((*store)->write(name, {i, 0, "blocks_bench", ""}, std::span(&field, 1)));
    }));
    settled.push_back(seconds.back() + timed(team, [&] { must((*store)->settle()); }));
  }
  return {{"written", seconds}, {"settled", settled}};
}

nlohmann::json measured(const Team& team, const Settings& settings) {
  const auto numbers = bench::scattered(settings.items, settings.run, team.ranks(), team.rank(), settings.shuffled);
  std::vector<double> data(numbers.size()), copy(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) data[i] = static_cast<double>(numbers[i]);
  nlohmann::json json;
  const auto copy_all = [&] { std::memcpy(copy.data(), data.data(), data.size() * sizeof(double)); };
  json["copy"] = repeated(team, settings.repeat, copy_all);
  json["copy_processor"] = processor_time(team, settings.repeat, copy_all);
  std::optional<Plan> plan;
  json["plan"] = repeated(team, settings.repeat, [&] {
    auto made = Plan::make(team, numbers, settings.items, {{0, 8, 1, 0}, Shared::refused});
    must(made ? Status{} : Status(forward(made)));
    plan = std::move(*made);
  });
  const double here = static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
  json["plan_bytes_per_item"] = static_cast<double>(plan->report().peak_bytes) / here;
  json["plan_kept_bytes_per_item"] = static_cast<double>(plan->report().kept_bytes) / here;
  Exchange exchange(*plan);
  NodeMemory image;
  must(image.reserve(team, exchange.layout().items * sizeof(double)));
  auto* bytes = reinterpret_cast<std::byte*>(data.data());
  json["to_image"] = repeated(team, settings.repeat + 1, [&] { must(exchange.to_image(bytes, 8, image.data())); });
  json["from_image"] = repeated(team, settings.repeat + 1, [&] { must(exchange.from_image(image.data(), 8, bytes)); });
  json["stores_processor"] = processor_time(team, settings.repeat, [&] {
    for (int rank = 0; rank < team.ranks(); ++rank) {
      std::byte* block = image.data() + plan->map().block(rank).first * sizeof(double);
      plan->writing().outgoing.put(static_cast<std::size_t>(rank), bytes, block, sizeof(double));
    }
  });
  for (const std::string& method : settings.methods) {
    json[method] = checkpoints(team, settings, method, exchange, data);
  }
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Settings settings;
  CLI::App app("Costs of global arrays: seconds, each the slowest rank's");
  app.add_option("--items", settings.items, "items of 8 bytes in all");
  app.add_option("--run", settings.run, "how many with consecutive numbers lie on one rank");
  app.add_flag("--shuffled", settings.shuffled, "ranks hold their items in random order");
  app.add_option("--repeat", settings.repeat, "how often");
  app.add_option("--directory", settings.directory, "of the files");
  app.add_option("--pool", settings.pool, "of the staged images");
  app.add_option("--methods", settings.methods, "which write checkpoints")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  {
    auto team = Team::of(MPI_COMM_WORLD);
    must(team ? Status{} : Status(forward(team)));
    const nlohmann::json json = measured(*team, settings);
    if (team->rank() == 0) fmt::print("{}\n", json.dump(1));
  }
  MPI_Finalize();
}
