// The C interface of forebay/trajectory.h over Trajectory. No exception passes: lack of memory becomes a status.
#include <algorithm>

#include "api/api.h"
#include "base/text.h"
#include "store/trajectory/trajectory.h"

using forebay::api::fail;
using forebay::api::fill;
using forebay::api::missing;
using forebay::api::Outcome;
using forebay::api::run;
using forebay::api::unfit;
using forebay::trajectory::Trajectory;

struct forebay_trajectory {
  std::unique_ptr<Trajectory> value;
  unsigned forks = 0;  // of the process that opened it
};

namespace {

bool is_foreign(const forebay_trajectory* trajectory) {
  return trajectory->forks != forebay::forks();
}

// Why a trajectory cannot be used; 0 when it can.
int unusable(const forebay_trajectory* trajectory) {
  if (trajectory == nullptr) return missing("trajectory");
  if (!is_foreign(trajectory)) return FOREBAY_OK;
  return forebay_error_set(FOREBAY_E_FORKED,
                           "the trajectory belongs to the process that this one was forked from; open another");
}

// Addresses of another number of fields would be read, or written, beyond what the program has.
int another_number(const forebay_trajectory* trajectory, int fields) {
  const std::size_t declared = trajectory->value->fields().all().size();
  if (fields >= 0 && static_cast<std::size_t>(fields) == declared) return FOREBAY_OK;
  return run([&]() -> forebay::api::Done {
    return fail(FOREBAY_E_INVALID, "the trajectory has {}, and the program gives addresses of {}",
                forebay::plural(declared, "field"), fields);
  });
}

template <class T>
void assign(T* target, T value) {
  if (target != nullptr) *target = value;
}

}  // namespace

extern "C" {

int forebay_trajectory_open(const forebay_options* options, forebay_trajectory** trajectory) {
  if (trajectory == nullptr) return missing("place for the trajectory");
  *trajectory = nullptr;
  if (options == nullptr) return missing("options");
  return run(
      [&]() -> Outcome<std::unique_ptr<Trajectory>> {
        const auto wanted = forebay::trajectory::options_of(*options);
        if (!wanted) return tl::unexpected(wanted.error());
        return Trajectory::open(*wanted);
      },
      [&](auto& opened) {
        *trajectory = new forebay_trajectory{std::move(opened), forebay::forks()};
      });
}

int forebay_trajectory_close(forebay_trajectory* trajectory) {
  if (trajectory == nullptr) return FOREBAY_OK;
  // Its threads are the parent's, and so is what is removed at its end; of the child's memory it takes none.
  if (const int refused = unusable(trajectory)) return refused;
  const int status = run([&] { return trajectory->value->close(); });
  delete trajectory;
  return status;
}

int forebay_trajectory_declare(forebay_trajectory* trajectory, const char* name, forebay_type type, uint64_t count,
                               int* field) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->declare(name, type, count); }, [&](int number) { assign(field, number); });
}

int forebay_trajectory_find_field(forebay_trajectory* trajectory, const char* name, int* field) {
  if (const int refused = unusable(trajectory)) return refused;
  if (name == nullptr) return missing("name of the field");
  return run(
      [&]() -> Outcome<int> {
        const auto& fields = trajectory->value->fields().all();
        const auto found =
            std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return known.name == name; });
        if (found == fields.end()) {
          return fail(FOREBAY_E_NO_SUCH_FIELD, "there is no field {}", forebay::printable(name));
        }
        return static_cast<int>(found - fields.begin());
      },
      [&](int number) { assign(field, number); });
}

int forebay_trajectory_count_fields(forebay_trajectory* trajectory, int* fields) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(fields, static_cast<int>(trajectory->value->fields().all().size()));
  return FOREBAY_OK;
}

int forebay_trajectory_get_field(forebay_trajectory* trajectory, int field, const char** name, forebay_type* type,
                                 uint64_t* count) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->fields().find(field); },
             [&](const auto* found) {
               assign(name, found->name.c_str());
               assign(type, found->type);
               assign(count, found->count);
             });
}

int forebay_trajectory_set_shape(forebay_trajectory* trajectory, int field, int dimensions, const uint64_t extents[]) {
  if (const int refused = unusable(trajectory)) return refused;
  if (dimensions < 0 || (dimensions > 0 && extents == nullptr)) return missing("extents of the field");
  return run([&] { return trajectory->value->fields().set_shape(field, {extents, static_cast<size_t>(dimensions)}); });
}

int forebay_trajectory_get_shape(forebay_trajectory* trajectory, int field, int* dimensions, uint64_t extents[]) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->fields().find(field); },
             [&](const auto* found) {
               assign(dimensions, static_cast<int>(found->shape.size()));
               if (extents != nullptr) std::copy(found->shape.begin(), found->shape.end(), extents);
             });
}

int forebay_trajectory_set_accepted_error(forebay_trajectory* trajectory, int field, double error) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->fields().set_accepted_error(field, error); });
}

int forebay_trajectory_set_codec(forebay_trajectory* trajectory, int field, forebay_codec codec) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->fields().set_codec(field, codec); });
}

int forebay_trajectory_describe_encoding(forebay_trajectory* trajectory, int field, forebay_encoding_info* info) {
  if (const int refused = unusable(trajectory)) return refused;
  if (const int refused = unfit(info, "forebay_encoding_info")) return refused;
  return run([&] { return trajectory->value->encoding(field); },
             [&](const forebay_encoding_info& found) { fill(info, found); });
}

int forebay_trajectory_begin(forebay_trajectory* trajectory, int64_t step, double time, void* memory[], int fields) {
  if (const int refused = unusable(trajectory)) return refused;
  if (const int refused = another_number(trajectory, fields)) return refused;
  return run([&] { return trajectory->value->writer().begin(step, time, memory); });
}

int forebay_trajectory_commit(forebay_trajectory* trajectory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->writer().commit(); });
}

int forebay_trajectory_cancel(forebay_trajectory* trajectory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->writer().cancel(); });
}

int forebay_trajectory_put(forebay_trajectory* trajectory, int64_t step, double time, const void* const memory[],
                           int fields) {
  if (const int refused = unusable(trajectory)) return refused;
  if (const int refused = another_number(trajectory, fields)) return refused;
  return run([&] { return trajectory->value->writer().put(step, time, memory); });
}

int forebay_trajectory_get(forebay_trajectory* trajectory, int64_t step, int field, const void** memory) {
  if (const int refused = unusable(trajectory)) return refused;
  if (memory == nullptr) return missing("place for the address");
  *memory = trajectory->value->get_at_hand(step, field);
  if (*memory != nullptr) return FOREBAY_OK;
  return run([&] { return trajectory->value->get(step, field); }, [&](const void* found) { *memory = found; });
}

int forebay_trajectory_release(forebay_trajectory* trajectory, int64_t step) {
  if (const int refused = unusable(trajectory)) return refused;
  if (trajectory->value->release_at_hand(step)) return FOREBAY_OK;
  return run([&] { return trajectory->value->release(step); });
}

int forebay_trajectory_interpolate(forebay_trajectory* trajectory, double time, int field, void* memory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->interpolate(time, field, memory); });
}

int forebay_trajectory_reverse(forebay_trajectory* trajectory, int64_t from) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->reverse(from); });
}

int forebay_trajectory_drop(forebay_trajectory* trajectory, int64_t step) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->writer().drop(step); });
}

int forebay_trajectory_move(forebay_trajectory* trajectory, int64_t step, int tier) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->writer().move(step, tier); });
}

int forebay_trajectory_rewind(forebay_trajectory* trajectory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->writer().rewind(); });
}

int forebay_trajectory_get_capacity(forebay_trajectory* trajectory, uint64_t* states) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->capacity(); }, [&](std::uint64_t found) { assign(states, found); });
}

int forebay_trajectory_count_steps(forebay_trajectory* trajectory, uint64_t* steps) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(steps, static_cast<uint64_t>(trajectory->value->count()));
  return FOREBAY_OK;
}

int forebay_trajectory_get_step(forebay_trajectory* trajectory, uint64_t position, int64_t* step, double* time) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->at(position); },
             [&](const auto* entry) {
               assign(step, entry->step);
               assign(time, entry->time);
             });
}

int forebay_trajectory_get_time(forebay_trajectory* trajectory, int64_t step, double* time) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->find(step); }, [&](const auto* entry) { assign(time, entry->time); });
}

int forebay_trajectory_keep(forebay_trajectory* trajectory, int keep) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->keep(keep != 0); });
}

const char* forebay_trajectory_get_recovery(forebay_trajectory* trajectory) {
  return trajectory == nullptr || is_foreign(trajectory) ? "" : trajectory->value->tiers().remarks().c_str();
}

int forebay_trajectory_copy_recovery(forebay_trajectory* trajectory, char* buffer, size_t bytes, size_t* length) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(length, forebay::api::copy_text(trajectory->value->tiers().remarks(), buffer, bytes));
  return FOREBAY_OK;
}

int forebay_trajectory_count_tiers(forebay_trajectory* trajectory, int* tiers) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(tiers, static_cast<int>(trajectory->value->tiers().count()));
  return FOREBAY_OK;
}

int forebay_trajectory_describe_tier(forebay_trajectory* trajectory, int tier, forebay_tier_info* info) {
  if (const int refused = unusable(trajectory)) return refused;
  if (const int refused = unfit(info, "forebay_tier_info")) return refused;
  return run(
      [&]() -> Outcome<forebay_tier_info> {
        auto& tiers = trajectory->value->tiers();
        if (tier < 0 || static_cast<size_t>(tier) >= tiers.count()) {
          return fail(FOREBAY_E_NO_SUCH_TIER, "there is no tier {}: there are {}, counted from 0", tier, tiers.count());
        }
        return tiers.info(static_cast<size_t>(tier));
      },
      [&](const forebay_tier_info& found) { fill(info, found); });
}

int forebay_trajectory_get_waited(forebay_trajectory* trajectory, double* begin, double* get) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(begin, trajectory->value->waited_to_begin());
  assign(get, trajectory->value->tiers().waited_for_states());
  return FOREBAY_OK;
}

}  // extern "C"
