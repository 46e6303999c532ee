// Checkpoints: named arrays of all ranks in one file, written by any of the methods and read on any number of ranks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays/array_file/array_file.h"
#include "arrays/blocks/exchange.h"
#include "arrays/blocks/method.h"
#include "arrays/blocks/staging.h"

namespace forebay::blocks {

// The state that a checkpoint is of.
struct Head {
  std::int64_t step = 0;
  double time = 0;
  std::string program;  // that writes: name and version
  std::string mesh;     // whatever tells this mesh from others of the same size; may be empty
};

// One array, as each rank has it: `items` of the location's plan, each of `components` values that lie together.
template <class Data>
struct FieldOf {
  std::string name;
  std::string location;
  array_file::Type type = array_file::Type::float64;
  std::uint32_t components = 1;
  Exchange* exchange = nullptr;
  Data* data = nullptr;
};
using FieldToWrite = FieldOf<const void>;
using FieldToRead = FieldOf<void>;

// Everything here is collective, and an error of one rank is that of all.
class Checkpoints {
 public:
  // `directory` is that of the files; the team outlives this.
  static Result<std::unique_ptr<Checkpoints>> open(const Team& team, std::string directory, Options options);

  // The file `name` in the directory appears whole, or not at all, and replaces another one only then: when this
  // returns, or, staged, when settle() does; the fields may be changed as soon as this returns. mesh_output.h writes
  // grids. A program killed during a direct write leaves `.fb-<16 digits>`, which nobody removes: nothing on a
  // shared file system tells that no other node still writes it (docs/arrays/arrays.md says when users may).
  Status write(const std::string& name, const Head& head, std::span<const FieldToWrite> fields,
               array_file::Form form = array_file::Form::checkpoint);
  Status settle();
  // Staged: takes the room for two such checkpoints before the first.
  Status prepare(std::span<const FieldToWrite> fields);
  // The checkpoints that an earlier program had staged, and what became of them.
  std::vector<Recovered> recovered() const;
  const Team& team() const { return team_; }
  const std::string& directory() const { return directory_; }
  const Options& options() const { return options_; }

  // The content of a file: how many items where, which arrays.
  Result<array_file::Description> describe(const std::string& name);
  // Verifies every byte before it hands anything on; refuses what is of another mesh, type or number of components.
  Result<Head> read(const std::string& name, const std::string& mesh, std::span<const FieldToRead> fields);

 private:
  Checkpoints(const Team& team, std::string directory, Options options);
  Result<array_file::Description> described(const std::string& name, const Head& head,
                                            std::span<const FieldToWrite> fields, array_file::Form form) const;
  Status write_directly(const std::string& path, array_file::Description& description,
                        std::span<const FieldToWrite> fields);
  Status write_staged(const std::string& path, array_file::Description& description,
                      std::span<const FieldToWrite> fields);
  Status read_field(class BlockFile& file, const array_file::Array& array, const std::string& path,
                    const FieldToRead& field);

  const Team& team_;
  const std::string directory_;
  const Options options_;
  NodeMemory image_;                  // of the direct methods and of reading
  std::unique_ptr<Staging> staging_;  // of `staged`
};

}  // namespace forebay::blocks
