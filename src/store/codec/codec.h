// codec: fields of numbers made smaller, within the error that the user accepts.
//
// Promises: a decoded field differs from the encoded one by no more than the accepted relative L2 error (the norm of
// the difference over the norm of the field). The error is measured on every field that is encoded, not estimated.
// Where a codec cannot keep that, or gains nothing, or the field holds NaN or Inf, the bytes are stored as they are and
// the header says why. Equal input gives equal bytes. Decoding never trusts its input: every size is checked before it
// is used, and memory is bounded by what the caller passes in. Once a Workspace has seen the largest field, nothing
// here allocates. There are no exceptions and no global state; a Workspace or a Reference serves one thread at a time.
// The format is in docs/format.md, "Encoded fields". Must not know: steps, stores, tiers, files, MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "store/codec/workspace.h"

namespace forebay::codec {

enum class Failure {
  bad_tolerance = 1,  // negative, NaN, or 1 and more (nothing of the field would have to be kept)
  bad_shape,          // its product is not the number of values
  bad_codec,          // not one of enum Codec
  small_buffer,       // less than bound() bytes to write into
  no_memory,          // the workspace cannot grow
  not_encoded,        // too short, or not an encoded field at all
  other_version,      // made by a later forebay
  damaged,            // the header or the payload is not what was written
  other_count,        // holds another number of values than there is room for
  other_type,         // holds double where float is asked for, or the other way round
  not_built,          // this build lacks the library of that codec
  needs_reference,    // a difference between steps, and no reference of the right size was given
  reference_unfit,    // the difference stands on another step than the one that the reference holds
  chain_starts_here,  // undo(): no step lies before this one in its chain
};
// A sentence for the user.
std::string_view text(Failure failure);

template <class T>
using Outcome = tl::expected<T, Failure>;

enum class Codec : std::uint8_t {
  raw = 0,
  float32 = 1,     // doubles rounded to float
  truncation = 2,  // mantissas rounded, bits shuffled, lz4
  zfp = 3,         // fixed accuracy
  difference = 4,  // rounded to a grid, difference to the previous step, bytes shuffled, zstd
};
std::string_view name(Codec codec);
bool is_built(Codec codec);

// Why a field is stored raw although another codec was asked for.
enum class Fallback : std::uint8_t {
  none = 0,
  not_finite = 1,  // it holds NaN or Inf
  error = 2,       // the codec cannot reach the accepted error
  no_gain = 3,     // it would not have become smaller
  not_built = 4,   // this build lacks the library
  nothing = 5,     // the accepted error is 0
};
std::string_view text(Fallback why);

// The extents of a structured field, fastest index first; all 0 for a plain list. Only zfp uses them.
struct Shape {
  std::uint32_t nx = 0, ny = 0, nz = 0;
};

struct Settings {
  Codec codec = Codec::raw;
  double accepted = 0;  // relative L2 error
  Shape shape = {};
  // difference: every so many steps one that can be decoded without its predecessors.
  std::uint32_t key_interval = 32;
};

// The rounded values that the codec `difference` stands on. One per field for encoding, which goes forward; one per
// field for each reader. Differences are between whole numbers, so they can be taken back as exactly as they were
// added: a reader that holds step n gets n+1 from record n+1 by decode(), and n-1 from record n by undo(). A sweep in
// either direction reads each record once; errors never add up. An encoder whose last record is not kept must forget().
struct Reference {
  std::span<std::int32_t> values;  // the caller's, as many as the field has
  double grid = 0;                 // what 1 stands for; 0: holds no step
  std::uint64_t label = 0;         // tells which values these are
  std::uint32_t since_key = 0;     // encoder: records since the last key

  void forget() { *this = {.values = values}; }
};

struct Encoded {
  std::size_t bytes = 0;
  Codec codec = Codec::raw;  // as stored
  Fallback fallback = Fallback::none;
  double error = 0;    // measured
  bool is_key = true;  // can be decoded without another record
};

// The header of an encoded field.
struct About {
  Codec codec = Codec::raw;
  Fallback fallback = Fallback::none;
  std::uint8_t bytes_per_value = 8;
  bool is_key = true;
  bool can_undo = false;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // with the header
  double error = 0;
};

// The most that `count` values of `bytes_per_value` bytes can need, whatever the codec.
std::size_t bound(std::size_t count, std::size_t bytes_per_value);

// Real is double or float. `out` holds at least bound() bytes and does not overlap the field. `reference` is needed by
// Codec::difference alone; after an error, or a fallback, it holds no step.
template <class Real>
Outcome<Encoded> encode(std::span<const Real> field, const Settings& settings, Workspace& workspace,
                        std::span<std::byte> out, Reference* reference = nullptr);

// Checks the header alone.
Outcome<About> inspect(std::span<const std::byte> encoded);

// `encoded` may be longer than the record. With a reference, the record of a difference is decoded by what costs least:
// nothing (the reference holds this step), the difference (it holds the one before), the key.
template <class Real>
Outcome<void> decode(std::span<const std::byte> encoded, Workspace& workspace, std::span<Real> field,
                     Reference* reference = nullptr);

// The step before: the reference holds the step of this record, and holds its predecessor afterwards, which is also
// what `field` gets.
template <class Real>
Outcome<void> undo(std::span<const std::byte> encoded, Workspace& workspace, std::span<Real> field,
                   Reference& reference);

// The results of a codec on a sample. Rates are in bytes of the field per second and thread.
struct Trial {
  Codec codec = Codec::raw;
  Fallback fallback = Fallback::none;
  double ratio = 1;  // bytes of the field by bytes stored; for differences in the long run, keys included
  double error = 0;
  double encode_rate = 0, decode_rate = 0;
};

// The rates of the run that the codec is for, in bytes per second.
struct Rates {
  double write = 0, read = 0;  // of the tier where most states will lie
  double threads = 1;          // that encode and decode off the solver's path
  double needed_ratio = 1;     // at which the whole trajectory has room; 1: it has as it is
};

// Tries every codec that is built on `steps`, one field at consecutive steps (with one step alone, differences are left
// out), looking at no more than about a quarter of a million values of each. This allocates, so it is for the start of
// a run.
template <class Real>
Outcome<std::vector<Trial>> measure(std::span<const std::span<const Real>> steps, const Settings& settings,
                                    Workspace& workspace);

// The position of the trial to follow: of those that make the trajectory fit, the one with which writing and reading a
// state takes least time; where none makes it fit, the one with the greatest ratio. Raw when the accepted error is 0.
std::size_t choose(std::span<const Trial> trials, const Rates& rates);

}  // namespace forebay::codec
