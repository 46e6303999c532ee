#include <algorithm>
#include <thread>

#include "parts.h"
#include "store/segment/copy.h"
#include "tools.h"

namespace forebay::trajectory::bench {
namespace {

// The places where the store keeps each state. The references use the same places: two sets of pages of one medium
// differ in speed.
using Places = std::vector<void*>;

void copy_all(const Places& places, const Settings& s, const void* state) {
  for (void* place : places) segment::stream(place, state, s.state_bytes);
  segment::fence_stores();
}

void read_all(const Places& rising, const Settings& s) {
  for (const void* place : rising) consume(place, s.state_bytes);
}

void write_in_place(const Store& store, const Settings& s, const void* state, Places& places) {
  for (std::uint64_t k = 0; k < s.states; ++k) {
    void* memory = nullptr;
    need(forebay_trajectory_begin(store.get(), static_cast<std::int64_t>(k), static_cast<double>(k), &memory, 1));
    segment::stream(memory, state, s.state_bytes);
    need(forebay_trajectory_commit(store.get()));
    places[k] = memory;
  }
}

// States that are not read where the solver wrote them.
std::uint64_t count_copied(const Store& store, const Places& places) {
  std::uint64_t copied = 0;
  for (std::size_t k = places.size(); k-- > 0;) {
    const void* state = nullptr;
    need(forebay_trajectory_get(store.get(), static_cast<std::int64_t>(k), 0, &state));
    if (state != places[k]) ++copied;
    need(forebay_trajectory_release(store.get(), static_cast<std::int64_t>(k)));
  }
  return copied;
}

}  // namespace

nlohmann::json steady(const Settings& s) {
  const auto state = some_state(s.state_bytes);
  Store store({.directory = s.directory, .bytes = budget_for(s.states, s.state_bytes)});
  store.declare(s.state_bytes);
  Places places(s.states);
  write_in_place(store, s, state.data(), places);
  Places rising = places;
  std::sort(rising.begin(), rising.end());

  std::vector<double> put, put_copy, in_place, in_place_copy, get, read;
  std::uint64_t copied = 0;
  const auto copy = [&](std::vector<double>& into) {
    into.push_back(seconds([&] { copy_all(rising, s, state.data()); }));
  };
  for (int i = 0; i < s.repetitions; ++i) {
    alternate(
        i,
        [&] {
          put.push_back(seconds([&] {
            need(forebay_trajectory_rewind(store.get()));
            put_all(store, s.states, state.data());
          }));
        },
        [&] { copy(put_copy); });
    alternate(
        i,
        [&] {
          in_place.push_back(seconds([&] {
            need(forebay_trajectory_rewind(store.get()));
            write_in_place(store, s, state.data(), places);
          }));
        },
        [&] { copy(in_place_copy); });
    alternate(
        i, [&] { get.push_back(seconds([&] { read_back(store, s.states, s.state_bytes); })); },
        [&] { read.push_back(seconds([&] { read_all(rising, s); })); });
    copied += count_copied(store, places);
  }
  return {{"put", put}, {"put_copy", put_copy}, {"in_place", in_place}, {"in_place_copy", in_place_copy},
          {"get", get}, {"read", read},         {"copied", copied}};
}

// In a virtual machine a free page comes five times as slowly when the host must find it again. Pages that are still at
// hand lie with the core that freed them. So the reference takes as many as the store, whole segments, by a thread of
// its own as the store does, and each repetition is the mean of both orders.
nlohmann::json fresh(const Settings& s) {
  constexpr std::uint64_t kSegment = std::uint64_t{64} << 20;
  const auto state = some_state(s.state_bytes);
  const std::uint64_t of_a_segment = states_of_a_segment(kSegment, s.state_bytes);
  const std::uint64_t segments = (s.states + of_a_segment - 1) / of_a_segment, states = segments * of_a_segment;
  std::vector<double> put, touch;
  for (int i = 0; i < s.repetitions; ++i) {
    double putting = 0, touching = 0;
    for (int order = 0; order < 2; ++order) {
      alternate(
          order,
          [&] {
            Store store({.directory = s.directory, .bytes = segments * kSegment, .segment_bytes = kSegment});
            store.declare(s.state_bytes);
            putting += seconds([&] { put_all(store, states, state.data()); });
          },
          [&] {
            Room room(s.directory, segments * kSegment);
            std::thread([&] { touching += seconds([&] { room.touch(); }); }).join();
          });
    }
    put.push_back(putting / 2);
    touch.push_back(touching / 2);
  }
  return {
      {"put", put}, {"touch", touch}, {"put_bytes", states * s.state_bytes}, {"touched_bytes", segments * kSegment}};
}

}  // namespace forebay::trajectory::bench
