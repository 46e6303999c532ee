#include "report.h"

#include <fmt/format.h>

#include <chrono>

#include "base/hash.h"
#include "base/text.h"

namespace n3d {

nlohmann::ordered_json gather(const Grid& grid, const Phases& phases) {
  nlohmann::ordered_json json;
  const auto add = [&](const char* name, const Phase& phase) {
    json[name] = {{"count", phase.count},
                  {"mean_seconds", grid.sum(phase.seconds) / grid.ranks()},
                  {"most_seconds", grid.maximum(phase.seconds)}};
  };
  add("forward", phases.forward);
  add("recompute", phases.recompute);
  add("adjoint", phases.adjoint);
  add("write", phases.write);
  add("read", phases.read);
  add("objective", phases.objective);
  return json;
}

std::string checksum(const Grid& grid, std::span<const double> state) {
  const std::uint64_t mine = forebay::checksum(std::as_bytes(state));
  std::vector<std::uint64_t> all(static_cast<std::size_t>(grid.ranks()));
  MPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, grid.communicator());
  return forebay::hex(forebay::checksum(std::as_bytes(std::span(all))));
}

std::string Report::text() const {
  const auto seconds = [](double value) { return forebay::human_duration(std::chrono::duration<double>(value)); };
  std::string text = fmt::format("n3d: {} points a side, {} steps, ranks: {}; states of {} in {}\n", options.points,
                                 options.steps, ranks, forebay::human_bytes(state_bytes), name_of(options.store));
  for (const auto& [name, phase] : phases.items())
    if (phase["count"] > 0)
      text += fmt::format("  {:<10} {:>8} times  {:>10}\n", name, phase["count"].get<std::int64_t>(),
                          seconds(phase["most_seconds"].get<double>()));
  text += fmt::format("  {:<10} {:>8}        {:>10}\n", "total", "", seconds(total_seconds));
  text += fmt::format("  {} {:.12g}, gradient {:.6g}, its bits {}\n", name_of(options.measure), iterations.back().value,
                      iterations.back().gradient_norm, gradient_checksum);
  return text;
}

std::string Report::json() const {
  nlohmann::ordered_json json{{"points", options.points},
                              {"steps", options.steps},
                              {"ranks", ranks},
                              {"objective", name_of(options.measure)},
                              {"store", name_of(options.store)},
                              {"states_kept", states_kept},
                              {"state_bytes", state_bytes},
                              {"value", iterations.back().value},
                              {"gradient_norm", iterations.back().gradient_norm},
                              {"gradient_checksum", gradient_checksum},
                              {"total_seconds", total_seconds},
                              {"phases", phases}};
  for (const Iteration& i : iterations)
    json["iterations"].push_back(
        {{"value", i.value}, {"gradient_norm", i.gradient_norm}, {"step", i.step}, {"evaluations", i.evaluations}});
  return json.dump(2) + "\n";
}

std::string to_json(const Checked& checked, int ranks) {
  nlohmann::ordered_json json{{"ranks", ranks}, {"all_hold", checked.all_hold()}};
  for (const Proof& p : checked.proofs)
    json["proofs"].push_back(
        {{"what", p.what}, {"figure", p.figure}, {"least", p.least}, {"most", p.most}, {"holds", p.holds()}});
  return json.dump(2) + "\n";
}

}  // namespace n3d
