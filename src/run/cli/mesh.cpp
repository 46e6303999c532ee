// forebay mesh: what may be asked of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/elsewhere.h"
#include "run/cli/interface.h"

namespace forebay::cli {
namespace {

// The text behind the list of options.
std::string more_of_mesh() {
  return footer(
      {"forebay mesh multiply cavity:tetrahedra:4 --levels 2 -o cavity.vtkhdf",
       "forebay mesh multiply cavity:hexahedra:2 -l 3 -o parts.vtkhdf --parts 6 --partition parts.txt"},
      {"Cells are numbered and placed as docs/meshes/mesh.md says, whatever the number of threads, and written as they "
       "are made: memory is needed for the coarse mesh alone, except that beyond 6 levels those above 6 are made "
       "first, in memory.",
       "FILE has the cells. The faces at the boundary and those of groups are in another file, named "
       "FILE-boundary.vtkhdf without the first ending, with the groups as data of the faces. Both, and the one of "
       "--partition, appear when they are whole and on the disk, or none of them.",
       "Refused before anything is written: a mesh that cannot be refined or does not conform (a point hangs on an "
       "edge, a quadrilateral lies on triangles), names that are taken (unless --force), and what there is no room "
       "for. Cells that come out inside out are an error, too. Bodies without a common face, and faces that coincide, "
       "are a warning: --merge joins their points."});
}

// CLI11's own tells of a range of 309 digits.
CLI::Validator at_least(int least) {
  const auto check = [least](std::string& text) {
    double number = 0;
    const bool fits = CLI::detail::lexical_cast(text, number) && number >= least;
    return fits ? std::string() : fmt::format("a number of at least {} is wanted, not {}", least, printable(text));
  };
  return {check, ""};
}

}  // namespace

Declared<MeshOptions> declare_mesh(CLI::App& app) {
  const auto options = std::make_shared<MeshOptions>();
  CLI::App* command = app.add_subcommand("mesh", "refine a coarse mesh into a huge one that ParaView opens");
  command->add_option("ACTION", options->action, "multiply")
      ->required()
      ->type_name("multiply")
      ->check(CLI::IsMember({"multiply"}).description(""));
  command
      ->add_option("IN", options->sources,
                   "the coarse mesh: a file (Gmsh .msh, .vtk, .vtu, ...), or cavity:SHAPES:N, the lid-driven cavity of "
                   "N x N x N cubes in tetrahedra, hexahedra, prisms or pyramids; several are joined")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--groups", options->groups,
          "the array of IN's cells whose values are groups, where its name does not tell (docs/meshes/mesh.md)")
      ->type_name("ARRAY");
  command
      ->add_option("--join", options->joints,
                   "a group of faces of an IN, and the one of the next IN that lies on it: the two meshes become one "
                   "there; once for each IN but the last")
      ->type_name("ONE OTHER");
  command
      ->add_option("--tolerance", options->tolerance,
                   "how far two points that meet there may lie apart (default: 0, not at all)")
      ->type_name("LENGTH")
      ->check(at_least(0));
  command
      ->add_option("--merge", options->merge,
                   "make points one that lie no further apart: for a mesh whose bodies have points of their own where "
                   "they touch; 0: at the same place")
      ->type_name("TOLERANCE")
      ->check(at_least(0));
  command->add_option("--levels,-l", options->levels, "how many times each cell is cut into 8")
      ->required()
      ->type_name("LEVELS");
  command->add_option("--output,-o", options->output, "the file to make; its name ends in .vtkhdf")
      ->required()
      ->type_name("FILE");
  command->add_flag("--force,-f", options->force, "replace files that are there already");
  command
      ->add_option("--parts", options->parts,
                   "cut the mesh along a Hilbert curve into so many parts, and say of each cell which it belongs to")
      ->type_name("PARTS");
  command
      ->add_option("--parts-from", options->parts_from,
                   "take the part of each coarse cell from this file, one a line, as METIS writes it")
      ->type_name("FILE");
  command
      ->add_option("--partition", options->partition,
                   "write the part of each coarse cell into this file, one a line, as METIS does")
      ->type_name("FILE");
  command->add_option("--threads,-t", options->threads, "how many work (default: as many as there are processors)")
      ->type_name("THREADS")
      ->check(at_least(1));
  command->add_flag("--json", options->json, "print the summary as JSON");
  command->add_flag("--quiet,-q", options->quiet, "print nothing unless something is wrong");
  return {command, options};
}

void add_mesh(CLI::App& app, int& exit_status) {
  const auto mesh = declare_mesh(app);
  set_rare(*mesh.command, {"--groups", "--join", "--tolerance", "--merge", "--parts-from", "--partition", "--threads"});
  mesh.command->footer(more_of_mesh());
  carry_out_elsewhere(mesh, exit_status);
}

}  // namespace forebay::cli
