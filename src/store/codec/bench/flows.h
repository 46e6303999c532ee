// Made-up flows for benchmarks: fields of doubles on a cube, at consecutive steps.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace forebay::codec::bench {

// "steady": a smooth mean flow that hardly changes from step to step, with the residual of an iterative solver.
// "turbulent": 200 random waves with an energy spectrum of k^-5/3, carried past by a mean flow; a step is 0.2 of what
// moves the shortest wave by a cell.
// nullopt for any other name.
std::optional<std::vector<std::vector<double>>> flow(std::string_view name, std::size_t edge, int steps);

}  // namespace forebay::codec::bench
