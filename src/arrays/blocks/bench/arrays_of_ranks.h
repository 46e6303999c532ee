// Arguments that all benchmarks of scattered arrays take: how the numbers lie on ranks, how often, and where files go.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays/blocks/bench/numbering.h"

namespace forebay::blocks::bench {

struct ArraysOfRanks {
  std::uint64_t items = 8'000'000;
  std::uint64_t run = 32;
  bool shuffled = false;
  int repeat = 5;
  std::string directory = "/dev/shm";

  void add_to(CLI::App& app) {
    app.add_option("--items", items, "items of 8 bytes in all");
    app.add_option("--run", run, "how many with consecutive numbers lie on one rank");
    app.add_flag("--shuffled", shuffled, "ranks hold their items in random order");
    app.add_option("--repeat", repeat, "how often");
    app.add_option("--directory", directory, "of the files");
  }
  std::vector<std::uint64_t> numbers(int ranks, int rank) const { return scattered(items, run, ranks, rank, shuffled); }
};

}  // namespace forebay::blocks::bench
