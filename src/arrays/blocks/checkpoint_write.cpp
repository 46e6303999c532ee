#include <unistd.h>

#include <algorithm>
#include <optional>

#include "arrays/blocks/checkpoint.h"
#include "arrays/blocks/file.h"
#include "arrays/blocks/gather.h"
#include "arrays/carry/carry.h"

namespace forebay::blocks {
namespace {

// The field of a description's array: both name it.
const FieldToWrite& field_of(const array_file::Array& array, std::span<const FieldToWrite> fields) {
  return *std::find_if(fields.begin(), fields.end(), [&](const FieldToWrite& field) {
    return field.name == array.name && field.location == array.location;
  });
}

std::uint64_t node_bytes(std::span<const FieldToWrite> fields) {
  std::uint64_t bytes = 0;
  for (const FieldToWrite& field : fields) {
    bytes += field.exchange->layout().items * array_file::bytes_of(field.type) * field.components;
  }
  return bytes;
}

// A node's blocks of one array as stretches of the array: ranks of a node often own blocks that follow each other.
void add_extents(const Exchange& exchange, const array_file::Array& array, std::size_t which, std::uint64_t image,
                 std::vector<slots::Extent>& extents) {
  const Plan& plan = exchange.plan();
  for (const int rank : plan.team().members()) {
    const Range block = plan.map().block(rank);
    if (block.count == 0) continue;
    const std::uint64_t first = block.first * array.item_bytes(), bytes = block.count * array.item_bytes();
    if (!extents.empty() && extents.back().array == which && extents.back().first + extents.back().bytes == first) {
      extents.back().bytes += bytes;
    } else {
      extents.push_back({which, first, bytes, image});
    }
    image += bytes;
  }
}

// Rank 0 makes a file of a description by make(description), which fills in where its arrays lie; then all know it.
template <class Make>
Status lay_out(const Team& team, array_file::Description& description, Make make) {
  Result<array_file::Description> mine = description;
  if (team.rank() == 0) {
    if (auto ok = make(*mine); !ok) mine = forward(ok);
  }
  auto laid_out = from_rank_0(team, mine);
  if (!laid_out) return forward(laid_out);
  description = std::move(*laid_out);
  return {};
}

// As stretches of bytes: the thread that carries them does not call HDF5, which the program may use meanwhile.
Result<std::vector<slots::Stretch>> laid_out(const std::string& scratch, array_file::Description& description) {
  ::unlink(scratch.c_str());
  if (auto ok = array_file::lay_out(scratch, description); !ok) return forward(ok);
  const auto file = open_file(scratch, O_RDONLY);
  ::unlink(scratch.c_str());
  if (!file) return forward(file);
  return carry::layout_of(file->get(), scratch, description);
}

// When Open MPI (4.1) writes together, a short write is a whole one to it, such as the last one before a disk is full.
carry::Verify verify_of(const Options& options) {
  const bool unsure = options.method == Method::mpi_collective && options.verify == carry::Verify::written;
  return unsure ? carry::Verify::no_hole : options.verify;
}

}  // namespace

Status Checkpoints::write_directly(const std::string& path, array_file::Description& description,
                                   std::span<const FieldToWrite> fields) {
  const std::string temporary = join(directory_, ".fb-" + hex(team_.new_identity()));
  std::optional<carry::Sidecar> sidecar;
  if (team_.rank() == 0) sidecar.emplace(temporary, carry::sidecar_of(team_.ranks(), name_of(options_.method)));
  const auto write_all_fields = [&]() -> Status {
    const auto make = [&](array_file::Description& made) { return array_file::lay_out(temporary, made); };
    if (auto ok = lay_out(team_, description, make); !ok) return ok;
    auto file = BlockFile::open(team_, options_, temporary, Access::write);
    if (!file) return forward(file);
    array_file::Checks checks;
    for (const array_file::Array& array : description.arrays) {
      const FieldToWrite& field = field_of(array, fields);
      Exchange& exchange = *field.exchange;
      const std::uint64_t item_bytes = array.item_bytes();
      if (auto ok = team_.agree(image_.reserve(team_.node(), exchange.layout().items * item_bytes)); !ok) return ok;
      if (auto ok = exchange.to_image(static_cast<const std::byte*>(field.data), item_bytes, image_.data()); !ok)
        return ok;
      const std::uint64_t first = exchange.plan().block().first * item_bytes;
      const std::span<const std::byte> block = exchange.my_block(image_.data(), item_bytes);
      if (auto ok = (*file)->write(array.offset + first, block); !ok) return ok;
      checks.push_back(gather(team_, array_file::part_checks(first, block)));
    }
    if (auto ok = (*file)->close(); !ok) return ok;
    Status mine;
    if (team_.rank() == 0) {
      const auto made = open_file(temporary, O_WRONLY);
      mine = made ? carry::publish(made->get(), temporary, path, description, checks, *sidecar, verify_of(options_))
                  : forward(made);
    }
    return team_.agree(mine);
  };
  Status done = write_all_fields();
  if (!done && team_.rank() == 0) ::unlink(temporary.c_str());
  return done;
}

Status Checkpoints::prepare(std::span<const FieldToWrite> fields) {
  if (!staging_) return {};
  const auto description = described({}, {}, fields, array_file::Form::checkpoint);
  return description ? staging_->prepare(node_bytes(fields)) : Status(forward(description));
}

Status Checkpoints::write_staged(const std::string& path, array_file::Description& description,
                                 std::span<const FieldToWrite> fields) {
  if (auto ok = staging_->begin(node_bytes(fields)); !ok) return ok;
  slots::StagedRecord record;
  const auto make = [&](array_file::Description& made) -> Status {
    auto layout = laid_out(staging_->layout(), made);
    if (!layout) return forward(layout);
    record.layout = std::move(*layout);
    return {};
  };
  if (auto ok = lay_out(team_, description, make); !ok) return ok;
  record.id = team_.new_identity();
  record.node = team_.my_node();
  record.nodes = team_.nodes();
  record.path = path;
  record.read_back = options_.verify == carry::Verify::read_back;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < description.arrays.size(); ++i) {
    const array_file::Array& array = description.arrays[i];
    const FieldToWrite& field = field_of(array, fields);
    const auto* items = static_cast<const std::byte*>(field.data);
    slots::ItemSum sum;
    if (auto ok = field.exchange->to_image(items, array.item_bytes(), staging_->image() + at, &sum); !ok) return ok;
    record.sums.push_back(sum.value());
    add_extents(*field.exchange, array, i, at, record.extents);
    at += field.exchange->layout().items * array.item_bytes();
  }
  record.sums = NodeSums(team_, record.sums).all;
  record.description = array_file::encode(description);
  return staging_->commit(std::move(record));
}

}  // namespace forebay::blocks
