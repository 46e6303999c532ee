#include <time.h>

#include <algorithm>

#include "store/codec/codec.h"

namespace forebay::codec {
namespace {

constexpr std::size_t kSampleValues = std::size_t{1} << 18;
constexpr Codec kCodecs[] = {Codec::raw, Codec::float32, Codec::truncation, Codec::zfp, Codec::difference};

// The leading part that is looked at: whole planes of a box, or whole rows where a plane is too large.
Shape sampled(Shape shape) {
  if (shape.nx == 0) return shape;
  const auto fitting = [](std::uint64_t of, std::uint64_t each) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kSampleValues / each, 1, of));
  };
  const std::uint64_t plane = std::uint64_t{shape.nx} * shape.ny;
  shape.nz = fitting(shape.nz, plane);
  if (plane > kSampleValues) shape.ny = fitting(shape.ny, shape.nx);
  return shape;
}

// Processor time of this thread: what else the machine does makes no codec slow.
double seconds_worked() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Bytes, seconds and errors over all steps; keys and differences apart.
struct Sums {
  double bytes = 0, encode = 0, decode = 0;
  double key_bytes = 0, keys = 0, step_bytes = 0, steps = 0;
};

template <class Real>
Outcome<Trial> attempt(std::span<const std::span<const Real>> steps, const Settings& settings, Workspace& workspace) {
  const std::size_t count = steps.front().size();
  const double bytes = static_cast<double>(count * sizeof(Real));
  const bool in_time = settings.codec == Codec::difference;
  std::vector<std::byte> record(bound(count, sizeof(Real)));
  std::vector<Real> decoded(count);
  std::vector<std::int32_t> values[2] = {std::vector<std::int32_t>(count), std::vector<std::int32_t>(count)};
  Reference writer{.values = values[0]};
  Reference reader{.values = values[1]};

  Trial trial{.codec = settings.codec};
  Sums sums;
  // The first pass warms up what the first call allocates.
  for (std::size_t pass = 0; pass <= steps.size(); ++pass) {
    const std::size_t position = pass == 0 ? 0 : pass - 1;
    if (pass == 1) writer.forget(), reader.forget();
    const double start = seconds_worked();
    const Outcome<Encoded> encoded = encode(steps[position], settings, workspace, std::span(record), &writer);
    const double encode_time = seconds_worked() - start;
    if (!encoded) return tl::unexpected(encoded.error());
    const double middle = seconds_worked();
    const Outcome<void> back = decode(std::span<const std::byte>(record), workspace, std::span(decoded), &reader);
    const double decode_time = seconds_worked() - middle;
    if (!back) return tl::unexpected(back.error());
    if (pass == 0) continue;
    sums.encode += encode_time;
    sums.decode += decode_time;
    sums.bytes += bytes;
    (encoded->is_key ? sums.key_bytes : sums.step_bytes) += static_cast<double>(encoded->bytes);
    (encoded->is_key ? sums.keys : sums.steps) += 1;
    trial.error = std::max(trial.error, encoded->error);
    if (encoded->fallback != Fallback::none) trial.fallback = encoded->fallback;
  }
  const double key = sums.keys > 0 ? sums.key_bytes / sums.keys : 0;
  const double step = sums.steps > 0 ? sums.step_bytes / sums.steps : key;
  const double interval = std::max<double>(settings.key_interval, 1);
  trial.ratio = bytes / (in_time && sums.steps > 0 ? step + key / interval : key);
  if (settings.codec == Codec::raw) trial.ratio = 1;  // a store keeps raw fields without a header
  trial.encode_rate = sums.bytes / std::max(sums.encode, 1e-9);
  trial.decode_rate = sums.bytes / std::max(sums.decode, 1e-9);
  return trial;
}

}  // namespace

template <class Real>
Outcome<std::vector<Trial>> measure(std::span<const std::span<const Real>> steps, const Settings& settings,
                                    Workspace& workspace) {
  std::vector<Trial> trials;
  if (steps.empty() || steps.front().empty()) return trials;
  Settings part = settings;
  part.shape = sampled(settings.shape);
  const std::size_t count = part.shape.nx == 0 ? std::min(steps.front().size(), kSampleValues)
                                               : std::size_t{part.shape.nx} * part.shape.ny * part.shape.nz;
  std::vector<std::span<const Real>> samples;
  for (const std::span<const Real> step : steps) {
    if (step.size() != steps.front().size()) return tl::unexpected(Failure::other_count);
    if (step.size() < count) return tl::unexpected(Failure::bad_shape);
    samples.push_back(step.first(count));
  }
  for (const Codec codec : kCodecs) {
    const bool is_useful = is_built(codec) && (codec != Codec::difference || steps.size() > 1) &&
                           (codec != Codec::float32 || sizeof(Real) == sizeof(double));
    if (!is_useful) continue;
    part.codec = codec;
    const Outcome<Trial> trial = attempt(std::span<const std::span<const Real>>(samples), part, workspace);
    if (!trial) return tl::unexpected(trial.error());
    trials.push_back(*trial);
  }
  return trials;
}

std::size_t choose(std::span<const Trial> trials, const Rates& rates) {
  // Seconds per byte of the field, written and read once. Threads beside the solver work while others write or read, so
  // the slower of the two counts.
  const auto cost = [&](const Trial& trial) {
    const auto seconds = [&](double codec_rate, double medium_rate) {
      const double work = trial.codec == Codec::raw ? 0 : 1 / (codec_rate * std::max(rates.threads, 1e-9));
      const double transfer = medium_rate > 0 ? 1 / (trial.ratio * medium_rate) : 0;
      return std::max(work, transfer);
    };
    return seconds(trial.encode_rate, rates.write) + seconds(trial.decode_rate, rates.read);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    if (trials[i].fallback != Fallback::none) continue;
    const bool has_room = trials[i].ratio >= rates.needed_ratio;
    const bool best_has = trials[best].ratio >= rates.needed_ratio;
    const bool is_better = has_room != best_has ? has_room
                           : has_room           ? cost(trials[i]) < cost(trials[best])
                                                : trials[i].ratio > trials[best].ratio;
    if (is_better) best = i;
  }
  return best;
}

template Outcome<std::vector<Trial>> measure(std::span<const std::span<const double>>, const Settings&, Workspace&);
template Outcome<std::vector<Trial>> measure(std::span<const std::span<const float>>, const Settings&, Workspace&);

}  // namespace forebay::codec
