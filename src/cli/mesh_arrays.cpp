// forebay mesh: a coarse mesh made a fine one that ParaView opens.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/interface.h"
#include "cli/progress.h"
#include "multiply/multiply.h"

namespace forebay::cli {
namespace {

struct MeshOptions {
  std::string action, source;
  multiply::Request request;
  bool json = false, quiet = false;
};

// Installed beside the command, or in the sources above a build tree. Where it is in neither, reading says so.
std::string mesh_reader() {
  const auto command = real_path("/proc/self/exe");
  const std::string above{command ? parent_of(parent_of(*command)) : std::string_view()};
  const std::string installed = join(above, "share/forebay/mesh/read_mesh.py");
  const bool there = ::access(installed.c_str(), R_OK) == 0;
  return there ? installed : join(parent_of(above), "src/mesh/read_mesh.py");
}

int multiply_mesh(const MeshOptions& options) {
  auto coarse = multiply::coarse_mesh(options.source, mesh_reader());
  if (!coarse) return failed(coarse.error());
  Progress progress(options.quiet);
  const auto show = [&](std::uint64_t written, std::uint64_t all) {
    progress.show(progress_line("writing", written, all));
  };
  const auto report = multiply::multiply(options.request, std::move(*coarse), show);
  progress.clear();
  if (!report) return failed(report.error());
  if (options.json) {
    fmt::print("{}", json_of(*report));
  } else if (!options.quiet) {
    fmt::print("{}", text_of(*report));
  }
  return 0;
}

}  // namespace

void add_mesh(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<MeshOptions>();
  multiply::Request& request = options->request;
  request.threads = std::max(1U, std::thread::hardware_concurrency());
  CLI::App* command = app.add_subcommand("mesh", "refine a coarse mesh into a huge one that ParaView opens");
  command->add_option("ACTION", options->action, "multiply")
      ->required()
      ->check(CLI::IsMember({"multiply"}).description(""));
  command
      ->add_option("IN", options->source,
                   "the coarse mesh: a file (Gmsh .msh, .vtk, .vtu, ...), or cavity:SHAPES:N, the lid-driven cavity of "
                   "N x N x N cubes in tetrahedra, hexahedra, prisms or pyramids")
      ->required();
  command->add_option("--levels,-l", request.levels, "how many times each cell is cut into 8")
      ->required()
      ->type_name("LEVELS");
  command->add_option("--output,-o", request.output, "the file to make; its name ends in .vtkhdf")
      ->required()
      ->type_name("FILE");
  command->add_flag("--force,-f", request.force, "replace files that are there already");
  command
      ->add_option("--parts", request.parts,
                   "cut the mesh along a Hilbert curve into so many parts, and say of each cell which it belongs to")
      ->type_name("PARTS");
  command
      ->add_option("--partition", request.partition,
                   "write the part of each coarse cell into this file, one a line, as METIS does")
      ->type_name("FILE");
  command->add_option("--threads,-t", request.threads, "how many work; default: as many as there are processors")
      ->type_name("THREADS")
      ->check(CLI::PositiveNumber.description(""));
  command->add_flag("--json", options->json, "print the summary as JSON");
  command->add_flag("--quiet,-q", options->quiet, "print nothing unless something is wrong");
  command->footer(footer(
      {"forebay mesh multiply cavity:tetrahedra:4 --levels 2 -o cavity.vtkhdf",
       "forebay mesh multiply cavity:hexahedra:2 -l 3 -o parts.vtkhdf --parts 6 --partition parts.txt"},
      {"Cells are numbered and placed as docs/mesh.md says, whatever the number of threads, and written as they are "
       "made: "
       "memory is needed for the coarse mesh alone, except that beyond 6 levels those above 6 are made first, in "
       "memory.",
       "FILE has the cells. The faces at the boundary and those of groups are in another file, named "
       "FILE-boundary.vtkhdf without the first ending, with the groups as data of the faces. Both appear when they are "
       "whole and on the disk, or not at all.",
       "Refused before anything is written: a mesh that cannot be refined, names that are taken (unless --force), and "
       "what there is no room for. Cells that come out inside out are an error, too."}));
  command->callback([options, &exit_status] { exit_status = multiply_mesh(*options); });
}

}  // namespace forebay::cli
