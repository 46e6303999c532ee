// mesh_bench: million new cells per second and core: into fresh memory, and streaming through buffers that are
// used again. Everything is made: coordinates, cells, faces with the cells on both sides, 64-bit global numbers.
//
// Goals: 15 and 60 million tetrahedra per second, a third of that for other shapes. As a share of the memory's own
// rate: bytes made per second over those of filling fresh memory of that size. Or, with --pairs, seconds of two ranks,
// of which each refines a half, by itself and beside the other, by turns: what else a machine does changes within
// seconds.
#include <fmt/format.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "meshes/mesh/mesh.h"

namespace {

using namespace forebay;
using namespace forebay::mesh;

struct Settings {
  std::uint32_t edge = 13;  // 13,182 tetrahedra
  int levels = 3;
  int repetitions = 5;
  int pairs = 0;
  bool json = false;
};

[[noreturn]] void give_in(const std::string& text) {
  fmt::print(stderr, "mesh_bench: {}\n", text);
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  give_in(result.error().text());
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

// A mesh to refine. The mesh and its numbers stay where they are.
struct Case {
  Case(const Settings& settings, Shape shape)
      : mesh(need(make_cavity(settings.edge, shape))),
        topology(need(number(mesh))),
        refinement(need(Refinement::make(mesh, topology, settings.levels))) {}
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  const Mesh mesh;
  const Topology topology;
  const Refinement refinement;
};

std::vector<Row> measure(const Settings& settings, Shape shape) {
  const Case all(settings, shape);
  const Refinement& refinement = all.refinement;
  const std::vector<std::uint32_t> cells = all_cells(all.mesh);
  const auto count = static_cast<double>(refinement.counts().cells);
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

constexpr int kRanks = 2;

// The second rank: a process that works when it is told to.
class Other {
 public:
  template <class Work>
  explicit Other(Work work) {
    void* memory = ::mmap(nullptr, sizeof(Turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) give_in("no memory to share");
    turn_ = new (memory) Turn;
    ::sem_init(&turn_->begin, 1, 0);
    ::sem_init(&turn_->end, 1, 0);
    process_ = ::fork();
    if (process_ < 0) give_in("no second process");
    if (process_ > 0) return;
    for (;; ::sem_post(&turn_->end)) {
      wait(&turn_->begin);
      if (turn_->over) ::_exit(0);
      turn_->seconds = usual(1, work);
    }
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    turn_->over = true;
    begin();
    ::waitpid(process_, nullptr, 0);
    ::munmap(turn_, sizeof(Turn));
  }
  void begin() { ::sem_post(&turn_->begin); }
  double seconds() {
    wait(&turn_->end);
    return turn_->seconds;
  }

 private:
  struct Turn {
    sem_t begin, end;
    double seconds = 0;
    bool over = false;
  };
  static void wait(sem_t* semaphore) {
    constexpr int kTooLong = 60;
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += kTooLong;
    while (::sem_timedwait(semaphore, &until) != 0)
      if (errno != EINTR) give_in("the other rank does not answer");
  }

  Turn* turn_ = nullptr;
  pid_t process_ = -1;
};

// One way of refining, in processor seconds of each rank by itself and beside the other.
class Pairs {
 public:
  Pairs(std::string name, const std::array<double, kRanks>& cells, std::function<void(std::size_t)> refine_part)
      : name_(std::move(name)),
        cells_(cells),
        refine_part_(std::move(refine_part)),
        other_([this] { refine_part_(1); }) {}

  void add() {
    alone_[0].push_back(usual(1, [&] { refine_part_(0); }));
    other_.begin();
    alone_[1].push_back(other_.seconds());
    other_.begin();
    beside_[0].push_back(usual(1, [&] { refine_part_(0); }));
    beside_[1].push_back(other_.seconds());
  }
  nlohmann::json figures() const {
    return {{"name", name_}, {"cells", cells_}, {"alone", alone_}, {"beside", beside_}};
  }

 private:
  std::string name_;
  std::array<double, kRanks> cells_;
  std::array<std::vector<double>, kRanks> alone_, beside_;  // by rank
  std::function<void(std::size_t)> refine_part_;
  Other other_;
};

// A mesh of one shape, a half of it for each rank. Stays where it is.
struct Halves {
  Halves(const Settings& settings, Shape shape) : all(settings, shape) {
    const auto partition = need(partition_along_curve(all.refinement, kRanks));
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      parts[rank] = partition.cells_of(rank);
      // Every coarse cell of one shape becomes as many.
      const auto share = static_cast<double>(parts[rank].size()) / static_cast<double>(all_cells(all.mesh).size());
      cells[rank] = share * static_cast<double>(all.refinement.counts().cells);
    }
    const std::string name(describe(shape).name);
    fresh.emplace(name + ", fresh", cells, [this](std::size_t rank) { need(make_part(all.refinement, parts[rank])); });
    streaming.emplace(name + ", streaming", cells,
                      [this](std::size_t rank) { stream_all(all.refinement, parts[rank]); });
  }

  Case all;
  std::array<std::vector<std::uint32_t>, kRanks> parts;
  std::array<double, kRanks> cells{};
  std::optional<Pairs> fresh, streaming;
};

// All take turns, so that no disturbance meets one of them alone.
int print_pairs(const Settings& settings) {
  std::vector<std::unique_ptr<Halves>> shapes;
  for (const Shape shape : {Shape::tetrahedron, Shape::hexahedron, Shape::prism, Shape::pyramid}) {
    shapes.push_back(std::make_unique<Halves>(settings, shape));
  }
  for (int i = 0; i < settings.pairs; ++i) {
    for (const auto& each : shapes) {
      each->fresh->add();
      each->streaming->add();
    }
  }
  nlohmann::json all = nlohmann::json::array();
  for (const auto& each : shapes) {
    all.push_back(each->fresh->figures());
    all.push_back(each->streaming->figures());
  }
  fmt::print("{}\n", nlohmann::json{{"pairs", all}}.dump());
  return 0;
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
  app.add_option("--pairs", settings.pairs, "Print JSON of so many pairs: a rank by itself, and beside another")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", settings.json, "Print one JSON object");
  CLI11_PARSE(app, count, words);
  if (settings.pairs > 0) return print_pairs(settings);
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
