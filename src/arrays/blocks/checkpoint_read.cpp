#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "arrays/blocks/checkpoint.h"
#include "arrays/blocks/file.h"
#include "arrays/blocks/gather.h"
#include "arrays/blocks/standard_file.h"

namespace forebay::blocks {
namespace {

// Compares a file with what the run expects, as far as the file has to fit it.
Status fits(const array_file::Description& file, const std::string& mesh, std::span<const FieldToRead> fields,
            const std::string& path) {
  array_file::Description run;
  run.mesh = mesh;
  for (const FieldToRead& field : fields) {
    run.locations.push_back({field.location, field.exchange->plan().map().items()});
  }
  if (auto ok = array_file::same_mesh(file, run, path); !ok) return ok;
  for (const FieldToRead& field : fields) {
    const array_file::Array* array = file.array(field.location, field.name);
    if (array == nullptr) {
      return error(Code::bad_input, fmt::format("no field {} on {} in", field.name, field.location), path,
                   "forebay inspect lists what there is");
    }
    if (array->type != field.type || array->components != field.components) {
      return error(Code::bad_input,
                   fmt::format("field {} on {} is {} x {}, not {} x {}, in", field.name, field.location,
                               array->components, name_of(array->type), field.components, name_of(field.type)),
                   path);
    }
  }
  return {};
}

// On rank 0: the parts that all ranks have read against the checksums of the file.
Status verify(const array_file::Array& array, std::vector<array_file::PartCheck> parts, const std::string& path) {
  auto found = array_file::whole_checks(std::move(parts), array.bytes());
  if (!found) return forward(found);
  std::vector<std::uint32_t> expected(found->size());
  if (auto ok = StandardFile(path, Access::read).read(array.checks_offset, std::as_writable_bytes(std::span(expected)));
      !ok) {
    return ok;
  }
  const auto different = std::mismatch(found->begin(), found->end(), expected.begin()).first - found->begin();
  if (static_cast<std::size_t>(different) == found->size()) return {};
  return error(
      Code::lost,
      fmt::format("array {}/{} is damaged in its {} MiB from byte {} on, in", array.location, array.name,
                  array_file::kPieceBytes >> 20, static_cast<std::uint64_t>(different) * array_file::kPieceBytes),
      path, "restart from another checkpoint");
}

}  // namespace

Status Checkpoints::read_field(BlockFile& file, const array_file::Array& array, const std::string& path,
                               const FieldToRead& field) {
  Exchange& exchange = *field.exchange;
  const std::uint64_t item_bytes = array.item_bytes();
  if (auto ok = team_.agree(image_.reserve(team_.node(), exchange.layout().items * item_bytes)); !ok) return ok;
  const std::uint64_t first = exchange.plan().block().first * item_bytes;
  const std::span<std::byte> block = exchange.my_block(image_.data(), item_bytes);
  if (auto ok = file.read(array.offset + first, block); !ok) return ok;
  auto parts = gather(team_, array_file::part_checks(first, block));
  Status mine;
  if (team_.rank() == 0) mine = verify(array, std::move(parts), path);
  if (auto ok = team_.agree(mine); !ok) return ok;
  return exchange.from_image(image_.data(), item_bytes, static_cast<std::byte*>(field.data));
}

Result<array_file::Description> Checkpoints::describe(const std::string& name) {
  if (auto ok = settle(); !ok) return forward(ok);  // it may be the one that is still on its way
  const std::string path = join(directory_, name);
  const Status differ = error(Code::bad_input, "ranks do not agree about what to read from", path);
  if (auto ok = team_.agree_on(checksum(path), differ); !ok) return forward(ok);
  Result<array_file::Description> mine = array_file::Description{};
  if (team_.rank() == 0) mine = array_file::describe(path);
  return from_rank_0(team_, mine);
}

Result<Head> Checkpoints::read(const std::string& name, const std::string& mesh, std::span<const FieldToRead> fields) {
  const std::string path = join(directory_, name);
  std::string wanted = path + "\n" + mesh;
  for (const FieldToRead& field : fields) wanted += "\n" + field.location + "/" + field.name;
  const Status differ = error(Code::bad_input, "ranks do not agree about what to read from", path);
  if (auto ok = team_.agree_on(checksum(wanted), differ); !ok) return forward(ok);
  auto description = describe(name);
  if (!description) return forward(description);
  if (auto ok = team_.agree(fits(*description, mesh, fields, path)); !ok) return forward(ok);
  auto file = BlockFile::open(team_, options_, path, Access::read);
  if (!file) return forward(file);
  for (const FieldToRead& field : fields) {
    const array_file::Array& array = *description->array(field.location, field.name);
    if (auto ok = read_field(**file, array, path, field); !ok) return forward(ok);
  }
  if (auto ok = (*file)->close(); !ok) return forward(ok);
  return Head{description->step, description->time, description->program, description->mesh};
}

}  // namespace forebay::blocks
