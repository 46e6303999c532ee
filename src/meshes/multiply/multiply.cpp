#include "meshes/multiply/multiply.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "meshes/mesh/conformity.h"
#include "meshes/mesh/part.h"
#include "meshes/multiply/cells.h"
#include "meshes/multiply/levels.h"
#include "meshes/multiply/parallel.h"
#include "meshes/multiply/surface.h"

namespace forebay::multiply {
namespace {

constexpr std::string_view kEnding = ".vtkhdf";
std::string boundary_of(const std::string& output) {
  return output.substr(0, output.size() - kEnding.size()) + "-boundary" + std::string(kEnding);
}

bool is_same_name(const std::string& one, const std::string& other) {
  const auto here = real_path(directory_of(one)), there = real_path(directory_of(other));
  return name_of(one) == name_of(other) && here && there && *here == *there;
}

Status check(const Request& request) {
  if (request.levels < 0 || request.levels > kMostLevels)
    return error(Code::bad_input, fmt::format("--levels cannot be {}", request.levels), {},
                 fmt::format("0 to {} are possible", kMostLevels));
  if (!request.output.ends_with(kEnding) || name_of(request.output) == kEnding)
    return error(Code::bad_input, "not a name by which ParaView knows what is in it:", printable(request.output),
                 fmt::format("let it end in {}", kEnding));
  if (request.parts > 0 && !request.parts_from.empty())
    return error(Code::bad_input, "a number of parts, and also a file that tells them:", request.parts_from);
  if (!request.partition.empty() && request.parts == 0)
    return error(Code::bad_input, "a file for a partition, but no number of parts", request.partition);
  if (is_same_name(request.partition, request.output) || is_same_name(request.partition, boundary_of(request.output)))
    return error(Code::bad_input, "the file for the partition is the one for cells or faces:", request.partition,
                 "choose another name");
  if (auto ok = make_way(request.output, request.force); !ok) return ok;
  if (auto ok = make_way(boundary_of(request.output), request.force); !ok) return ok;
  return request.partition.empty() ? Status{} : make_way(request.partition, request.force);
}

// All of the file, and what the cells are like.
Result<mesh::Survey> fill(const Fine& fine, const Runs& runs, unsigned threads, GridFile& file,
                          const Progress& progress) {
  const auto coarse_cells = mesh::all_cells(fine.refinement().mesh());
  const auto jobs = jobs_of(fine.refinement(), coarse_cells);
  const auto level = static_cast<int>(fine.before().size());
  std::vector<mesh::Survey> surveys(jobs.size());
  const auto job = [&](std::size_t number) -> Status {
    if (number == 0) return write_points(fine, file);  // by one thread, in large pieces
    auto survey = survey_cells(fine.refinement(), jobs[number - 1], level);
    if (!survey) return forward(survey);
    surveys[number - 1] = std::move(*survey);
    return write_cells(fine, runs, jobs[number - 1], file);
  };
  const auto meanwhile = [&] { progress(file.written(), file.bytes()); };
  if (auto ok = in_parallel(threads, jobs.size() + 1, job, meanwhile); !ok) return forward(ok);
  mesh::Survey all;
  for (const mesh::Survey& each : surveys) all += each;
  return all;
}

Result<mesh::Partition> partition_of(const Request& request, const mesh::Mesh& coarse, const mesh::Topology& topology) {
  if (!request.parts_from.empty()) return mesh::read_partition(request.parts_from, coarse.cells());
  if (request.parts == 0) return mesh::Partition{};
  const auto refinement = mesh::Refinement::make(coarse, topology, std::min(request.levels, mesh::kMostLevels));
  if (!refinement) return forward(refinement);
  return partition_along_curve(*refinement, request.parts);
}

Status sync(const std::string& path) {
  const auto file = open_file(path, O_RDONLY | O_NOFOLLOW);
  if (!file) return forward(file);
  return ::fsync(file->get()) == 0 ? Status{} : errno_error("cannot sync", path);
}

// Writes the partition under a temporary name, which goes with this unless it got its final one.
class PartitionFile {
 public:
  explicit PartitionFile(const std::string& path) : file_{temporary_of(path), path} {}
  PartitionFile(const PartitionFile&) = delete;
  PartitionFile& operator=(const PartitionFile&) = delete;
  ~PartitionFile() {
    if (written_) ::unlink(file_.temporary.c_str());
  }
  Status write(const mesh::Partition& partition) {
    auto ok = write_partition(partition, file_.temporary);
    written_ = ok.has_value();
    return written_ ? sync(file_.temporary) : ok;
  }
  const Unnamed& unnamed() const { return file_; }
  void has_its_name() { written_ = false; }

 private:
  const Unnamed file_;
  bool written_ = false;
};

// All files, or none; the cells last, so that whoever sees them sees the others.
Status name(const Request& request, const Fine& fine, const GridFile& boundary, const GridFile& cells) {
  PartitionFile partition(request.partition);
  std::vector<Unnamed> files;
  if (!request.partition.empty()) {
    if (auto ok = partition.write(fine.partition()); !ok) return ok;
    files.push_back(partition.unnamed());
  }
  for (const GridFile* each : {&boundary, &cells}) {
    const auto file = each->unnamed();
    if (!file) return forward(file);
    files.push_back(*file);
  }
  if (auto ok = give_names(files, request.force); !ok) return ok;
  partition.has_its_name();
  return {};
}

Report report_of(const Request& request, const Fine& fine, const Runs& runs, std::vector<mesh::Survey> by_level) {
  Report report;
  report.output = request.output;
  report.boundary = boundary_of(request.output);
  report.levels = request.levels;
  const auto& counts = fine.refinement().counts();
  report.cells = counts.cells;
  report.points = counts.points;
  report.faces = counts.faces;
  report.boundary_faces = counts.boundary_faces;
  report.periodic_pairs = fine.refinement().topology().periodic.size() * fine.refinement().faces_on_face();
  report.cells_of_shape = runs.cells_of_shape();
  for (const mesh::FaceGroup& group : fine.refinement().mesh().face_groups) report.face_groups.push_back(group.name);
  report.by_level = std::move(by_level);
  report.threads = request.threads;
  return report;
}

}  // namespace

Result<Report> multiply(const Request& request, mesh::Mesh coarse, const Progress& progress) {
  if (auto ok = check(request); !ok) return forward(ok);
  const std::uint64_t coarse_cells = coarse.cells();
  if (auto ok = ask_for_room(request.output, least_bytes(coarse, request.levels)); !ok) return forward(ok);
  auto topology = number(coarse);
  if (!topology) return forward(topology);
  auto warnings = conformity(coarse, *topology);
  if (!warnings) return forward(warnings);
  auto partition = partition_of(request, coarse, *topology);
  if (!partition) return forward(partition);
  const auto fine =
      Fine::make(std::move(coarse), std::move(*topology), request.levels, std::move(*partition), request.threads);
  if (!fine) return forward(fine);

  const auto begin = std::chrono::steady_clock::now();
  const Runs runs((*fine)->refinement());
  const Surface surface((*fine)->refinement());
  const auto file = GridFile::make(request.output, description_of(**fine, runs));
  if (!file) return forward(file);
  const auto boundary = GridFile::make(boundary_of(request.output), surface.description());
  if (!boundary) return forward(boundary);
  const std::uint64_t bytes = (*file)->bytes() + (*boundary)->bytes();
  if (auto ok = ask_for_room(request.output, bytes); !ok) return forward(ok);

  auto survey = fill(**fine, runs, request.threads, **file, progress);
  if (!survey) return forward(survey);
  std::vector<mesh::Survey> by_level = (*fine)->before();
  by_level.push_back(std::move(*survey));
  if (auto ok = compare_volumes(by_level); !ok) return forward(ok);
  if (auto ok = surface.write(**boundary); !ok) return forward(ok);
  for (GridFile* each : {boundary->get(), file->get()}) {
    if (auto ok = each->finish(); !ok) return forward(ok);
  }
  if (auto ok = name(request, **fine, **boundary, **file); !ok) return forward(ok);
  Report report = report_of(request, **fine, runs, std::move(by_level));
  report.coarse_cells = coarse_cells;
  report.warnings = std::move(*warnings);
  report.bytes = bytes;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace forebay::multiply
