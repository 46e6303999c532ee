// The C interface of forebay/trajectory.h over Trajectory. No exception passes: lack of memory becomes a status.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "trajectory/c_report.h"
#include "trajectory/trajectory.h"

using forebay::trajectory::missing;
using forebay::trajectory::Options;
using forebay::trajectory::report;
using forebay::trajectory::run;
using forebay::trajectory::TierKind;
using forebay::trajectory::Trajectory;

struct forebay_trajectory_options {
  Options value;
};
struct forebay_trajectory {
  std::unique_ptr<Trajectory> value;
  unsigned forks = 0;  // of the process that opened it
};

namespace {

thread_local std::string last_error;

bool is_foreign(const forebay_trajectory* trajectory) {
  return trajectory->forks != forebay::segment::forks();
}

// Why a trajectory cannot be used; 0 when it can.
int unusable(const forebay_trajectory* trajectory) {
  if (trajectory == nullptr) return missing("trajectory");
  if (!is_foreign(trajectory)) return FOREBAY_OK;
  return report(
      {FOREBAY_E_FORKED, "the trajectory belongs to the process that this one was forked from; open another"});
}

template <class T>
void assign(T* target, T value) {
  if (target != nullptr) *target = value;
}

}  // namespace

namespace forebay::trajectory {

int report(const Failure& failure) noexcept {
  try {
    last_error = failure.text;
  } catch (...) {
    last_error.clear();
  }
  return failure.status;
}

int missing(const char* what) noexcept {
  return report({FOREBAY_E_INVALID, std::string("the ") + what + " is missing (NULL)"});
}

}  // namespace forebay::trajectory

extern "C" {

const char* forebay_last_error(void) {
  return last_error.c_str();
}

const char* forebay_status_name(int status) {
  switch (static_cast<forebay_status>(status)) {
#define FOREBAY_NAME(name) \
  case name:               \
    return #name
    FOREBAY_NAME(FOREBAY_OK);
    FOREBAY_NAME(FOREBAY_E_INVALID);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_STEP);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_FIELD);
    FOREBAY_NAME(FOREBAY_E_STEP_OPEN);
    FOREBAY_NAME(FOREBAY_E_NO_OPEN_STEP);
    FOREBAY_NAME(FOREBAY_E_STEP_EXISTS);
    FOREBAY_NAME(FOREBAY_E_FIELD_CHANGED);
    FOREBAY_NAME(FOREBAY_E_FIELDS_FIXED);
    FOREBAY_NAME(FOREBAY_E_NOT_PINNED);
    FOREBAY_NAME(FOREBAY_E_PINNED);
    FOREBAY_NAME(FOREBAY_E_OUTSIDE);
    FOREBAY_NAME(FOREBAY_E_CLOSED_OPEN);
    FOREBAY_NAME(FOREBAY_E_TOLERANCE);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_TIER);
    FOREBAY_NAME(FOREBAY_E_FORKED);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_STORE);
    FOREBAY_NAME(FOREBAY_E_STORE_EXISTS);
    FOREBAY_NAME(FOREBAY_E_NO_SPACE);
    FOREBAY_NAME(FOREBAY_E_NO_MEMORY);
    FOREBAY_NAME(FOREBAY_E_BUSY);
    FOREBAY_NAME(FOREBAY_E_VERSION);
    FOREBAY_NAME(FOREBAY_E_DAMAGED);
    FOREBAY_NAME(FOREBAY_E_READ_ONLY);
    FOREBAY_NAME(FOREBAY_E_IO);
#undef FOREBAY_NAME
  }
  return "unknown status";
}

// --- options ---

forebay_trajectory_options* forebay_trajectory_options_create(void) {
  return new (std::nothrow) forebay_trajectory_options;
}

void forebay_trajectory_options_free(forebay_trajectory_options* options) {
  delete options;
}

int forebay_trajectory_options_set_name(forebay_trajectory_options* options, const char* name) {
  if (options == nullptr) return missing("options");
  return run([&] { return forebay::trajectory::set_name(options->value, name); });
}

int forebay_trajectory_options_set_rank(forebay_trajectory_options* options, int rank, int ranks) {
  if (options == nullptr) return missing("options");
  return run([&] { return forebay::trajectory::set_rank(options->value, rank, ranks); });
}

int forebay_trajectory_options_add_dram(forebay_trajectory_options* options, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  return run([&] { return forebay::trajectory::add_tier(options->value, TierKind::dram, nullptr, bytes); });
}

int forebay_trajectory_options_add_pool(forebay_trajectory_options* options, const char* directory, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  return run([&] { return forebay::trajectory::add_tier(options->value, TierKind::pool, directory, bytes); });
}

int forebay_trajectory_options_add_shared(forebay_trajectory_options* options, const char* directory, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  return run([&] { return forebay::trajectory::add_tier(options->value, TierKind::shared, directory, bytes); });
}

int forebay_trajectory_options_set_keep(forebay_trajectory_options* options, int keep) {
  if (options == nullptr) return missing("options");
  options->value.keep = keep != 0;
  return FOREBAY_OK;
}

int forebay_trajectory_options_set_mode(forebay_trajectory_options* options, forebay_mode mode) {
  if (options == nullptr) return missing("options");
  if (mode < FOREBAY_MODE_ANY || mode > FOREBAY_MODE_PARTIAL) {
    return report({FOREBAY_E_INVALID, "there is no such way to open a trajectory"});
  }
  options->value.mode = static_cast<forebay::trajectory::Mode>(mode);
  return FOREBAY_OK;
}

int forebay_trajectory_options_set_survives(forebay_trajectory_options* options, forebay_survives what) {
  if (options == nullptr) return missing("options");
  if (what != FOREBAY_SURVIVES_POWER_CUT && what != FOREBAY_SURVIVES_PROCESS_ONLY) {
    return report({FOREBAY_E_INVALID, "what a commit survives is a power cut, or the process only"});
  }
  options->value.process_only = what == FOREBAY_SURVIVES_PROCESS_ONLY;
  return FOREBAY_OK;
}

int forebay_trajectory_options_set_checksum(forebay_trajectory_options* options, int checksum) {
  if (options == nullptr) return missing("options");
  if (checksum < -1 || checksum > 1) return report({FOREBAY_E_INVALID, "checksum is -1, 0 or 1"});
  options->value.checksum = checksum;
  return FOREBAY_OK;
}

int forebay_trajectory_options_set_encoders(forebay_trajectory_options* options, int threads) {
  if (options == nullptr) return missing("options");
  return run([&] { return forebay::trajectory::set_encoders(options->value, threads); });
}

int forebay_trajectory_options_set_debug(forebay_trajectory_options* options, int debug) {
  if (options == nullptr) return missing("options");
  options->value.debug = debug != 0;
  return FOREBAY_OK;
}

int forebay_trajectory_options_set_segment_bytes(forebay_trajectory_options* options, uint64_t bytes) {
  if (options == nullptr) return missing("options");
  options->value.segment_bytes = bytes;
  return FOREBAY_OK;
}

// --- a trajectory ---

int forebay_trajectory_open(const forebay_trajectory_options* options, forebay_trajectory** trajectory) {
  if (trajectory == nullptr) return missing("place for the trajectory");
  *trajectory = nullptr;
  if (options == nullptr) return missing("options");
  return run([&] { return Trajectory::open(options->value); },
             [&](auto& opened) {
               *trajectory = new forebay_trajectory{std::move(opened), forebay::segment::forks()};
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

int forebay_trajectory_field(forebay_trajectory* trajectory, const char* name, int* field) {
  if (const int refused = unusable(trajectory)) return refused;
  if (name == nullptr) return missing("name of the field");
  const auto& fields = trajectory->value->fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return known.name == name; });
  if (found == fields.end()) {
    return report({FOREBAY_E_NO_SUCH_FIELD, "there is no field " + forebay::printable(name)});
  }
  assign(field, static_cast<int>(found - fields.begin()));
  return FOREBAY_OK;
}

int forebay_trajectory_field_count(forebay_trajectory* trajectory, int* fields) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(fields, static_cast<int>(trajectory->value->fields().size()));
  return FOREBAY_OK;
}

int forebay_trajectory_field_info(forebay_trajectory* trajectory, int field, const char** name, forebay_type* type,
                                  uint64_t* count) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->field(field); },
             [&](const auto* found) {
               assign(name, found->name.c_str());
               assign(type, found->type);
               assign(count, found->count);
             });
}

int forebay_trajectory_set_accepted_error(forebay_trajectory* trajectory, int field, double error) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->set_accepted_error(field, error); });
}

int forebay_trajectory_set_codec(forebay_trajectory* trajectory, int field, forebay_codec codec) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->set_codec(field, codec); });
}

int forebay_trajectory_encoding(forebay_trajectory* trajectory, int field, forebay_encoding_info* info, size_t bytes) {
  if (const int refused = unusable(trajectory)) return refused;
  if (info == nullptr) return missing("place for the information");
  return run([&] { return trajectory->value->encoding(field); },
             [&](const forebay_encoding_info& found) { std::memcpy(info, &found, std::min(bytes, sizeof(found))); });
}

int forebay_trajectory_begin(forebay_trajectory* trajectory, int64_t step, double time, void* memory[]) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->begin(step, time, memory); });
}

int forebay_trajectory_commit(forebay_trajectory* trajectory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->commit(); });
}

int forebay_trajectory_cancel(forebay_trajectory* trajectory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->cancel(); });
}

int forebay_trajectory_put(forebay_trajectory* trajectory, int64_t step, double time, const void* const memory[]) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->put(step, time, memory); });
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

int forebay_trajectory_interp(forebay_trajectory* trajectory, double time, int field, void* memory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->interpolate(time, field, memory); });
}

int forebay_trajectory_reverse(forebay_trajectory* trajectory, int64_t from) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->reverse(from); });
}

int forebay_trajectory_drop(forebay_trajectory* trajectory, int64_t step) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->drop(step); });
}

int forebay_trajectory_move(forebay_trajectory* trajectory, int64_t step, int tier) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->move(step, tier); });
}

int forebay_trajectory_rewind(forebay_trajectory* trajectory) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->rewind(); });
}

int forebay_trajectory_capacity(forebay_trajectory* trajectory, uint64_t* states) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->capacity(); }, [&](std::uint64_t found) { assign(states, found); });
}

int forebay_trajectory_count(forebay_trajectory* trajectory, uint64_t* steps) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(steps, static_cast<uint64_t>(trajectory->value->count()));
  return FOREBAY_OK;
}

int forebay_trajectory_step_at(forebay_trajectory* trajectory, uint64_t position, int64_t* step, double* time) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->at(position); },
             [&](const auto* entry) {
               assign(step, entry->step);
               assign(time, entry->time);
             });
}

int forebay_trajectory_time(forebay_trajectory* trajectory, int64_t step, double* time) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->find(step); }, [&](const auto* entry) { assign(time, entry->time); });
}

int forebay_trajectory_keep(forebay_trajectory* trajectory, int keep) {
  if (const int refused = unusable(trajectory)) return refused;
  return run([&] { return trajectory->value->keep(keep != 0); });
}

const char* forebay_trajectory_recovery(forebay_trajectory* trajectory) {
  return trajectory == nullptr || is_foreign(trajectory) ? "" : trajectory->value->tiers().remarks().c_str();
}

int forebay_trajectory_tier_count(forebay_trajectory* trajectory, int* tiers) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(tiers, static_cast<int>(trajectory->value->tiers().count()));
  return FOREBAY_OK;
}

int forebay_trajectory_tier_info(forebay_trajectory* trajectory, int tier, forebay_tier_info* info, size_t bytes) {
  if (const int refused = unusable(trajectory)) return refused;
  if (info == nullptr) return missing("place for the information");
  if (tier < 0 || static_cast<size_t>(tier) >= trajectory->value->tiers().count()) {
    return report({FOREBAY_E_NO_SUCH_TIER, "there is no tier " + std::to_string(tier)});
  }
  return run([&] { return trajectory->value->tiers().info(static_cast<size_t>(tier)); },
             [&](const forebay_tier_info& found) { std::memcpy(info, &found, std::min(bytes, sizeof(found))); });
}

int forebay_trajectory_waited(forebay_trajectory* trajectory, double* begin, double* get) {
  if (const int refused = unusable(trajectory)) return refused;
  assign(begin, trajectory->value->waited_to_begin());
  assign(get, trajectory->value->tiers().waited_for_states());
  return FOREBAY_OK;
}

}  // extern "C"
