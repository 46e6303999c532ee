// mesh_bench: million new cells per second and core: into fresh memory, and streaming through buffers that are
// used again. Everything is made: coordinates, cells, faces with the cells on both sides, 64-bit global numbers.
//
// Goals: 15 and 60 million tetrahedra per second, a third of that for other shapes. As a share of the memory's own
// rate: bytes made per second over those of filling fresh memory of that size.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "mesh/mesh.h"

namespace {

using namespace forebay;
using namespace forebay::mesh;

struct Settings {
  std::uint32_t edge = 13;  // 13,182 tetrahedra
  int levels = 3;
  int repetitions = 5;
  std::uint32_t parts = 1, part = 0;
  bool json = false;
};

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "mesh_bench: {}\n", result.error().text());
  std::exit(1);
}

// The processor's time, since rates are per core and other programs may run beside; the kernel's work on pages counts.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The median of all repetitions, in seconds.
template <class Work>
double usual(int repetitions, Work work) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = processor_seconds();
    work();
    seconds.push_back(processor_seconds() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

std::uint64_t bytes_of(const Elements& elements) {
  return elements.corners.size() * sizeof(std::uint32_t) + elements.numbers.size() * sizeof(std::uint64_t);
}

std::uint64_t bytes_of(const Part& part) {
  return part.points.size() * (sizeof(Point) + sizeof(std::uint64_t)) + bytes_of(part.cells) + bytes_of(part.faces) +
         part.sides.size() * sizeof(std::uint32_t);
}

std::uint64_t stream_all(const Refinement& refinement, const std::vector<std::uint32_t>& cells) {
  std::uint64_t bytes = 0;
  const auto elements = [&bytes](const ElementPiece& piece) {
    bytes += piece.corners.size_bytes() + piece.sides.size_bytes();
    return Status{};
  };
  const Status points = stream_points(refinement, cells, [&bytes](const PointPiece& piece) {
    bytes += piece.points.size_bytes();
    return Status{};
  });
  if (!points || !stream_cells(refinement, cells, elements) || !stream_faces(refinement, cells, elements)) std::exit(1);
  return bytes;
}

struct Row {
  std::string name;
  double rate, bytes_per_cell, share_of_memory, goal;
};

std::vector<Row> measure(const Settings& settings, Shape shape) {
  const Mesh mesh = need(make_cavity(settings.edge, shape));
  const Topology topology = need(number(mesh));
  const Refinement refinement = need(Refinement::make(mesh, topology, settings.levels));
  const std::vector<std::uint32_t> cells =
      need(partition_along_curve(refinement, settings.parts)).cells_of(settings.part);
  // Every coarse cell of one shape becomes as many.
  const auto share = static_cast<double>(cells.size()) / static_cast<double>(all_cells(mesh).size());
  const double count = share * static_cast<double>(refinement.counts().cells);
  const double third = shape == Shape::tetrahedron ? 1 : 1.0 / 3;

  const std::uint64_t fresh_bytes = bytes_of(need(make_part(refinement, cells)));
  const double fill = usual(settings.repetitions, [&] {
    auto memory = need(Array<std::byte>::make(fresh_bytes));
    std::memset(memory.data(), 1, memory.size());
  });
  const double fresh = usual(settings.repetitions, [&] { need(make_part(refinement, cells)); });
  std::uint64_t streamed_bytes = 0;
  const double streamed = usual(settings.repetitions, [&] { streamed_bytes = stream_all(refinement, cells); });
  const double memory_rate = static_cast<double>(fresh_bytes) / fill;
  const auto row = [&](const char* how, std::uint64_t bytes, double seconds, double goal) {
    return Row{fmt::format("{}, {}", describe(shape).name, how), count / seconds, static_cast<double>(bytes) / count,
               static_cast<double>(bytes) / seconds / memory_rate, goal * third};
  };
  return {row("fresh", fresh_bytes, fresh, 15e6), row("streaming", streamed_bytes, streamed, 60e6)};
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Measures how fast meshes are refined: million new cells per second of one process.");
  Settings settings;
  app.add_option("--edge", settings.edge, "Cubes along the edge of the cavity")->capture_default_str();
  app.add_option("--levels", settings.levels, "Levels of refinement")->capture_default_str();
  app.add_option("--repetitions", settings.repetitions, "Of which the median counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--parts", settings.parts, "Cut the mesh into so many parts along Hilbert's curve")
      ->check(CLI::PositiveNumber);
  app.add_option("--part", settings.part, "Refine this one of them, counted from 0");
  app.add_flag("--json", settings.json, "Print one JSON object");
  CLI11_PARSE(app, count, words);
  if (settings.part >= settings.parts) {
    fmt::print(stderr, "mesh_bench: there is no part {} of {}\n", settings.part, settings.parts);
    return 2;
  }
  nlohmann::json results = nlohmann::json::array();
  for (const Shape shape : {Shape::tetrahedron, Shape::hexahedron, Shape::prism, Shape::pyramid}) {
    for (const Row& row : measure(settings, shape)) {
      const bool met = row.rate >= row.goal;
      results.push_back({{"name", row.name},
                         {"value", row.rate},
                         {"unit", "cells/s"},
                         {"reference", row.goal},
                         {"ratio", row.rate / row.goal},
                         {"goal", 1},
                         {"met", met},
                         {"bytes_per_cell", row.bytes_per_cell},
                         {"share_of_memory_rate", row.share_of_memory}});
      if (!settings.json)
        fmt::print(
            "{:<24} {:7.1f} million cells/s, goal {:4.0f} {:<8} {:5.0f} bytes a cell, {:4.2f} of the memory's rate\n",
            row.name, row.rate / 1e6, row.goal / 1e6, met ? "met" : "NOT met", row.bytes_per_cell, row.share_of_memory);
    }
  }
  if (settings.json) fmt::print("{}\n", nlohmann::json{{"results", results}}.dump());
  return 0;
}
