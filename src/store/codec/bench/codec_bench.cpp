// The results of each codec for two fields at several accepted errors: ratio, measured error, GB/s of the field encoded
// and decoded by one thread.
//   codec_bench [EDGE]    fields of EDGE^3 values (64)
#include <fmt/format.h>

#include <cstdlib>
#include <span>
#include <vector>

#include "store/codec/bench/flows.h"
#include "store/codec/codec.h"

namespace {

using namespace forebay::codec;
constexpr int kSteps = 12;

void show(const char* title, const std::vector<std::vector<double>>& fields, std::uint32_t edge) {
  std::vector<std::span<const double>> steps(fields.begin(), fields.end());
  for (const double accepted : {1e-3, 1e-4, 1e-6, 1e-9}) {
    fmt::print("\n{} field, accepted error {:.0e}\n{:<12} {:>7} {:>10} {:>12} {:>12}\n", title, accepted, "codec",
               "ratio", "error", "encode GB/s", "decode GB/s");
    Workspace workspace;
    const Settings settings{.accepted = accepted, .shape = {edge, edge, edge}};
    const auto trials = measure(std::span<const std::span<const double>>(steps), settings, workspace);
    if (!trials) {
      fmt::print("{}\n", text(trials.error()));
      continue;
    }
    for (const Trial& trial : *trials) {
      fmt::print("{:<12} {:>7.2f} {:>10.2e} {:>12.2f} {:>12.2f} {}\n", name(trial.codec), trial.ratio, trial.error,
                 trial.encode_rate / 1e9, trial.decode_rate / 1e9, text(trial.fallback));
    }
    const Rates slow{.write = 0.1e9, .read = 0.1e9, .threads = 1};
    const Rates fast{.write = 2e9, .read = 4e9, .threads = 1};
    fmt::print("chosen for 0.1 GB/s each way: {}; for 2 and 4: {}; to fit three times as much: {}\n",
               name((*trials)[choose(*trials, slow)].codec), name((*trials)[choose(*trials, fast)].codec),
               name((*trials)[choose(*trials, {.write = 8e9, .read = 8e9, .needed_ratio = 3})].codec));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long wanted = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 64;
  if (argc > 2 || wanted < 8 || wanted > 512) {
    fmt::print(stderr, "usage: codec_bench [EDGE]   (8 to 512)\n");
    return 2;
  }
  const auto edge = static_cast<std::uint32_t>(wanted);
  for (const char* flow : {"steady", "turbulent"}) show(flow, *bench::flow(flow, edge, kSteps), edge);
  return 0;
}
