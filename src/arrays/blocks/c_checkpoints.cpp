// The C interface to checkpoints.
#include <fmt/format.h>

#include <algorithm>

#include "arrays/blocks/c_handles.h"
#include "arrays/blocks/checkpoint.h"

using namespace forebay::blocks;
using forebay::Code;
using forebay::error;
using forebay::Result;
using forebay::Status;
namespace array_file = forebay::array_file;

namespace {

struct KnownType {
  forebay_type number;
  array_file::Type type;
};
constexpr KnownType kTypes[] = {
    {FOREBAY_UINT8, array_file::Type::uint8},     {FOREBAY_INT32, array_file::Type::int32},
    {FOREBAY_INT64, array_file::Type::int64},     {FOREBAY_UINT64, array_file::Type::uint64},
    {FOREBAY_FLOAT32, array_file::Type::float32}, {FOREBAY_FLOAT64, array_file::Type::float64}};

const array_file::Type* type_of(forebay_type number) {
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const KnownType& each) { return each.number == number; });
  return found == std::end(kTypes) ? nullptr : &found->type;
}

forebay_type number_of_type(array_file::Type type) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const KnownType& each) { return each.type == type; })
      ->number;
}

// An element of a table; the program knows how large one is.
const forebay_array& element(const forebay_array* arrays, int i) {
  return *reinterpret_cast<const forebay_array*>(reinterpret_cast<const std::byte*>(arrays) +
                                                 static_cast<std::size_t>(i) * arrays->size);
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

Result<Options> options_of(const forebay_options* given) {
  if (auto ok = check_options(given, "checkpoints"); !ok) return forward(ok);
  Options options;
  const auto text = [&](const char* key) { return forebay_options_get(given, key); };
  if (const char* method = text("method")) {
    auto named = method_named(method);
    if (!named) return forward(named);
    options.method = *named;
  }
  if (const char* hints = text("hints")) {
    if (auto ok = options.add_hints(hints, "the hints"); !ok) return forward(ok);
  }
  if (const char* pool = text("pool")) options.pool = pool;
  if (const char* verify = text("verify")) {
    options.verify =
        std::string_view(verify) == "read-back" ? forebay::carry::Verify::read_back : forebay::carry::Verify::written;
  }
  return Options::from_environment(std::move(options));
}

Status check(const Team& team, const forebay_array& array) {
  const auto wrong = [&](std::string_view what) {
    return error(Code::bad_input, fmt::format("array {}: {}", text_of(array.name), what));
  };
  if (auto fits = check_size(array, "forebay_array"); !fits) return fits;
  if (array.name == nullptr || array.location == nullptr) return wrong("it has no name, or no location (NULL)");
  if (type_of(array.type) == nullptr) return wrong("files of arrays have no numbers of its type");
  if (array.plan == nullptr) return wrong("it has no plan (NULL)");
  if (&array.plan->value.team() != &team) return wrong("its plan is of another team than the checkpoints");
  if (array.data == nullptr && array.plan->value.local_items() > 0) return wrong("its data is missing (NULL)");
  return {};
}

// The error about an element that lies where the first one's size leads to, but whose own size would lead elsewhere.
Status other_size(int place, std::size_t size, std::size_t first) {
  return error(Code::bad_input,
               fmt::format("the size of element {} of the arrays is {}, that of the first one {}", place, size, first),
               {}, "set the size of each to sizeof(forebay_array)");
}

// The table of a program as that of the room, for writing or for reading; an error of one rank, also that of what else
// it was given, is that of all.
template <class Field>
Result<std::vector<Field>> fields_of(const Team& team, const forebay_array* arrays, int count, Status mine) {
  std::vector<Field> fields;
  if (mine && (count < 0 || (count > 0 && arrays == nullptr))) {
    mine = error(Code::bad_input, "the arrays are missing (NULL)");
  }
  for (int i = 0; i < count && mine; ++i) {
    const forebay_array& array = element(arrays, i);
    mine = check_size(array, "forebay_array", true);
    if (mine && array.size != arrays->size) mine = other_size(i, array.size, arrays->size);
    if (mine) mine = check(team, array);
    if (!mine) break;
    fields.push_back(
        {array.name, array.location, *type_of(array.type), array.components, &array.plan->exchange, array.data});
  }
  if (auto ok = team.agree(mine); !ok) return forward(ok);
  return fields;
}

void fill_head(const Head& head, forebay_head* to) {
  if (to != nullptr) {
    forebay::api::fill(to, forebay_head{0, head.step, head.time, head.program.c_str(), head.mesh.c_str()});
  }
}

// ok where a struct can be filled, or is NULL.
template <class T>
Status check_to_fill(const T* to, const char* name) {
  return to == nullptr ? Status{} : check_size(*to, name, true);
}

int no_such(const char* what, int place, std::size_t count) noexcept {
  return run_alone([&]() -> Status {
    return error(Code::bad_input,
                 fmt::format("there is no {} {}: they are counted from 0 and there are {}", what, place, count));
  });
}

bool is_in(int place, std::size_t count) {
  return place >= 0 && static_cast<std::size_t>(place) < count;
}

}  // namespace

namespace forebay::blocks {

Result<std::vector<FieldToWrite>> fields_to_write(const Team& team, const forebay_array* arrays, int count,
                                                  Status mine) {
  return fields_of<FieldToWrite>(team, arrays, count, std::move(mine));
}

Status check_head(const forebay_head* head) {
  const Status present = given("head", head);
  return present ? check_size(*head, "forebay_head") : present;
}

Head head_of(const forebay_head& head) {
  return {head.step, head.time, text_of(head.program), text_of(head.mesh)};
}

}  // namespace forebay::blocks

extern "C" {

int forebay_checkpoints_open(forebay_team* team, const char* directory, const forebay_options* wanted,
                             forebay_checkpoints** checkpoints) {
  assign(checkpoints, nullptr);
  if (team == nullptr) return missing("team");
  return run(team->value.all(), [&]() -> Status {
    Status mine = given("place for the checkpoints", checkpoints);
    if (mine) mine = given("directory", directory);
    auto options = options_of(wanted);
    if (mine && !options) mine = forward(options);
    if (auto ok = team->value.agree(mine); !ok) return ok;
    auto opened = Checkpoints::open(team->value, directory, std::move(*options));
    if (!opened) return forward(opened);
    auto recovered = (*opened)->recovered();
    *checkpoints = new forebay_checkpoints{&team->value, std::move(*opened), {}, {}, std::move(recovered)};
    return {};
  });
}

int forebay_checkpoints_settle(forebay_checkpoints* checkpoints) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  return run(checkpoints->team->all(), [&] { return checkpoints->value->settle(); });
}

int forebay_checkpoints_close(forebay_checkpoints* checkpoints) {
  if (checkpoints == nullptr) return FOREBAY_OK;
  const int status = forebay_checkpoints_settle(checkpoints);
  delete checkpoints;
  return status;
}

int forebay_checkpoints_write(forebay_checkpoints* checkpoints, const char* name, const forebay_head* head,
                              const forebay_array* arrays, int count) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  return run(checkpoints->team->all(), [&]() -> Status {
    Status mine = given("name of the file", name);
    if (mine) mine = check_head(head);
    auto fields = fields_to_write(*checkpoints->team, arrays, count, std::move(mine));
    return fields ? checkpoints->value->write(name, head_of(*head), *fields) : Status(forward(fields));
  });
}

int forebay_checkpoints_prepare(forebay_checkpoints* checkpoints, const forebay_array* arrays, int count) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  return run(checkpoints->team->all(), [&]() -> Status {
    auto fields = fields_to_write(*checkpoints->team, arrays, count);
    return fields ? checkpoints->value->prepare(*fields) : Status(forward(fields));
  });
}

int forebay_checkpoints_read(forebay_checkpoints* checkpoints, const char* name, const char* mesh,
                             const forebay_array* arrays, int count, forebay_head* head) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  return run(checkpoints->team->all(), [&]() -> Status {
    Status mine = given("name of the file", name);
    if (mine) mine = check_to_fill(head, "forebay_head");
    auto fields = fields_of<FieldToRead>(*checkpoints->team, arrays, count, std::move(mine));
    if (!fields) return forward(fields);
    auto found = checkpoints->value->read(name, text_of(mesh), *fields);
    if (!found) return forward(found);
    checkpoints->head = std::move(*found);
    fill_head(checkpoints->head, head);
    return {};
  });
}

int forebay_checkpoints_describe(forebay_checkpoints* checkpoints, const char* name, forebay_head* head, int* locations,
                                 int* arrays) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  return run(checkpoints->team->all(), [&]() -> Status {
    Status mine = given("name of the file", name);
    if (mine) mine = check_to_fill(head, "forebay_head");
    if (auto ok = checkpoints->team->agree(mine); !ok) return ok;
    auto found = checkpoints->value->describe(name);
    if (!found) return forward(found);
    checkpoints->description = std::move(*found);
    const array_file::Description& file = checkpoints->description;
    checkpoints->head = {file.step, file.time, file.program, file.mesh};
    fill_head(checkpoints->head, head);
    assign(locations, static_cast<int>(file.locations.size()));
    assign(arrays, static_cast<int>(file.arrays.size()));
    return {};
  });
}

int forebay_checkpoints_get_location(const forebay_checkpoints* checkpoints, int place, const char** name,
                                     uint64_t* items) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  const auto& locations = checkpoints->description.locations;
  if (!is_in(place, locations.size())) return no_such("location", place, locations.size());
  const array_file::Location& location = locations[index(place)];
  assign(name, location.name.c_str());
  assign(items, location.items);
  return FOREBAY_OK;
}

int forebay_checkpoints_get_array(const forebay_checkpoints* checkpoints, int place, forebay_array* array) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  const auto& known = checkpoints->description.arrays;
  if (!is_in(place, known.size())) return no_such("array", place, known.size());
  const array_file::Array& found = known[index(place)];
  return run_alone([&]() -> Status {
    if (auto fits = check_to_fill(array, "forebay_array"); !fits || array == nullptr) return fits;
    forebay::api::fill(array, forebay_array{0, found.name.c_str(), found.location.c_str(), number_of_type(found.type),
                                            found.components, nullptr, nullptr});
    return {};
  });
}

int forebay_checkpoints_count_recovered(const forebay_checkpoints* checkpoints, int* count) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  assign(count, static_cast<int>(checkpoints->recovered.size()));
  return FOREBAY_OK;
}

int forebay_checkpoints_get_recovered(const forebay_checkpoints* checkpoints, int place, const char** path,
                                      int* carried) {
  if (checkpoints == nullptr) return missing("handle of the checkpoints");
  const auto& recovered = checkpoints->recovered;
  if (!is_in(place, recovered.size())) return no_such("recovered checkpoint", place, recovered.size());
  assign(path, recovered[index(place)].path.c_str());
  assign(carried, recovered[index(place)].carried ? 1 : 0);
  return FOREBAY_OK;
}

}  // extern "C"
