#include "meshes/multiply/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/base.h"

namespace forebay::multiply {
namespace {

using mesh::Survey;

constexpr std::uint64_t kBar = 40;  // characters, of all cells

std::string histogram_of(const Survey& survey) {
  std::string text;
  for (std::size_t bin = 0; bin < Survey::kBins; ++bin) {
    const std::uint64_t cells = survey.histogram[bin];
    if (cells == 0) continue;
    const double share = static_cast<double>(cells) / static_cast<double>(survey.cells);
    text += fmt::format("    {:.1f} to {:.1f}  {:>14}  {}\n", static_cast<double>(bin) / Survey::kBins,
                        static_cast<double>(bin + 1) / Survey::kBins, cells,
                        std::string(std::max<std::size_t>(1, static_cast<std::size_t>(share * kBar)), '#'));
  }
  return text;
}

double mean_quality(const Survey& survey) {
  return survey.quality_sum / static_cast<double>(survey.cells);
}

std::string levels_of(const Report& report) {
  std::string text;
  for (std::size_t level = 0; level < report.by_level.size(); ++level) {
    const Survey& survey = report.by_level[level];
    text += fmt::format("  level {:<2} {:>28}, volume {:.12g}, of a cell at least {:.4g}, quality at least {:.4f}\n",
                        level, plural(survey.cells, "cell"), survey.volume, survey.least_volume, survey.least_quality);
  }
  return text;
}

double cells_per_second(const Report& report) {
  return static_cast<double>(report.cells) / std::max(report.seconds, 1e-9);
}

}  // namespace

std::string text_of(const Report& report) {
  const Survey& survey = report.survey();
  std::string text = fmt::format("{}: {} of {}, {}\n", printable(report.output), plural(report.cells, "cell"),
                                 report.coarse_cells, plural(static_cast<std::uint64_t>(report.levels), "level"));
  for (std::size_t shape = 0; shape < report.cells_of_shape.size(); ++shape) {
    if (report.cells_of_shape[shape] == 0) continue;
    text +=
        fmt::format("  {:<14}{:>16}\n", describe(static_cast<mesh::Shape>(shape)).name, report.cells_of_shape[shape]);
  }
  text += fmt::format("  {:<14}{:>16}\n  {:<14}{:>16}, {} at the boundary\n", "vertices", report.points, "faces",
                      report.faces, report.boundary_faces);
  if (report.periodic_pairs > 0) text += fmt::format("  {:<14}{:>16}\n", "periodic pairs", report.periodic_pairs);
  text += fmt::format("  {:<14}{:>16.12g}, of a cell at least {:.6g}\n", "volume", survey.volume, survey.least_volume);
  for (std::size_t i = 0; i < report.face_groups.size(); ++i) {
    text += fmt::format("  area of {}: {:.12g}\n", printable(report.face_groups[i]), survey.group_areas[i]);
  }
  text += fmt::format("  quality (scaled Jacobian) at least {:.4f}, {:.4f} on average\n{}", survey.least_quality,
                      mean_quality(survey), histogram_of(survey));
  text += levels_of(report);
  text += fmt::format("  {} in {}, {:.1f} million cells/s with {}\n", human_bytes(report.bytes),
                      human_duration(std::chrono::duration<double>(report.seconds)), cells_per_second(report) / 1e6,
                      plural(report.threads, "thread"));
  for (const std::string& each : report.left_out) text += fmt::format("  left out of {}\n", printable(each));
  for (const std::string& each : report.warnings) text += fmt::format("  ! {}\n", each);
  return text + fmt::format("  faces of the boundary and of groups: {}\n", printable(report.boundary));
}

std::string json_of(const Report& report) {
  const Survey& survey = report.survey();
  nlohmann::json shapes = nlohmann::json::object(), areas = nlohmann::json::object();
  for (std::size_t shape = 0; shape < report.cells_of_shape.size(); ++shape) {
    if (report.cells_of_shape[shape] > 0)
      shapes[std::string(describe(static_cast<mesh::Shape>(shape)).name)] = report.cells_of_shape[shape];
  }
  for (std::size_t i = 0; i < report.face_groups.size(); ++i)
    areas[printable(report.face_groups[i])] = survey.group_areas[i];
  nlohmann::json by_level = nlohmann::json::array();
  for (const Survey& each : report.by_level) {
    by_level.push_back({{"cells", each.cells},
                        {"volume", each.volume},
                        {"least_volume", each.least_volume},
                        {"quality", {{"least", each.least_quality}, {"mean", mean_quality(each)}}}});
  }
  nlohmann::json left_out = nlohmann::json::array();
  for (const std::string& each : report.left_out) left_out.push_back(printable(each));
  const nlohmann::json json = {
      {"forebay_version", FOREBAY_VERSION},
      {"output", printable(report.output)},
      {"boundary", printable(report.boundary)},
      {"levels", report.levels},
      {"coarse_cells", report.coarse_cells},
      {"left_out", left_out},
      {"warnings", report.warnings},
      {"cells", report.cells},
      {"cells_of_shape", shapes},
      {"vertices", report.points},
      {"faces", report.faces},
      {"boundary_faces", report.boundary_faces},
      {"periodic_pairs", report.periodic_pairs},
      {"volume", survey.volume},
      {"least_volume", survey.least_volume},
      {"areas", areas},
      {"quality", {{"least", survey.least_quality}, {"mean", mean_quality(survey)}, {"histogram", survey.histogram}}},
      {"by_level", by_level},
      {"bytes", report.bytes},
      {"seconds", report.seconds},
      {"cells_per_second", cells_per_second(report)},
      {"threads", report.threads}};
  return json.dump(2) + "\n";
}

}  // namespace forebay::multiply
