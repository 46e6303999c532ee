// Carries one unit to the case: temporary name, write, verify, fsync, rename. Nothing half-done is ever seen under a
// final name, whatever fails or is killed in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "drain/shared.h"
#include "layouts/layouts.h"

namespace forebay::drain {

enum class Verify {
  written,    // XXH3 of the bytes handed to write, and the size found afterwards
  read_back,  // also read the file again from the shared file system and compare
};

struct PublishSettings {
  Verify verify = Verify::written;
  // Called before each write with the bytes about to be written; it may sleep (bandwidth cap) and returns false to stop.
  std::function<bool(std::size_t)> pace;
  // Called with each temporary name before it is made and after it is gone, so that the journal knows which stale names
  // are ours. May be empty.
  std::function<Status(const std::string& path, bool made)> temporary;
};

struct PublishedFile {
  std::string path;    // relative to the case
  Identity identity;   // on the case, after the rename
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};
struct Published {
  std::vector<PublishedFile> files;
  std::uint64_t bytes = 0;
};

// Errors: Code::conflict when the name exists and is not what the unit may replace (then the new content is kept on the
// case beside it as "<name>.forebay-<run>" and the error's advice says so); others carry errno, and leave no temporary
// behind where that is possible. A directory of the target that is missing is made. Thread-safe for different targets.
Result<Published> publish(SharedFiles& shared, const layouts::Unit& unit, const std::string& run,
                          const PublishSettings& settings);

// Removes the file from the case if it still is `expected`; Code::conflict when it changed; fine when it is gone.
Status remove_published(SharedFiles& shared, const std::string& path, const Identity& expected);

// Temporary names are ".fb-" and 16 hexadecimal digits, whatever the length of the target's name.
std::string temporary_name(const std::string& target, const std::string& run);

}  // namespace forebay::drain
