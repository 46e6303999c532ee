// Arrays for C++20: forebay/arrays.h with owners and spans. Header only, so that the library's binary interface stays
// the one of C.
//
//     forebay::Team team(MPI_COMM_WORLD);
//     forebay::Plan cells(team, number, all_cells);             // number[i]: the global number of local cell i
//     forebay::Arrays arrays;                                   // the same table serves writing and reading
//     arrays.add("velocity", "cells", cells, std::span(u), 3);  // u[3 * i + component]
//     arrays.add("pressure", "cells", cells, std::span(p));
//     forebay::Checkpoints store(team, "checkpoints");
//     store.write("restart.h5", {.step = k, .time = t, .program = "solver 2.1", .mesh = "cavity"}, arrays);
//     ...
//     forebay::Head head = store.read("restart.h5", "cavity", arrays);
//
// A status other than FOREBAY_OK is thrown here, as forebay::ArraysError, on all ranks alike. So is a span of a wrong
// size on one of them. Calls that are collective in C are so here, constructors and destructors too. A plan ends before
// its team, and an output before its checkpoints. A table only points to plans and values. Options come by their keys
// (forebay/options.h), {{"method", "staged"}, {"pool", "/dev/shm"}}.
#ifndef FOREBAY_ARRAYS_HPP
#define FOREBAY_ARRAYS_HPP

#include <forebay/arrays.h>
#include <forebay/common.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace forebay {

using ArraysError = CallError;
using ArraysOptions = std::vector<std::pair<std::string, std::string>>;

namespace detail {

template <auto end>
struct End {
  template <class Handle>
  void operator()(Handle* handle) const {
    (void)end(handle);
  }
};
template <class Handle, auto end>
using Owner = std::unique_ptr<Handle, End<end>>;

inline Owner<forebay_options, forebay_options_free> made(const ArraysOptions& options) {
  Owner<forebay_options, forebay_options_free> all(forebay_options_create());
  for (const auto& [key, value] : options) check(forebay_options_set(all.get(), key.c_str(), value.c_str()));
  return all;
}

}  // namespace detail

// The ranks of a communicator.
class Team {
 public:
  explicit Team(MPI_Comm communicator, const ArraysOptions& options = {}) {
    forebay_team* handle = nullptr;
    const auto made = detail::made(options);
    check(forebay_team_create(communicator, made.get(), &handle));
    handle_.reset(handle);
  }
  forebay_team* get() const { return handle_.get(); }
  // Throws on all ranks where one of them gives another status than FOREBAY_OK.
  void agree(int status, const std::string& words) const { check(forebay_team_agree(get(), status, words.c_str())); }

 private:
  detail::Owner<forebay_team, forebay_team_free> handle_;
};

// The way of items to blocks, and back.
class Plan {
 public:
  // 1-based, in no particular order, of `items` in all.
  Plan(const Team& team, std::span<const std::uint64_t> numbers, std::uint64_t items, const ArraysOptions& options = {})
      : team_(team.get()), local_(numbers.size()) {
    forebay_plan* handle = nullptr;
    const auto made = detail::made(options);
    check(forebay_plan_create(team_, numbers.data(), numbers.size(), items, made.get(), &handle));
    handle_.reset(handle);
  }
  // A plan of the values of lists, whose ranges number_lists tells, or a checkpoint.
  static Plan of_lists(const Team& team, std::span<const std::uint64_t> ranges, std::uint64_t values,
                       const ArraysOptions& options = {}) {
    std::uint64_t local = 0;
    for (std::size_t i = 0; i + 1 < ranges.size(); i += 2) local += ranges[i + 1] - ranges[i];
    forebay_plan* handle = nullptr;
    const auto made = detail::made(options);
    check(forebay_plan_create_lists(team.get(), ranges.data(), ranges.size() / 2, values, made.get(), &handle));
    return Plan(team.get(), local, handle);
  }

  struct Block {
    std::uint64_t first;
    std::uint64_t count;
  };
  Block block() const {
    Block block{};
    check(forebay_plan_get_block(get(), &block.first, &block.count));
    return block;
  }
  // Items of this rank.
  std::uint64_t local() const { return local_; }

  // The items in the order of their global numbers: those of this rank's block.
  template <class Number>
  void move_to_block(std::span<const Number> items, std::span<Number> block, std::size_t components = 1) {
    agree_on(items.size(), block.size(), components);
    check(forebay_plan_move_to_block(get(), items.data(), components * sizeof(Number), block.data()));
  }
  template <class Number>
  void move_from_block(std::span<const Number> block, std::span<Number> items, std::size_t components = 1) {
    agree_on(items.size(), block.size(), components);
    check(forebay_plan_move_from_block(get(), block.data(), components * sizeof(Number), items.data()));
  }

  struct Lists {
    std::vector<std::uint64_t> ranges;  // two of each list, in the order of its items
    std::uint64_t values;               // in all
  };
  Lists number_lists(std::span<const std::uint64_t> lengths) {
    agree(lengths.size() == local_, "lengths");
    Lists lists{std::vector<std::uint64_t>(2 * lengths.size()), 0};
    check(forebay_plan_number_lists(get(), lengths.data(), lists.ranges.data(), &lists.values));
    return lists;
  }
  forebay_plan* get() const { return handle_.get(); }

 private:
  Plan(forebay_team* team, std::uint64_t local, forebay_plan* handle) : team_(team), local_(local), handle_(handle) {}
  void agree(bool fits, const char* what) const {
    const std::string words = std::string("there are not as many ") + what + " as the plan has";
    check(forebay_team_agree(team_, fits ? FOREBAY_OK : FOREBAY_E_INVALID, words.c_str()));
  }
  void agree_on(std::size_t items, std::size_t in_block, std::size_t components) const {
    agree(items == local_ * components && in_block == block().count * components, "items, or items of the block,");
  }

  forebay_team* team_;
  std::uint64_t local_;
  detail::Owner<forebay_plan, forebay_plan_free> handle_;
};

// Which arrays there are, and where this rank has them. Values that are const can be written only.
class Arrays {
 public:
  template <class Number>
  void add(const std::string& name, const std::string& location, const Plan& plan, std::span<Number> values,
           std::uint32_t components = 1) {
    const std::string& own_name = texts_.emplace_back(name);
    const std::string& own_location = texts_.emplace_back(location);
    using Plain = std::remove_const_t<Number>;
    all_.push_back({sizeof(forebay_array), own_name.c_str(), own_location.c_str(), type_of<Plain>(), components,
                    plan.get(), const_cast<Plain*>(values.data())});
    readable_ = readable_ && !std::is_const_v<Number>;
    if (values.size() != plan.local() * components) wrong_ = name;
  }
  Arrays() = default;
  Arrays(const Arrays&) = delete;  // the table points to texts of its own
  Arrays& operator=(const Arrays&) = delete;
  Arrays(Arrays&&) = default;
  Arrays& operator=(Arrays&&) = default;

 private:
  friend class Checkpoints;
  friend class MeshOutput;
  // Throws on all ranks where a span has another size than its plan on one.
  void agree(forebay_team* team) const {
    const std::string words = wrong_ + ": its span has another size than the items of its plan make up";
    check(forebay_team_agree(team, wrong_.empty() ? FOREBAY_OK : FOREBAY_E_INVALID, words.c_str()));
  }
  int count() const { return static_cast<int>(all_.size()); }

  std::deque<std::string> texts_;
  std::vector<forebay_array> all_;
  std::string wrong_;
  bool readable_ = true;
};

// The state that a checkpoint is of.
struct Head {
  std::int64_t step = 0;
  double time = 0;
  std::string program{};
  std::string mesh{};
};

namespace detail {

inline forebay_head given(const Head& head) {
  return {sizeof(forebay_head), head.step, head.time, head.program.c_str(), head.mesh.c_str()};
}
inline Head taken(const forebay_head& head) {
  return {head.step, head.time, head.program, head.mesh};
}

}  // namespace detail

// The checkpoints of a directory.
class Checkpoints {
 public:
  explicit Checkpoints(const Team& team, const std::string& directory, const ArraysOptions& options = {})
      : team_(team.get()) {
    forebay_checkpoints* handle = nullptr;
    const auto made = detail::made(options);
    check(forebay_checkpoints_open(team_, directory.c_str(), made.get(), &handle));
    handle_.reset(handle);
  }
  // Reports what the destructor would pass over in silence.
  void close() { check(forebay_checkpoints_close(handle_.release())); }
  forebay_checkpoints* get() const { return handle_.get(); }

  void write(const std::string& name, const Head& head, const Arrays& arrays) {
    arrays.agree(team_);
    const forebay_head given = detail::given(head);
    check(forebay_checkpoints_write(get(), name.c_str(), &given, arrays.all_.data(), arrays.count()));
  }
  void prepare(const Arrays& arrays) {
    arrays.agree(team_);
    check(forebay_checkpoints_prepare(get(), arrays.all_.data(), arrays.count()));
  }
  void settle() { check(forebay_checkpoints_settle(get())); }
  Head read(const std::string& name, const std::string& mesh, const Arrays& arrays) {
    if (!arrays.readable_) throw ArraysError(FOREBAY_E_INVALID, "values that are const can be written only");
    arrays.agree(team_);
    forebay_head head{sizeof(forebay_head), 0, 0, nullptr, nullptr};
    check(forebay_checkpoints_read(get(), name.c_str(), mesh.c_str(), arrays.all_.data(), arrays.count(), &head));
    return detail::taken(head);
  }

  struct Location {
    std::string name;
    std::uint64_t items;
  };
  struct Array {
    std::string name;
    std::string location;
    forebay_type type;
    std::uint32_t components;
  };
  struct Description {
    Head head;
    std::vector<Location> locations;
    std::vector<Array> arrays;
  };
  Description describe(const std::string& name) {
    forebay_head head{sizeof(forebay_head), 0, 0, nullptr, nullptr};
    int locations = 0, arrays = 0;
    check(forebay_checkpoints_describe(get(), name.c_str(), &head, &locations, &arrays));
    Description all{detail::taken(head), {}, {}};
    for (int place = 0; place < locations; ++place) {
      const char* text = nullptr;
      std::uint64_t items = 0;
      check(forebay_checkpoints_get_location(get(), place, &text, &items));
      all.locations.push_back({text, items});
    }
    for (int place = 0; place < arrays; ++place) {
      forebay_array array{};
      array.size = sizeof(array);
      check(forebay_checkpoints_get_array(get(), place, &array));
      all.arrays.push_back({array.name, array.location, array.type, array.components});
    }
    return all;
  }

  struct Recovered {
    std::string path;
    bool carried;
  };
  // The checkpoints that an earlier program had staged.
  std::vector<Recovered> recovered() const {
    int count = 0;
    check(forebay_checkpoints_count_recovered(get(), &count));
    std::vector<Recovered> all;
    for (int place = 0; place < count; ++place) {
      const char* path = nullptr;
      int carried = 0;
      check(forebay_checkpoints_get_recovered(get(), place, &path, &carried));
      all.push_back({path, carried != 0});
    }
    return all;
  }

 private:
  friend class MeshOutput;
  forebay_team* team_;
  detail::Owner<forebay_checkpoints, forebay_checkpoints_close> handle_;
};

// A mesh as this rank has it: forebay_mesh says what each is.
struct Mesh {
  const Plan& points;
  std::span<const double> places;
  const Plan& cells;
  std::span<const std::uint8_t> types;
  std::span<const std::uint64_t> lengths;
  std::span<const std::uint64_t> vertices;
};

// A series of steps of one mesh, for ParaView.
class MeshOutput {
 public:
  MeshOutput(Checkpoints& files, const std::string& name, const Mesh& mesh) : team_(files.team_) {
    std::uint64_t vertices = 0;
    for (const std::uint64_t length : mesh.lengths) vertices += length;
    const bool fits = mesh.places.size() == 3 * mesh.points.local() && mesh.types.size() == mesh.cells.local() &&
                      mesh.lengths.size() == mesh.cells.local() && mesh.vertices.size() == vertices;
    const char* const words = "places, types, lengths or vertices do not fit the plans of the mesh, or each other";
    check(forebay_team_agree(team_, fits ? FOREBAY_OK : FOREBAY_E_INVALID, words));
    const forebay_mesh given{sizeof(forebay_mesh), mesh.points.get(),   mesh.places.data(),  mesh.cells.get(),
                             mesh.types.data(),    mesh.lengths.data(), mesh.vertices.data()};
    forebay_mesh_output* handle = nullptr;
    check(forebay_mesh_output_open(files.get(), name.c_str(), &given, &handle));
    handle_.reset(handle);
  }
  void write(const Head& head, const Arrays& arrays) {
    arrays.agree(team_);
    const forebay_head given = detail::given(head);
    check(forebay_mesh_output_write(get(), &given, arrays.all_.data(), arrays.count()));
  }
  void settle() { check(forebay_mesh_output_settle(get())); }
  // Reports what the destructor would pass over in silence.
  void close() { check(forebay_mesh_output_close(handle_.release())); }
  forebay_mesh_output* get() const { return handle_.get(); }

 private:
  forebay_team* team_;
  detail::Owner<forebay_mesh_output, forebay_mesh_output_close> handle_;
};

}  // namespace forebay

#endif
