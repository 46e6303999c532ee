#include "store/trajectory/encoder.h"

#include <sched.h>

#include <algorithm>

namespace forebay::trajectory {
namespace {

constexpr unsigned kMostThreads = 8;

// One for each field, of the cores that the solver's own thread leaves.
unsigned threads_for(const std::vector<Field>& fields, std::optional<int> wanted) {
  if (wanted) return static_cast<unsigned>(*wanted);
  const auto lanes = std::count_if(fields.begin(), fields.end(), [](const Field& field) { return field.encoded(); });
  cpu_set_t cores;
  const int count = ::sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 2;
  const auto spare = static_cast<unsigned>(std::max(count - 1, 1));
  return std::min({spare, static_cast<unsigned>(lanes), kMostThreads});
}

}  // namespace

Encoder::Encoder(const std::vector<Field>& fields, std::optional<int> threads)
    : fields_(fields), infos_(fields.size()), lanes_(fields.size(), threads_for(fields, threads)) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    infos_[i] = nothing_stored(field);
    raw_bytes_ = field.offset + segment::round_to_lines(field.bytes);
    if (!field.encoded()) continue;
    encoders_.push_back({i, encoded_bytes_, std::make_unique<FieldEncoder>(field)});
    encoded_bytes_ += segment::round_to_lines(field.bound());
  }
  oldest_.parts.resize(fields.size());
}

Outcome<std::byte*> Encoder::stage() {
  if (!open_ && !free_.empty()) {
    open_ = std::move(free_.back());
    free_.pop_back();
  }
  if (!open_) {
    auto state = std::make_unique<State>();
    auto raw = memory_beside_tiers(raw_bytes_);
    if (!raw) return pass_on(raw);
    auto encoded = memory_beside_tiers(encoded_bytes_);
    if (!encoded) return pass_on(encoded);
    state->raw = std::move(*raw);
    state->encoded = std::move(*encoded);
    state->results.resize(encoders_.size());
    open_ = std::move(state);
  }
  return open_->raw.bytes.data();
}

void Encoder::accept(std::int64_t step, double time) {
  open_->step = step;
  open_->time = time;
  pending_.push_back(std::move(open_));
  post(*pending_.back());
}

std::span<std::byte> Encoder::room_for(const State& state, const Lane& lane) const {
  return state.encoded.bytes.subspan(lane.offset, fields_[lane.field].bound());
}

void Encoder::post(State& state) {
  state.left = encoders_.size();
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    lanes_.post(i, [this, &state, i] {
      Lane& lane = encoders_[i];
      state.results[i] =
          lane.encoder->encode(state.raw.bytes.data() + fields_[lane.field].offset, room_for(state, lane));
      --state.left;
    });
  }
}

Outcome<const Encoder::Encoded*> Encoder::oldest(bool wait) {
  if (pending_.empty()) return nullptr;
  State& state = *pending_.front();
  if (wait) lanes_.wait_until([&] { return state.left == 0; });
  if (state.left != 0) return nullptr;
  oldest_.step = state.step;
  oldest_.time = state.time;
  oldest_.alone = true;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    oldest_.parts[i] = state.raw.bytes.subspan(fields_[i].offset, fields_[i].bytes);
  }
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    const Lane& lane = encoders_[i];
    const auto& result = state.results[i];
    if (!result) return tl::unexpected(failure_of(result.error(), fields_[lane.field]));
    oldest_.parts[lane.field] = room_for(state, lane).first(result->bytes);
    oldest_.alone = oldest_.alone && result->is_key;
  }
  oldest_.payload_bytes = 0;
  for (const auto& part : oldest_.parts) oldest_.payload_bytes += segment::round_to_lines(part.size());
  return &oldest_;
}

void Encoder::count(const State& state) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    infos_[i].states += 1;
    infos_[i].raw_bytes += fields_[i].bytes;
    infos_[i].stored_bytes += oldest_.parts[i].size();
  }
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    const codec::Encoded& result = *state.results[i];
    forebay_encoding_info& info = infos_[encoders_[i].field];
    info.codec = static_cast<forebay_codec>(result.codec);
    info.achieved_error = std::max(info.achieved_error, result.error);
    if (result.fallback == codec::Fallback::none) continue;
    info.fallbacks += 1;
    info.fallback_reason = codec::text(result.fallback).data();
  }
}

void Encoder::pop() {
  count(*pending_.front());
  free_.push_back(std::move(pending_.front()));
  pending_.pop_front();
}

void Encoder::start_again() {
  lanes_.clear();
  forget();
  for (const auto& state : pending_) post(*state);
}

void Encoder::forget() {
  for (const Lane& lane : encoders_) lane.encoder->forget();
}

void Encoder::clear() {
  lanes_.clear();
  forget();
  for (auto& state : pending_) free_.push_back(std::move(state));
  pending_.clear();
}

}  // namespace forebay::trajectory
