#include "meshes/mesh/reader.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/python.h"
#include "meshes/mesh/child.h"
#include "meshes/mesh/quality.h"

namespace forebay::mesh {
namespace {

using Json = nlohmann::json;

// The bytes that follow the line of JSON, taken piece by piece.
class Arrays {
 public:
  explicit Arrays(std::string_view bytes) : rest_(bytes) {}
  // False when there is less than so many.
  template <class T>
  bool take(std::size_t count, std::vector<T>& to) {
    if (count > rest_.size() / sizeof(T)) return false;
    to.resize(count);
    if (count > 0) std::memcpy(to.data(), rest_.data(), count * sizeof(T));
    rest_.remove_prefix(count * sizeof(T));
    return true;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Shape> shape_called(const std::string& name) {
  for (const Shape shape : {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron})
    if (describe(shape).name == name) return shape;
  return std::nullopt;
}

bool take_cells(const Json& header, Arrays& arrays, Mesh& mesh) {
  for (const Json& block : header.at("blocks")) {
    const auto shape = shape_called(block.at("shape").get<std::string>());
    std::vector<std::uint32_t> corners;
    const std::size_t width = shape ? describe(*shape).corners : 0;
    if (!shape || !arrays.take(block.at("count").get<std::uint32_t>() * width, corners)) return false;
    for (std::size_t i = 0; i < corners.size(); i += width) mesh.add(*shape, std::span(corners).subspan(i, width));
  }
  return true;
}

bool take_groups(const Json& header, Arrays& arrays, Mesh& mesh) {
  for (const Json& group : header.at("face_groups")) {
    mesh.face_groups.push_back({group.at("name").get<std::string>(), {}});
    if (!arrays.take(group.at("count").get<std::uint32_t>(), mesh.face_groups.back().faces)) return false;
  }
  for (const Json& group : header.at("cell_groups")) {
    mesh.cell_groups.push_back({group.at("name").get<std::string>(), {}});
    if (!arrays.take(group.at("count").get<std::uint32_t>(), mesh.cell_groups.back().cells)) return false;
  }
  return true;
}

std::string_view last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

bool is_mirrored(const Mesh& mesh, std::size_t cell) {
  std::array<Point, kMostCorners> at{};
  const auto corners = mesh.cell(cell);
  std::transform(corners.begin(), corners.end(), at.begin(), [&](std::uint32_t point) { return mesh.points[point]; });
  return volume(mesh.shapes[cell], std::span<const Point>(at).first(corners.size())) < 0;
}

// VTK lists a prism from its other triangle, and files are found in either order: where the order makes all prisms
// mirror images, they are read the other way round.
void turn_mirrored_prisms(Mesh& mesh) {
  std::vector<std::size_t> prisms;
  for (std::size_t cell = 0; cell < mesh.cells(); ++cell)
    if (mesh.shapes[cell] == Shape::prism) prisms.push_back(cell);
  if (!std::all_of(prisms.begin(), prisms.end(), [&](std::size_t cell) { return is_mirrored(mesh, cell); })) return;
  for (const std::size_t cell : prisms) {
    const auto first = mesh.corners.begin() + static_cast<std::ptrdiff_t>(mesh.first[cell]);
    std::swap_ranges(first, first + 3, first + 3);
  }
}

}  // namespace

std::optional<Coarse> parsed(std::string_view text) {
  const std::size_t line = text.find('\n');
  const Json header = Json::parse(text.substr(0, line), nullptr, false);
  if (line == text.npos || header.is_discarded()) return std::nullopt;
  Arrays arrays(text.substr(line + 1));
  Coarse coarse;
  Mesh& mesh = coarse.mesh;
  try {
    coarse.left_out = header.at("left_out").get<std::vector<std::string>>();
    if (!arrays.take(header.at("points").get<std::uint32_t>(), mesh.points) || !take_cells(header, arrays, mesh) ||
        !take_groups(header, arrays, mesh) || !arrays.take(header.at("periodic").get<std::uint32_t>(), mesh.periodic) ||
        !arrays.empty())
      return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  for (const std::uint32_t corner : mesh.corners)
    if (corner >= mesh.points.size()) return std::nullopt;
  return coarse;
}

Result<Coarse> read_mesh(const std::string& path, const std::string& program, const std::string& groups) {
  // A clear error for what is no file, before another process is asked.
  for (const std::string& needed : {path, program}) {
    if (auto file = open_file(needed, O_RDONLY); !file) return forward(file);
  }
  const auto python = find_python({"meshio", "numpy"});
  if (!python) return forward(python);
  std::vector<std::string> words = {*python, program, path};
  if (!groups.empty()) words.push_back(groups);
  auto output = run_child(std::move(words));
  if (!output) return forward(output);
  if (!WIFEXITED(output->status) || WEXITSTATUS(output->status) != 0)
    return error(Code::bad_input, "cannot read the mesh", path,
                 WIFEXITED(output->status)
                     ? printable(last_line(output->errors))
                     : fmt::format("its reader was ended by signal {}", WTERMSIG(output->status)));
  auto coarse = parsed(output->text);
  if (!coarse) return error(Code::failed, "no mesh comes out of the reader of", path);
  turn_mirrored_prisms(coarse->mesh);
  choose_diagonals(coarse->mesh);
  if (auto valid = validate(coarse->mesh); !valid) return error(Code::bad_input, valid.error().what + " in", path);
  return std::move(*coarse);
}

}  // namespace forebay::mesh
