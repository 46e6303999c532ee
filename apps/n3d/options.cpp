#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <sstream>

namespace n3d {

std::string name_of(StoreKind kind) {
  switch (kind) {
    case StoreKind::arrays:
      return "arrays";
    case StoreKind::files:
      return "files";
    case StoreKind::revolve:
      return "revolve";
  }
  return "?";
}

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
  const std::map<std::string, StoreKind> stores{
      {"arrays", StoreKind::arrays}, {"files", StoreKind::files}, {"revolve", StoreKind::revolve}};

  app.add_option("--points", o.points, "Points along each side of the box; even, at least 8 and the number of ranks");
  app.add_option("--steps", o.steps, "Time steps");
  app.add_option("--time-step", o.time_step, "Time step");
  app.add_option("--viscosity", o.viscosity, "Kinematic viscosity");
  app.add_flag("--random", o.random, "Start from random flow instead of the Taylor-Green vortex");
  app.add_option("--seed", o.seed, "Seed of random flow");
  std::string measure = "energy", store = "arrays";
  app.add_option("--objective", measure, "energy or dissipation in a region at the end, or tracking of a vortex")
      ->check(CLI::IsMember(measures));
  app.add_option("--iterations", o.iterations, "Iterations of steepest descent after the first gradient");
  app.add_option("--store", store,
                 "Where states are kept: arrays, files (one for each step and rank), or revolve (few; the others are "
                 "computed again)")
      ->check(CLI::IsMember(stores));
  app.add_option("--slots", o.slots, "States that revolve keeps");
  app.add_option("--directory", o.directory, "Directory of the files; must exist");
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
  o.measure = measures.at(measure);
  o.store = stores.at(store);
  return parsed;
}

std::string complaint(const Options& o, int ranks) {
  const auto many = static_cast<std::size_t>(ranks);
  if (o.points < 8 || o.points % 2 != 0 || o.points > 4096) return "--points must be even, and 8 to 4096";
  if (o.points < many) return fmt::format("{} ranks are more than the {} planes of points", ranks, o.points);
  if (o.steps < 1) return "--steps must be at least 1";
  if (!(o.time_step > 0)) return "--time-step must be more than 0";
  if (!(o.viscosity >= 0)) return "--viscosity must not be negative";
  if (o.iterations < 0) return "--iterations must not be negative";
  if (o.store == StoreKind::revolve && o.slots < 1) return "--slots must be at least 1";
  if (o.store == StoreKind::files && o.directory.empty() && !o.check_gradient) return "--store files needs --directory";
  return {};
}

}  // namespace n3d
