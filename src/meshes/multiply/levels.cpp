#include "meshes/multiply/levels.h"

#include <fmt/format.h>

#include <cmath>

#include "meshes/mesh/part.h"
#include "meshes/multiply/parallel.h"

namespace forebay::multiply {
namespace {

// Fine cells that are made and looked at in one go: enough to be worth it, and few enough to be shared out evenly.
constexpr std::uint64_t kCellsOfJob = 100'000;

// Points that are rounded move faces between cells, which changes no sum, and the boundary: by less than this, unless
// the mesh is thinner than the ten-millionth part of its distance from the origin.
constexpr double kRounding = 1e-9;

}  // namespace

std::vector<std::span<const std::uint32_t>> jobs_of(const mesh::Refinement& refinement,
                                                    std::span<const std::uint32_t> coarse_cells) {
  std::vector<std::span<const std::uint32_t>> jobs;
  for (std::size_t first = 0, end; first < coarse_cells.size(); first = end) {
    std::uint64_t cells = 0;
    for (end = first; end < coarse_cells.size() && cells < kCellsOfJob; ++end)
      cells += refinement.pattern(refinement.mesh().shapes[coarse_cells[end]]).cell_count;
    jobs.push_back(coarse_cells.subspan(first, end - first));
  }
  return jobs;
}

Result<mesh::Survey> survey_cells(const mesh::Refinement& refinement, std::span<const std::uint32_t> coarse_cells,
                                  int level) {
  mesh::Survey survey = mesh::survey(refinement, coarse_cells);
  if (survey.inverted == 0) return survey;
  return error(Code::bad_input,
               fmt::format("{} of level {} come out flat or inside out, of cells {} to {} of level {}",
                           plural(survey.inverted, "cell"), level, coarse_cells.front(), coarse_cells.back(),
                           level - refinement.levels()),
               {}, "look at the coarse mesh there");
}

Status survey_levels(const mesh::Mesh& mesh, const mesh::Topology& topology, int levels, unsigned threads,
                     std::vector<mesh::Survey>& by_level) {
  const auto coarse_cells = mesh::all_cells(mesh);
  for (int level = 0; level < levels; ++level) {
    const auto refinement = mesh::Refinement::make(mesh, topology, level);
    if (!refinement) return forward(refinement);
    const auto jobs = jobs_of(*refinement, coarse_cells);
    std::vector<mesh::Survey> surveys(jobs.size());
    const auto job = [&](std::size_t number) -> Status {
      auto survey = survey_cells(*refinement, jobs[number], static_cast<int>(by_level.size()));
      if (!survey) return forward(survey);
      surveys[number] = std::move(*survey);
      return {};
    };
    if (auto ok = in_parallel(threads, jobs.size(), job, [] {}); !ok) return ok;
    mesh::Survey all;
    for (const mesh::Survey& each : surveys) all += each;
    by_level.push_back(std::move(all));
  }
  return {};
}

Status compare_volumes(std::span<const mesh::Survey> by_level) {
  for (std::size_t level = 0; level < by_level.size(); ++level) {
    const double volume = by_level[level].volume, wanted = by_level.front().volume;
    if (!(std::abs(volume - wanted) <= kRounding * wanted))
      return error(
          Code::failed,
          fmt::format("the volume is {:.15g} on level {} and {:.15g} before it is refined", volume, level, wanted), {},
          "is the mesh that thin, that far from the origin?");
  }
  return {};
}

}  // namespace forebay::multiply
