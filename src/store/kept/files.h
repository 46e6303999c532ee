// The files of a part, opened so that nothing else is.
#pragma once

#include "store/kept/kept.h"

namespace forebay::kept {

struct Files {
  Descriptor pool, directory;
  Descriptor store, segments;  // none where there is no such file
};
// Opens the pool and the directory of the part, and no file.
Result<Files> open_directory(const std::string& pool, const std::string& name);
// Opens the files of a part whose directories are open. Code::lost: something else stands in the place of one.
Status open_files(Files& files, const std::string& path);
// Opens the directories and the files of a part.
Result<Files> open_part(const Part& part);

// The bytes from byte `at` on; less than asked for where the file ends.
Result<std::size_t> read_at(const Descriptor& file, std::uint64_t at, std::span<std::byte> to, const std::string& path);

}  // namespace forebay::kept
