// A coarse mesh made a fine one that ParaView opens.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "files/files.h"
#include "meshes/multiply/multiply.h"
#include "run/cli/commands.h"
#include "run/cli/progress.h"

namespace forebay::files {
namespace {

// The program is installed beside the command, or lies in the sources above a build tree. Where it is in neither,
// reading says so.
std::string mesh_reader() {
  const auto command = real_path("/proc/self/exe");
  const std::string above{command ? parent_of(parent_of(*command)) : std::string_view()};
  const std::string installed = join(above, "share/forebay/mesh/read_mesh.py");
  const bool there = ::access(installed.c_str(), R_OK) == 0;
  return there ? installed : join(parent_of(above), "src/meshes/mesh/read_mesh.py");
}

}  // namespace

int multiply(const cli::MeshOptions& options) {
  auto coarse = multiply::coarse_mesh(
      {options.sources, options.groups, options.joints, options.tolerance, options.merge}, mesh_reader());
  if (!coarse) return cli::failed(coarse.error());
  for (const std::string& each : coarse->left_out) fmt::print(stderr, "forebay: left out of {}\n", printable(each));
  cli::Progress progress(options.quiet, real_clock());
  const auto show = [&](std::uint64_t written, std::uint64_t all) {
    progress.show(cli::progress_line("writing", written, all));
  };
  const multiply::Request request = {options.levels,     options.output,    options.force,  options.parts,
                                     options.parts_from, options.partition, options.threads};
  auto report = multiply::multiply(request, std::move(coarse->mesh), show);
  progress.clear();
  if (!report) return cli::failed(report.error());
  for (const std::string& each : report->warnings) fmt::print(stderr, "forebay: warning: {}\n", each);
  report->left_out = std::move(coarse->left_out);
  if (options.json) {
    fmt::print("{}", json_of(*report));
  } else if (!options.quiet) {
    fmt::print("{}", text_of(*report));
  }
  return 0;
}

}  // namespace forebay::files
