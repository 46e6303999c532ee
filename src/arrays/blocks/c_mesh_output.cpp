// The C interface to meshes and fields that ParaView opens.
#include <fmt/format.h>

#include <numeric>

#include "arrays/blocks/c_handles.h"
#include "arrays/blocks/mesh_output.h"

using namespace forebay::blocks;
using forebay::Code;
using forebay::error;
using forebay::Status;

struct forebay_mesh_output {
  const Team* team;
  std::unique_ptr<MeshOutput> value;
};

namespace {

std::uint64_t sum_of(const std::uint64_t* lengths, std::uint64_t count) {
  return std::accumulate(lengths, lengths + count, std::uint64_t{0});
}

Status check_given(const Team& team, const forebay_mesh& mesh) {
  if (auto fits = check_size(mesh, "forebay_mesh"); !fits) return fits;
  for (const auto& [plan, whose] : {std::pair{mesh.points, "points"}, {mesh.cells, "cells"}}) {
    if (plan == nullptr) return error(Code::bad_input, fmt::format("the mesh has no plan of its {} (NULL)", whose));
    if (&plan->value.team() == &team) continue;
    return error(Code::bad_input, fmt::format("the plan of {} is of another team than the checkpoints", whose));
  }
  const std::uint64_t points = mesh.points->value.local_items(), cells = mesh.cells->value.local_items();
  Status fits = given("places of points", mesh.places, points);
  if (fits) fits = given("types of cells", mesh.types, cells);
  if (fits) fits = given("lengths of cells", mesh.lengths, cells);
  if (fits) fits = given("vertices of cells", mesh.vertices, sum_of(mesh.lengths, cells));
  return fits;
}

// Converts a mesh that has all it must have.
MeshToWrite mesh_of(const forebay_mesh& mesh) {
  const std::uint64_t points = mesh.points->value.local_items(), cells = mesh.cells->value.local_items();
  const std::uint64_t corners = sum_of(mesh.lengths, cells);
  return {&mesh.points->exchange, {mesh.places, 3 * points}, &mesh.cells->exchange,
          {mesh.types, cells},    {mesh.lengths, cells},     {mesh.vertices, corners}};
}

}  // namespace

extern "C" {

int forebay_mesh_output_open(forebay_checkpoints* files, const char* name, const forebay_mesh* mesh,
                             forebay_mesh_output** output) {
  assign(output, nullptr);
  if (files == nullptr) return missing("handle of the checkpoints");
  const Team& team = *files->team;
  return run(team.all(), [&]() -> Status {
    Status mine = given("place for the mesh output", output);
    if (mine) mine = given("name of the files", name);
    if (mine) mine = given("mesh", mesh);
    if (mine) mine = check_given(team, *mesh);
    if (auto ok = team.agree(mine); !ok) return ok;
    auto made = MeshOutput::make(*files->value, name, mesh_of(*mesh));
    if (!made) return forward(made);
    *output = new forebay_mesh_output{&team, std::move(*made)};
    return {};
  });
}

int forebay_mesh_output_write(forebay_mesh_output* output, const forebay_head* head, const forebay_array* arrays,
                              int count) {
  if (output == nullptr) return missing("handle of the mesh output");
  return run(output->team->all(), [&]() -> Status {
    auto fields = fields_to_write(*output->team, arrays, count, check_head(head));
    return fields ? output->value->write(head_of(*head), *fields) : Status(forward(fields));
  });
}

int forebay_mesh_output_settle(forebay_mesh_output* output) {
  if (output == nullptr) return missing("handle of the mesh output");
  return run(output->team->all(), [&] { return output->value->settle(); });
}

int forebay_mesh_output_close(forebay_mesh_output* output) {
  if (output == nullptr) return FOREBAY_OK;
  const int status = forebay_mesh_output_settle(output);
  delete output;
  return status;
}

}  // extern "C"
