// FoamFile headers and the frame of decomposedBlockData files.
#include <fmt/format.h>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

constexpr std::string_view banner =
    R"(/*--------------------------------*- C++ -*----------------------------------*\
| =========                 |                                                 |
| \\      /  F ield         | OpenFOAM: The Open Source CFD Toolbox           |
|  \\    /   O peration     | Version:                                        |
|   \\  /    A nd           | Website:  www.openfoam.com                      |
|    \\/     M anipulation  |                                                 |
\*---------------------------------------------------------------------------*/
)";
constexpr std::string_view separator =
    "// * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * * //\n";

// Skips white space and comments from `position`; npos when a comment does not end.
std::size_t skip_blank(std::string_view text, std::size_t position) {
  for (;;) {
    position = text.find_first_not_of(" \t\r\n", position);
    if (position == std::string_view::npos) return text.size();
    const std::string_view rest = text.substr(position);
    if (rest.starts_with("//")) {
      position = text.find('\n', position);
    } else if (rest.starts_with("/*")) {
      position = text.find("*/", position);
      if (position != std::string_view::npos) position += 2;
    } else {
      return position;
    }
    if (position == std::string_view::npos) return position;
  }
}

std::string unquoted(std::string text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

std::optional<FileHeader> parse_header(std::string_view first_bytes) {
  constexpr std::string_view keyword = "FoamFile";
  std::size_t position = skip_blank(first_bytes, 0);
  if (position == std::string_view::npos || !first_bytes.substr(position).starts_with(keyword)) return std::nullopt;
  position = skip_blank(first_bytes, position + keyword.size());
  if (position == std::string_view::npos || position >= first_bytes.size() || first_bytes[position] != '{')
    return std::nullopt;
  const std::size_t close = first_bytes.find('}', position);
  if (close == std::string_view::npos) return std::nullopt;

  const std::string_view entries = first_bytes.substr(position + 1, close - position - 1);
  const auto entry = [entries](std::string_view key) { return unquoted(dictionary_entry(entries, key).value_or("")); };
  const bool wide_labels = entry("arch").find("label=64") != std::string::npos;
  FileHeader header{entry("format"), entry("class"),      entry("location"),
                    entry("object"), wide_labels ? 8 : 4, close + 1};
  if (header.class_name.empty()) return std::nullopt;

  // OpenFOAM ends its header with the separator line and one blank line. A file from elsewhere may have neither;
  // nothing but these is taken, since what follows may be binary.
  if (first_bytes.substr(header.end).starts_with('\n')) ++header.end;
  if (first_bytes.substr(header.end).starts_with(separator)) {
    header.end += separator.size();
    if (first_bytes.substr(header.end).starts_with('\n')) ++header.end;
  }
  return header;
}

bool is_global_class(std::string_view class_name) {
  return class_name == "dictionary" || class_name.starts_with("uniformDimensioned");
}

bool is_mesh_field_class(std::string_view class_name) {
  constexpr std::string_view internal = "::Internal";
  if (class_name.ends_with(internal)) class_name.remove_suffix(internal.size());
  for (const std::string_view geometry : {"vol", "surface", "point"}) {
    if (!class_name.starts_with(geometry)) continue;
    const std::string_view rest = class_name.substr(geometry.size());
    for (const std::string_view value : {"Scalar", "Vector", "SphericalTensor", "SymmTensor", "Tensor"})
      if (rest.starts_with(value) && rest.substr(value.size()) == "Field") return true;
  }
  return false;
}

std::optional<std::string> empty_block(const FileHeader& like) {
  const std::string_view name = like.class_name;
  const bool binary = like.format == "binary";
  if (name.starts_with("Cloud<")) return "0\n(\n)\n";
  if (binary && name.ends_with("CompactField"))  // one offset, 0, and no values
    return "\n1\n(" + std::string(static_cast<std::size_t>(like.label_bytes), '\0') + ")\n0\n";
  for (const std::string_view value : {"label", "scalar", "vector", "sphericalTensor", "symmTensor", "tensor"}) {
    if (!name.starts_with(value)) continue;
    const std::string_view rest = name.substr(value.size());
    if (rest == "Field" || rest == "FieldField") return binary ? "\n0\n" : "0()";
  }
  return std::nullopt;
}

std::string collated_header(std::string_view object, std::string_view location, int blocks) {
  return fmt::format(
      "{}FoamFile\n{{\n    version     2.0;\n    format      binary;\n    class       decomposedBlockData;\n"
      "    blocks      {};\n    location    \"{}\";\n    object      {};\n}}\n{}",
      banner, blocks, location, object, separator);
}

std::string block_prefix(int index, std::uint64_t bytes) {
  return fmt::format("\n\n// Processor{}\n\n{}\n(", index, bytes);
}

std::string block_suffix() {
  return ")";
}

}  // namespace forebay::openfoam
