// Reads files of arrays, and carries staged images, that were changed in any way: never a crash, a hang or memory
// without bound; what is called good, or published, is what was written. A changed record is sealed again, so that its
// checksum fits and what stands behind it is reached, too.
#include <fcntl.h>
#include <fuzzer/FuzzedDataProvider.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <string>

#include "arrays/array_file/inspect.h"
#include "arrays/array_file/tests/seen_by_hdf5.h"
#include "arrays/carry/carry.h"

// HDF5 1.10 loses memory of its own when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5\n";
}

namespace {

using namespace forebay;

void must(bool holds) {
  if (!holds) std::abort();
}

class Place {
 public:
  Place() { must(::mkdtemp(path_.data()) != nullptr); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { (void)remove_tree(path_); }
  std::string in(const std::string& name) const { return join(path_, name); }

 private:
  std::string path_ = "/dev/shm/forebay-fuzz-XXXXXX";
};

std::string data_of(const array_file::Array& array) {
  std::string data(array.bytes(), '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 + 1);
  return data;
}

array_file::Description some_arrays(array_file::Form form) {
  array_file::Description description = array_file::grid::describe(12, 2, 16);
  description.arrays.push_back({"pressure", array_file::grid::kCells, array_file::Type::float32});
  description.form = form;
  return description;
}

void change(FuzzedDataProvider& input, std::string& bytes) {
  for (int i = 0; i < 16 && input.remaining_bytes() > 0; ++i) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size());
    const std::string with = input.ConsumeRandomLengthString(16);
    with.copy(bytes.data() + at, bytes.size() - at);
  }
  if (input.ConsumeBool()) bytes.resize(input.ConsumeIntegralInRange<std::size_t>(0, bytes.size()));
}

// A whole file, and what HDF5 programs see of it.
struct File {
  File(const Place& place, array_file::Form form)
      : path(place.in(form == array_file::Form::grid ? "grid" : "checkpoint")) {
    array_file::Description description = some_arrays(form);
    must(array_file::lay_out(path, description).has_value());
    const auto file = open_file(path, O_RDWR);
    array_file::Checks checks;
    for (const array_file::Array& array : description.arrays) {
      const std::string data = data_of(array);
      must(write_all_at(file->get(), array.offset, std::as_bytes(std::span(data)), path).has_value());
      checks.push_back(array_file::part_checks(0, std::as_bytes(std::span(data))));
    }
    must(array_file::write_checks(file->get(), path, description, checks).has_value());
    whole = *read_file(path);
    seen = *array_file::seen_by_hdf5(path);
  }
  std::string path, whole;
  array_file::SeenByHdf5 seen;
};

void read_changed(FuzzedDataProvider& input, const File& file) {
  std::string bytes = file.whole;
  change(input, bytes);
  must(replace_file(file.path, bytes).has_value());
  const auto description = array_file::describe(file.path);
  if (!description || !array_file::check_objects(file.path, *description)) return;
  const auto damages = array_file::verify(file.path, *description);
  if (damages && damages->empty()) must(array_file::seen_by_hdf5(file.path) == file.seen);
}

// A staged checkpoint of two nodes, of which this is the one with rank 0.
struct Staged {
  explicit Staged(const Place& place) : image_path(place.in("slot-0")) {
    array_file::Description description = some_arrays(array_file::Form::checkpoint);
    const std::string layout = place.in("layout");
    must(array_file::lay_out(layout, description).has_value());
    record.layout = *carry::layout_of(open_file(layout, O_RDONLY)->get(), layout, description);
    for (std::size_t i = 0; i < description.arrays.size(); ++i) {
      const array_file::Array& array = description.arrays[i];
      const std::string data = data_of(array);
      slots::ItemSum sum;
      sum.add(array.item_bytes(), reinterpret_cast<const std::byte*>(data.data()), array.items, 0);
      record.extents.push_back({i, 0, array.bytes(), image.size()});
      record.sums.push_back(sum.value());
      image += data;
    }
    record.id = 1;
    record.nodes = 2;
    record.path = place.in("published");
    record.committed = std::numeric_limits<std::int64_t>::max();
    record.sidecar = carry::sidecar_of(1, record);
    record.description = array_file::encode(description);
    must(replace_file(image_path, image).has_value());
    must(replace_file(record.part(1), "carried\n").has_value());
    must(carry::carry_image(record, image_path, true).has_value());
    seen = *array_file::seen_by_hdf5(record.path);
    ::unlink(record.path.c_str());
  }
  std::string image_path, image;
  slots::StagedRecord record;
  array_file::SeenByHdf5 seen;
};

template <class Number>
void maybe(FuzzedDataProvider& input, Number& number) {
  if (input.ConsumeBool()) number = input.ConsumeIntegral<Number>();
}

// Its image, which bytes of it go where, and what the other node tells. The sums tell what was staged.
void carry_changed(FuzzedDataProvider& input, const Staged& staged) {
  std::string image = staged.image, told = "carried\n";
  slots::StagedRecord record = staged.record;
  if (input.ConsumeBool()) change(input, image);
  if (input.ConsumeBool()) told = input.ConsumeRandomLengthString(64) + (input.ConsumeBool() ? "carried\n" : "");
  for (slots::Extent& each : record.extents) {
    maybe(input, each.array);
    maybe(input, each.first);
    maybe(input, each.bytes);
    maybe(input, each.image);
  }
  must(replace_file(staged.image_path, image).has_value());
  must(replace_file(record.part(1), told).has_value());
  if (carry::carry_image(record, staged.image_path, true)) must(array_file::seen_by_hdf5(record.path) == staged.seen);
  for (const std::string& each : {record.path, record.path + ".json"}) ::unlink(each.c_str());
  slots::clear_away(record);
}

void decode_changed(FuzzedDataProvider& input, const Staged& staged) {
  constexpr std::size_t kCheck = 17;
  std::string body = encode(staged.record).substr(kCheck);
  change(input, body);
  if (const auto record = slots::decode_record(hex(checksum(body)) + " " + body + "\n", "record"))
    must(slots::decode_record(encode(*record), "record").has_value());
  std::string text = staged.record.description;
  change(input, text);
  if (auto description = array_file::decode(text)) (void)array_file::complete(*description);
  (void)array_file::decode(input.ConsumeRemainingBytesAsString());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Place place;
  static const std::array files = {File(place, array_file::Form::checkpoint), File(place, array_file::Form::grid)};
  static const Staged staged(place);
  FuzzedDataProvider input(bytes, size);
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
    case 1:
      read_changed(input, files[input.ConsumeBool() ? 1 : 0]);
      break;
    case 2:
      carry_changed(input, staged);
      break;
    default:
      decode_changed(input, staged);
  }
  return 0;
}
