// The experiment of C. Moulinec and V. Szeremi, Parallel IO in Code_Saturne (ARCHER/PRACE training, 2014): the
// lid-driven cavity, refined and partitioned along Hilbert's curve; its input read, two checkpoints written, and mesh
// and fields as ParaView reads them, by one method. Run by mpirun; rank 0 prints JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "arrays/blocks/bench/need.h"
#include "arrays/blocks/bench/timed.h"
#include "arrays/blocks/blocks.h"
#include "arrays/blocks/mesh_output.h"
#include "meshes/mesh/mesh.h"

namespace {

using namespace forebay;
using namespace forebay::blocks;
using bench::need;

struct Settings {
  std::uint32_t edge = 13;
  int levels = 2;
  std::string method = "mpi-collective";
  BlockRequest blocks;
  int repeat = 3;
  std::string directory = "/dev/shm";
  std::string pool = "/dev/shm";
};

// One rank's part of the cavity: its cells, the points they stand on, and values for the checkpoints.
class Cavity {
 public:
  Cavity(const Team& team, const Settings& settings)
      : mesh_(need(mesh::make_cavity(settings.edge, mesh::Shape::tetrahedron))),
        topology_(need(mesh::number(mesh_))),
        refinement_(need(mesh::Refinement::make(mesh_, topology_, settings.levels))),
        part_(need(mesh::make_part(refinement_, mine(team)))),
        cell_plan_(plan(team, settings.blocks, part_.cells.numbers, refinement_.counts().cells, Shared::refused)),
        point_plan_(plan(team, settings.blocks, part_.point_numbers, refinement_.counts().points, Shared::once)),
        cells_(cell_plan_),
        points_(point_plan_) {
    for (std::size_t i = 0; i < part_.cells.corners.size(); ++i)
      vertices_.push_back(part_.point_numbers[part_.cells.corners[i]] + 1);
    const std::size_t cells = part_.cells.numbers.size();
    types_.resize(cells, kTetrahedron);
    lengths_.resize(cells, 4);
    velocity_.resize(3 * cells, 1);
    pressure_.resize(cells, 2);
  }

  const mesh::Refinement& refinement() const { return refinement_; }
  const BlockMap& map() const { return cell_plan_.map(); }

  std::vector<FieldToWrite> input() {
    return {{"coordinates", "vertices", array_file::Type::float64, 3, &points_, part_.points.data()},
            {"vertices", "cells", array_file::Type::uint64, 4, &cells_, vertices_.data()}};
  }
  std::vector<FieldToRead> input_to_read() {
    return {{"coordinates", "vertices", array_file::Type::float64, 3, &points_, part_.points.data()},
            {"vertices", "cells", array_file::Type::uint64, 4, &cells_, vertices_.data()}};
  }
  MeshToWrite mesh() {
    return {&points_, {part_.points.data()->data(), 3 * part_.points.size()}, &cells_, types_, lengths_, vertices_};
  }
  std::vector<FieldToWrite> pressure() {
    return {{"pressure", "cells", array_file::Type::float64, 1, &cells_, pressure_.data()}};
  }
  std::vector<FieldToWrite> pressure_and_velocity() {
    auto fields = pressure();
    fields.push_back({"velocity", "cells", array_file::Type::float64, 3, &cells_, velocity_.data()});
    return fields;
  }

 private:
  std::vector<std::uint32_t> mine(const Team& team) const {
    const auto ranks = static_cast<std::uint32_t>(team.ranks());
    return need(mesh::partition_along_curve(refinement_, ranks)).cells_of(static_cast<std::uint32_t>(team.rank()));
  }
  // Meshes count from 0, blocks from 1.
  static Plan plan(const Team& team, const BlockRequest& blocks, const mesh::Array<std::uint64_t>& numbers,
                   std::uint64_t items, Shared shared) {
    std::vector<std::uint64_t> from_1(numbers.all().begin(), numbers.all().end());
    for (std::uint64_t& number : from_1) ++number;
    return need(Plan::make(team, from_1, items, {blocks, shared}));
  }

  mesh::Mesh mesh_;
  mesh::Topology topology_;
  mesh::Refinement refinement_;
  mesh::Part part_;
  Plan cell_plan_, point_plan_;
  Exchange cells_, points_;
  static constexpr std::uint8_t kTetrahedron = 10;  // VTK's number
  std::vector<std::uint8_t> types_;
  std::vector<std::uint64_t> lengths_, vertices_;
  std::vector<double> velocity_, pressure_;
};

std::uint64_t bytes_of(const std::vector<FieldToWrite>& fields) {
  std::uint64_t bytes = 0;
  for (const FieldToWrite& field : fields)
    bytes += field.exchange->plan().map().items() * field.components * array_file::bytes_of(field.type);
  return bytes;
}

nlohmann::json measured(const Team& team, const Settings& settings) {
  Cavity cavity(team, settings);
  Options options;
  options.method = need(method_named(settings.method));
  options.pool = settings.pool;
  const auto store = need(Checkpoints::open(team, settings.directory, options));
  nlohmann::json json = {{"cells", cavity.refinement().counts().cells},
                         {"points", cavity.refinement().counts().points},
                         {"ranks", team.ranks()},
                         {"blocks", cavity.map().blocks()},
                         {"method", settings.method}};
  need(store->write("cavity-input.h5", {}, cavity.input()));
  const auto input = cavity.input_to_read();
  json["read"] = {
      {"name", "input"},
      {"bytes", bytes_of(cavity.input())},
      {"seconds", bench::repeated(settings.repeat, [&] { need(store->read("cavity-input.h5", "", input)); })}};

  const auto measure = [&](const std::string& what, std::uint64_t bytes, const std::function<void()>& write,
                           const std::function<void()>& settle) {
    std::vector<double> continued, settled;
    // A slot of a pool is new the first time it is used.
    for (int i = -kSlots; i < settings.repeat; ++i) {
      const double until_continued = bench::timed(write);
      const double until_settled = until_continued + bench::timed(settle);
      if (i < 0) continue;
      continued.push_back(until_continued);
      settled.push_back(until_settled);
    }
    json["written"].push_back({{"name", what}, {"bytes", bytes}, {"continued", continued}, {"settled", settled}});
  };
  const auto write = [&](const std::string& what, const std::string& file, const std::vector<FieldToWrite>& fields) {
    measure(
        what, bytes_of(fields), [&] { need(store->write(file, {}, fields)); }, [&] { need(store->settle()); });
  };
  write("checkpoint 1", "cavity-1.h5", cavity.pressure());
  write("checkpoint 2", "cavity-2.h5", cavity.pressure_and_velocity());
  const auto output = need(MeshOutput::make(*store, "cavity", cavity.mesh()));
  const auto fields = cavity.pressure();
  // Each cell has four corners, the end of their list and its shape.
  const std::uint64_t mesh_bytes = cavity.refinement().counts().points * 3 * sizeof(double) +
                                   cavity.refinement().counts().cells * (5 * sizeof(std::int64_t) + 1);
  measure(
      "mesh output", mesh_bytes + bytes_of(fields), [&] { need(output->write({}, fields)); },
      [&] { need(output->settle()); });
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Settings settings;
  CLI::App app("The lid-driven cavity, read and written by one method: seconds, each the slowest rank's");
  app.add_option("--edge", settings.edge, "cubes along the edge of the coarse cavity, of six tetrahedra each");
  app.add_option("--levels", settings.levels, "of refinement");
  app.add_option("--method", settings.method, "which writes and reads");
  app.add_option("--blocks", settings.blocks.most_blocks, "at most so many; 0: as many as ranks");
  app.add_option("--least-bytes", settings.blocks.least_bytes, "of a block");
  app.add_option("--repeat", settings.repeat, "how often");
  app.add_option("--directory", settings.directory, "of the files");
  app.add_option("--pool", settings.pool, "of the staged images");
  CLI11_PARSE(app, argc, argv);
  {
    const Team team = need(Team::of(MPI_COMM_WORLD));
    const nlohmann::json json = measured(team, settings);
    if (team.rank() == 0) fmt::print("{}\n", json.dump(1));
  }
  MPI_Finalize();
}
