// arrays_face DIRECTORY METHOD FILE [FILE...]: the C++ face of arrays writes the first file and reads it and all
// others, which programs in other languages and on other numbers of ranks have written; and tells what it refuses. The
// fields are those of arrays_face.c.
#include <forebay/arrays.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kCells = 1000, kVertices = 300;
int rank, ranks;

void check(bool good, const char* words) {
  if (good) return;
  std::fprintf(stderr, "rank %d: not true: %s (%s)\n", rank, words, forebay_error_get_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(what) check(what, #what)

// Whether all ranks hear this, with these words.
template <class Call>
bool is_refused(const char* words, const Call& call) {
  try {
    call();
  } catch (const forebay::ArraysError& error) {
    return error.status() == FOREBAY_E_INVALID && std::strstr(error.what(), words) != nullptr;
  }
  return false;
}

struct Fields {
  std::vector<double> velocity;
  std::vector<float> pressure;
  std::vector<std::int32_t> kind;
  std::vector<std::int64_t> ranges, id, corners;
  bool operator==(const Fields&) const = default;
};

struct Numbers {
  std::vector<std::uint64_t> cells, vertices, lengths;
};

// The items of this rank, the last first; some vertices on two ranks.
Numbers own_numbers() {
  Numbers numbers;
  for (int g = kCells; g > 0; --g) {
    if ((g * 31 + g / 8 * 17) % ranks == rank) numbers.cells.push_back(static_cast<std::uint64_t>(g));
  }
  for (int g = kVertices; g > 0; --g) {
    if (g % ranks == rank || g / 10 % ranks == rank) numbers.vertices.push_back(static_cast<std::uint64_t>(g));
  }
  for (const std::uint64_t cell : numbers.cells) numbers.lengths.push_back(cell % 5);
  return numbers;
}

Fields fields_of(const Numbers& numbers) {
  Fields fields;
  for (const std::uint64_t cell : numbers.cells) {
    for (int c = 0; c < 3; ++c) fields.velocity.push_back(static_cast<double>(cell) + 0.25 * c);
    fields.pressure.push_back(0.5F * static_cast<float>(cell));
    fields.kind.push_back(static_cast<std::int32_t>(cell % 7));
    for (std::uint64_t k = 0; k < cell % 5; ++k) fields.corners.push_back(static_cast<std::int64_t>(10 * cell + k));
  }
  for (const std::uint64_t vertex : numbers.vertices) fields.id.push_back(1000003 * static_cast<std::int64_t>(vertex));
  return fields;
}

struct Plans {
  forebay::Plan cells, vertices, corners;
};

forebay::Arrays table(Fields& fields, const Plans& plans) {
  forebay::Arrays all;
  all.add("velocity", "cells", plans.cells, std::span(fields.velocity), 3);
  all.add("pressure", "cells", plans.cells, std::span(fields.pressure));
  all.add("kind", "cells", plans.cells, std::span(fields.kind));
  all.add("ranges", "cells", plans.cells, std::span(fields.ranges), 2);
  all.add("id", "vertices", plans.vertices, std::span(fields.id));
  all.add("corners", "corners", plans.corners, std::span(fields.corners));
  return all;
}

void goes_into_blocks_and_back(forebay::Plan& cells, const std::vector<double>& velocity) {
  const auto [first, count] = cells.block();
  std::vector<double> block(3 * count), back(velocity.size());
  cells.move_to_block<double>(velocity, block, 3);
  for (std::uint64_t i = 0; i < count; ++i) CHECK(block[3 * i + 2] == static_cast<double>(first + i) + 0.5);
  cells.move_from_block<double>(block, back, 3);
  CHECK(back == velocity);
  CHECK(is_refused("as many items", [&] {
    cells.move_to_block<double>(std::span(velocity).first(velocity.size() - (rank == 0 ? 3 : 0)), block, 3);
  }));
}

void is_described(forebay::Checkpoints& store, const char* file) {
  const auto all = store.describe(file);
  CHECK(all.head.step == 42 && all.locations.size() == 3 && all.arrays.size() == 6);
  CHECK(all.locations[0].name == "cells" && all.locations[0].items == kCells);
  CHECK(all.arrays[5].location == "cells" || all.arrays[5].name == "velocity" || all.arrays[5].name == "id");
  CHECK(store.recovered().empty());
}

void run(char** files, char** end, const char* directory, const char* method) {
  const forebay::Team team(MPI_COMM_WORLD);
  const Numbers numbers = own_numbers();
  Fields written = fields_of(numbers);
  forebay::Plan cells(team, numbers.cells, kCells, {{"least-bytes", "1"}});
  forebay::Plan vertices(team, numbers.vertices, kVertices, {{"shared", "on"}});
  const auto lists = cells.number_lists(numbers.lengths);
  written.ranges.assign(lists.ranges.begin(), lists.ranges.end());
  auto corners = forebay::Plan::of_lists(team, lists.ranges, lists.values);
  Plans plans{std::move(cells), std::move(vertices), std::move(corners)};
  goes_into_blocks_and_back(plans.cells, written.velocity);

  forebay::Checkpoints store(team, directory, {{"method", method}, {"pool", directory}});
  const forebay::Head head{.step = 42, .time = 0.125, .program = "arrays_face", .mesh = "cube"};
  const forebay::Arrays arrays = table(written, plans);
  store.prepare(arrays);
  store.write(*files, head, arrays);
  store.settle();
  for (char** file = files; file != end; ++file) {
    Fields found = fields_of(numbers);
    found.ranges.assign(written.ranges.size(), 0);
    std::fill(found.velocity.begin(), found.velocity.end(), 0);
    std::fill(found.corners.begin(), found.corners.end(), 0);
    const forebay::Head read = store.read(*file, "cube", table(found, plans));
    CHECK(found == written);
    CHECK(read.step == 42 && read.time == 0.125 && read.program == "arrays_face" && read.mesh == "cube");
  }
  is_described(store, *files);

  CHECK(is_refused("another mesh", [&] { (void)store.read(*files, "sphere", arrays); }));
  CHECK(is_refused("no key",
                   [&] {
                     forebay::Plan(team, numbers.cells, kCells, {{"nonsense", "1"}});
                   }) ||
        is_refused("nonsense", [&] {
          forebay::Plan(team, numbers.cells, kCells, {{"nonsense", "1"}});
        }));
  const std::vector<float> few(numbers.cells.size() - (rank == ranks - 1 ? 1 : 0));
  forebay::Arrays of_few;
  of_few.add("pressure", "cells", plans.cells, std::span(few));
  CHECK(is_refused("another size", [&] { store.write("few.h5", head, of_few); }));
  forebay::Arrays constant;
  constant.add("pressure", "cells", plans.cells, std::span<const float>(written.pressure));
  CHECK(is_refused("written only", [&] { (void)store.read(*files, "cube", constant); }));
  CHECK(is_refused("later", [&] { team.agree(rank == 0 ? FOREBAY_E_INVALID : FOREBAY_OK, "later"); }));
  store.close();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run(argv + 3, argv + argc, argv[1], argv[2]);
  MPI_Finalize();
}
