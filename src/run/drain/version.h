// Versions of links and texts, which may name other files, as they were when their turns were known. A later version
// could name files that come after it. Private to the room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "run/journal/ledger.h"
#include "run/layouts/layouts.h"

namespace forebay::drain {

struct Version {
  LocalMark mark;                                    // of a file
  std::optional<layouts::Unit> unit = std::nullopt;  // with the content; nullopt: it is too large to be held, or empty
  std::uint64_t bytes() const;
};

// Whether the file is text, by its first bytes. Other formats (of meshes, of fields) name nothing as a rule. An empty
// file counts as text: it may be written anew at this moment.
bool is_text(const std::string& local);
// nullopt: it names nothing, or is gone. Without content where it is being written.
std::optional<Version> version_of(const std::string& local, const std::string& path);

}  // namespace forebay::drain
