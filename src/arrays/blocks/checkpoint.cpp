#include "arrays/blocks/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "arrays/blocks/file.h"
#include "arrays/blocks/gather.h"
#include "arrays/blocks/striping.h"
#include "base/text.h"

namespace forebay::blocks {

Checkpoints::Checkpoints(const Team& team, std::string directory, Options options)
    : team_(team), directory_(std::move(directory)), options_(std::move(options)) {}

namespace {

// Names of what forebay writes beside a checkpoint.
Status check_name(const std::string& name) {
  const std::string_view file = std::string_view(name).substr(name.rfind('/') + 1);
  for (const std::string_view ending : {".json", ".vtkhdf.series"}) {
    if (!file.ends_with(ending)) continue;
    return error(Code::bad_input, fmt::format("a checkpoint cannot be named {}: what ends in {} tells of others",
                                              printable(name), ending));
  }
  if (file.starts_with(".fb-"))
    return error(Code::bad_input,
                 fmt::format("a checkpoint cannot be named {}: what begins with .fb- is unfinished", printable(name)));
  return {};
}

Status check_options(const Team& team, const Options& options) {
  if (auto ok = team.agree(check_hints(options)); !ok) return ok;
  std::string text(name_of(options.method));
  if (options.verify == carry::Verify::read_back) text += ",read back";
  for (const auto& [name, value] : options.hints) text += "," + name + "=" + value;
  return team.agree_on(checksum(text), error(Code::bad_input,
                                             "ranks ask for different methods or hints, or not all of them to read "
                                             "back",
                                             {},
                                             "pass FOREBAY_ARRAYS_METHOD, FOREBAY_ARRAYS_HINTS and "
                                             "FOREBAY_ARRAYS_VERIFY to all of them (mpirun -x NAME)"));
}

}  // namespace

Result<std::unique_ptr<Checkpoints>> Checkpoints::open(const Team& team, std::string directory, Options options) {
  const Status differ =
      error(Code::bad_input, "ranks open different directories for checkpoints, one of them", directory);
  if (auto ok = team.agree_on(checksum(directory), differ); !ok) return forward(ok);
  // One spelling, so that the next program finds what this one staged.
  auto real = real_path(directory);
  if (auto ok = team.agree(real ? Status{} : Status(forward(real))); !ok) return forward(ok);
  if (auto ok = check_options(team, options); !ok) return forward(ok);
  Status striped;
  if (team.rank() == 0) striped = set_striping(*real, options);
  if (auto ok = team.agree(striped); !ok) return forward(ok);
  std::unique_ptr<Checkpoints> checkpoints(new Checkpoints(team, std::move(*real), std::move(options)));
  if (checkpoints->options_.method == Method::staged) {
    auto staging = Staging::open(team, checkpoints->options_.pool, checkpoints->directory_);
    if (!staging) return forward(staging);
    checkpoints->staging_ = std::move(*staging);
  }
  return checkpoints;
}

std::vector<Recovered> Checkpoints::recovered() const {
  return staging_ ? staging_->recovered() : std::vector<Recovered>{};
}

Status Checkpoints::settle() {
  return staging_ ? staging_->settle() : Status{};
}

Result<array_file::Description> Checkpoints::described(const std::string& name, const Head& head,
                                                       std::span<const FieldToWrite> fields,
                                                       array_file::Form form) const {
  array_file::Description description{head.step, head.time, head.program, head.mesh, {}, {}, form};
  Status mine = check_name(name);
  for (const FieldToWrite& field : fields) {
    const std::uint64_t items = field.exchange->plan().map().items();
    const array_file::Location* known = description.location(field.location);
    if (known == nullptr) {
      description.locations.push_back({field.location, items});
    } else if (known->items != items) {
      mine = error(Code::bad_input, fmt::format("field {} has {} where {} has {}", field.name, plural(items, "item"),
                                                field.location, known->items));
    }
    description.arrays.push_back({field.name, field.location, field.type, field.components, items, 0, 0});
  }
  if (mine) mine = array_file::complete(description);
  if (auto ok = team_.agree(mine); !ok) return forward(ok);
  const Status differ =
      error(Code::bad_input, "ranks do not agree about the name, fields, step, time or mesh of a checkpoint");
  if (auto ok = team_.agree_on(checksum(name) ^ array_file::checksum_of(description), differ); !ok) return forward(ok);
  return description;
}

Status Checkpoints::write(const std::string& name, const Head& head, std::span<const FieldToWrite> fields,
                          array_file::Form form) {
  auto description = described(name, head, fields, form);
  if (!description) return forward(description);
  const std::string path = join(directory_, name);
  return staging_ ? write_staged(path, *description, fields) : write_directly(path, *description, fields);
}

}  // namespace forebay::blocks
