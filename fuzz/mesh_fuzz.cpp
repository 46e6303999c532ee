// Reads meshes that were changed in any way, as the reader of files hands them over, and partitions: never a crash, a
// hang or memory without bound. What is read is looked at, merged, refined once and cut into parts, as a mesh of a file
// is.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "meshes/mesh/cavity.h"
#include "meshes/mesh/conformity.h"
#include "meshes/mesh/join.h"
#include "meshes/mesh/part.h"
#include "meshes/mesh/partition.h"
#include "meshes/mesh/reader.h"
#include "meshes/mesh/survey.h"

namespace {

using namespace forebay;
using mesh::Shape;

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// As read_mesh.py writes it: a cavity with a group of cells and a pair of periodic faces.
std::string written(Shape shape) {
  auto cavity = mesh::make_cavity(1, shape);
  if (!cavity) std::abort();
  const std::size_t cells = cavity->cells();
  nlohmann::json header = {{"points", cavity->points.size()},
                           {"blocks", {{{"shape", describe(shape).name}, {"count", cells}}}},
                           {"face_groups", nlohmann::json::array()},
                           {"cell_groups", {{{"name", "fluid"}, {"count", 1}}}},
                           {"periodic", 1},
                           {"left_out", nlohmann::json::array()}};
  for (const mesh::FaceGroup& group : cavity->face_groups)
    header["face_groups"].push_back({{"name", group.name}, {"count", group.faces.size()}});
  std::string bytes = header.dump() + "\n";
  append(bytes, cavity->points);
  append(bytes, cavity->corners);
  for (const mesh::FaceGroup& group : cavity->face_groups) append(bytes, group.faces);
  append(bytes, std::vector<std::uint32_t>{0});
  const auto &lid = cavity->face_groups[0].faces[0], &wall = cavity->face_groups[1].faces[0];
  append(bytes, std::vector<mesh::PeriodicFaces>{{lid, wall}});
  return bytes;
}

void change(FuzzedDataProvider& input, std::string& bytes) {
  if (input.ConsumeBool()) bytes.resize(input.ConsumeIntegralInRange<std::size_t>(0, bytes.size()));
  while (input.remaining_bytes() > 0 && !bytes.empty()) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size() - 1);
    const std::string with = input.ConsumeRandomLengthString(16);
    std::memcpy(bytes.data() + at, with.data(), std::min(with.size(), bytes.size() - at));
  }
}

void refine(const mesh::Mesh& coarse) {
  const auto topology = number(coarse);
  if (!topology) return;
  (void)conformity(coarse, *topology);
  const auto refinement = mesh::Refinement::make(coarse, *topology, 1);
  if (!refinement) std::abort();
  const auto cells = mesh::all_cells(coarse);
  if (mesh::survey(*refinement, cells).cells != refinement->counts().cells) std::abort();
  if (!mesh::partition_along_curve(*refinement, 3)) std::abort();
}

void read_changed_mesh(FuzzedDataProvider& input) {
  constexpr std::array kShapes = {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron};
  const double tolerance = input.ConsumeFloatingPoint<double>();
  std::string bytes = written(input.PickValueInArray(kShapes));
  change(input, bytes);
  auto read = mesh::parsed(bytes);
  if (!read) return;
  mesh::choose_diagonals(read->mesh);
  refine(read->mesh);
  const std::array meshes{read->mesh, read->mesh};
  const std::array joints{mesh::Joint{{0, "lid"}, {1, "walls"}}};
  (void)mesh::join(meshes, joints, tolerance);
  if (mesh::merge(read->mesh, tolerance)) refine(read->mesh);
}

void read_partition_of(const std::string& text, std::size_t cells) {
  const int file = ::memfd_create("partition", 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  const auto read = mesh::read_partition(path, cells);
  if (read && read->part.size() != cells) std::abort();
  ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider input(bytes, size);
  if (input.ConsumeBool()) {
    read_changed_mesh(input);
  } else {
    const auto cells = input.ConsumeIntegralInRange<std::size_t>(0, 40);
    read_partition_of(input.ConsumeRemainingBytesAsString(), cells);
  }
  return 0;
}
