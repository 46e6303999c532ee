#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <sstream>

#include "base/text.h"

namespace n3d {

std::string name_of(StoreKind kind) {
  switch (kind) {
    case StoreKind::arrays:
      return "arrays";
    case StoreKind::files:
      return "files";
    case StoreKind::memory:
      return "memory";
    case StoreKind::revolve:
      return "revolve";
  }
  return "?";
}

namespace {

std::optional<Tier> parse_tier(std::string_view text) {
  const std::size_t first = text.find(':'), last = text.rfind(':');
  if (first == text.npos) return std::nullopt;
  const std::string_view kind = text.substr(0, first);
  const auto bytes = forebay::parse_bytes(text.substr(last + 1));
  if (!bytes || *bytes == 0) return std::nullopt;
  if (kind == "dram" && first == last) return Tier{Tier::Kind::dram, {}, *bytes};
  if ((kind != "pool" && kind != "shared") || last <= first + 1) return std::nullopt;
  return Tier{kind == "pool" ? Tier::Kind::pool : Tier::Kind::shared,
              std::string(text.substr(first + 1, last - first - 1)), *bytes};
}

}  // namespace

Parsed parse(int count, char** words, bool speaks) {
  Parsed parsed;
  Options& o = parsed.options;
  CLI::App app(
      "A periodic incompressible flow, and the gradient of what becomes of it with respect to how it starts.\n"
      "Runs forward, keeps the velocity of every step, and reads it backwards for the adjoint.",
      "n3d");
  app.option_defaults()->always_capture_default();
  const std::map<std::string, Measure> measures{
      {"energy", Measure::energy}, {"dissipation", Measure::dissipation}, {"tracking", Measure::tracking}};
  const std::map<std::string, StoreKind> stores{{"arrays", StoreKind::arrays},
                                                {"files", StoreKind::files},
                                                {"memory", StoreKind::memory},
                                                {"revolve", StoreKind::revolve}};

  app.add_option("--points", o.points, "Points along each side of the box; even, at least 8");
  app.add_option("--steps", o.steps, "Time steps");
  app.add_option("--time-step", o.time_step, "Time step");
  app.add_option("--viscosity", o.viscosity, "Kinematic viscosity");
  app.add_flag("--random", o.random, "Start from random flow instead of the Taylor-Green vortex");
  app.add_option("--seed", o.seed, "Seed of random flow");
  std::string measure = "energy", store = "arrays";
  app.add_option("--objective", measure, "energy or dissipation in a region at the end, or tracking of a vortex")
      ->check(CLI::IsMember(measures));
  app.add_option("--iterations", o.iterations, "Iterations of steepest descent after the first gradient");
  app.add_option(
         "--store", store,
         "Where states are kept: arrays; files, one for each step and rank; memory, which is forebay's trajectory; "
         "or revolve, which keeps few and computes the others again")
      ->check(CLI::IsMember(stores));
  app.add_option("--slots", o.slots, "States that revolve keeps in memory");
  app.add_option("--pool-slots", o.pool_slots, "States that revolve keeps beyond these, in a pool in --directory");
  std::vector<std::string> tiers;
  app.add_option("--tier", tiers,
                 "Tiers of the trajectory, fastest first, with the most that a rank may use: dram:SIZE, "
                 "pool:DIRECTORY:SIZE, shared:DIRECTORY:SIZE (default: dram for all states)")
      ->type_name("TIER");
  app.add_option("--accepted-error", o.accepted_error,
                 "Relative L2 error of a state that the trajectory may make to store it smaller");
  app.add_option("--directory", o.directory, "Directory of the files, or of the pool; must exist");
  app.add_flag("--keep-files", o.keep_files, "Leave the files there");
  app.add_flag("--check-gradient", o.check_gradient, "Prove the solver, its adjoint and the stores; 1 when one fails");
  app.add_flag("--quick", o.quick, "Smaller sizes for --check-gradient");
  app.add_option("--json", o.json, "Write results and times to this file")->type_name("FILE");
  app.add_option("--pictures", o.pictures, "Write data for n3d_pictures.py into this directory; must exist")
      ->type_name("DIRECTORY");
  app.add_flag("--quiet", o.quiet, "Print errors only");
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& failure) {
    std::ostringstream out, err;
    parsed.exit_status = app.exit(failure, out, err) == 0 ? 0 : 2;
    if (speaks) std::cout << out.str() << std::flush;
    if (speaks) std::cerr << err.str() << std::flush;
    return parsed;
  }
  for (const std::string& words_of_tier : tiers) {
    if (const auto tier = parse_tier(words_of_tier)) {
      o.tiers.push_back(*tier);
      continue;
    }
    if (speaks)
      fmt::print(stderr, "n3d: --tier {}: not dram:SIZE, pool:DIRECTORY:SIZE or shared:DIRECTORY:SIZE\n",
                 words_of_tier);
    parsed.exit_status = 2;
  }
  o.measure = measures.at(measure);
  o.store = stores.at(store);
  return parsed;
}

std::string complaint(const Options& o, int ranks) {
  const auto many = static_cast<std::size_t>(ranks);
  if (o.points < 8 || o.points % 2 != 0 || o.points > 4096) return "--points must be even, and 8 to 4096";
  // FFTW gives each rank this many planes, until there are none left.
  const std::size_t planes = (o.points + many - 1) / many;
  if ((many - 1) * planes >= o.points)
    return fmt::format("{} planes of points leave some of {} ranks without any; use {}", o.points, many,
                       (o.points + planes - 1) / planes);
  if (o.steps < 1) return "--steps must be at least 1";
  if (!(o.time_step > 0)) return "--time-step must be more than 0";
  if (!(o.viscosity >= 0)) return "--viscosity must not be negative";
  if (o.iterations < 0) return "--iterations must not be negative";
  if (o.slots < 0 || o.pool_slots < 0) return "--slots and --pool-slots must not be negative";
  if (o.pool_slots > 0 && o.store != StoreKind::revolve) return "--pool-slots is for --store revolve";
  if (o.pool_slots > 0 && o.directory.empty()) return "--pool-slots needs --directory";
  if (o.store == StoreKind::revolve && o.slots + o.pool_slots < 1) return "--slots must be at least 1";
  if (!o.tiers.empty() && o.store != StoreKind::memory) return "--tier is for --store memory";
  if (!(o.accepted_error >= 0 && o.accepted_error < 1)) return "--accepted-error must be 0 to less than 1";
  if (o.accepted_error > 0 && o.store != StoreKind::memory) return "--accepted-error is for --store memory";
  if (o.store == StoreKind::files && o.directory.empty() && !o.check_gradient) return "--store files needs --directory";
  return {};
}

}  // namespace n3d
