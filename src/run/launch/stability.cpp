#include "run/launch/stability.h"

#include <algorithm>
#include <cmath>

namespace forebay::launch {
namespace {

// The width of a bucket of the quantiles: a value in it is at most 1 % from its middle.
const double bucket = std::log(1.02);
constexpr double least = 1e-6;  // seconds; what is shorter counts as this

void append(Span& to, const Span& next) {
  to.end = next.end;
  to.held += next.held;
  to.busy += next.busy;
  to.written_bytes += next.written_bytes;
  to.carried_bytes += next.carried_bytes;
  to.fill = std::max(to.fill, next.fill);
  if (next.steps == 0) return;
  to.shortest = to.steps == 0 ? next.shortest : std::min(to.shortest, next.shortest);
  to.longest = std::max(to.longest, next.longest);
  to.steps += next.steps;
  to.steps_together += next.steps_together;
  to.steps_seconds += next.steps_seconds;
}

}  // namespace

void Spans::add(const Span& next) {
  if (!spans_.empty() && spans_.back().seconds() < width_) return append(spans_.back(), next);
  spans_.push_back(next);
  if (spans_.size() <= most) return;
  std::vector<Span> wider;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (i % 2 == 0) {
      wider.push_back(spans_[i]);
    } else {
      append(wider.back(), spans_[i]);
    }
  }
  spans_ = std::move(wider);
  // Else samples that come rarely would leave the beginning ever coarser, and the end fine.
  width_ = std::max(2 * width_, 2 * (spans_.back().end - spans_.front().begin) / most);
}

void Spans::add_step(double end, double seconds, bool together) {
  auto at = std::find_if(spans_.rbegin(), spans_.rend(), [&](const Span& span) { return span.begin < end; });
  if (at == spans_.rend() && at != spans_.rbegin()) --at;
  if (at != spans_.rend())
    append(*at, {at->end, at->end, 0, 0, 0, 0, 0, 1, seconds, seconds, seconds, together ? 1U : 0U});
}

void Spans::forget_before(double moment) {
  std::erase_if(spans_, [&](const Span& span) { return span.end <= moment; });
  width_ = least_width;
}

Span Spans::between(double begin, double end) const {
  Span found{begin, end};
  for (const Span& span : spans_) {
    const double seconds = std::min(span.end, end) - std::max(span.begin, begin);
    if (seconds <= 0) continue;
    const double share = seconds / span.seconds();
    found.held += span.held * share;
    found.busy += span.busy * share;
    found.written_bytes += static_cast<std::uint64_t>(static_cast<double>(span.written_bytes) * share);
    found.carried_bytes += static_cast<std::uint64_t>(static_cast<double>(span.carried_bytes) * share);
    found.fill = std::max(found.fill, span.fill);
  }
  return found;
}

void Quantiles::add(double value) {
  ++counts_[static_cast<int>(std::floor(std::log(std::max(value, least) / least) / bucket))];
  ++all_;
}

double Quantiles::at(double part) const {
  const auto wanted = std::ceil(part * static_cast<double>(all_));
  double seen = 0;
  for (const auto& [logarithm, count] : counts_)
    if ((seen += static_cast<double>(count)) >= wanted) return least * std::exp((logarithm + 0.5) * bucket);
  return 0;
}

void Stability::sample(double now, const Totals& totals, double fill, bool busy) {
  const double before = course_.all().empty() ? 0 : course_.all().back().end;
  if (now <= before) return;
  Span span{before, now, totals.held - last_.held, busy ? now - before : 0};
  // At the end it is counted anew, and may turn out to be less than was seen.
  span.written_bytes = totals.written_bytes - std::min(totals.written_bytes, last_.written_bytes);
  span.carried_bytes = totals.carried_bytes - last_.carried_bytes;
  span.fill = fill;
  last_ = totals;
  course_.add(span);
  since_last_begun_.add(span);
}

void Stability::begun(const std::string& time, double when, bool together) {
  if (last_begun_ >= 0) {
    const double seconds = when - last_begun_;
    ++report_.steps;
    if (together) ++report_.steps_together;
    report_.mean += (seconds - report_.mean) / static_cast<double>(report_.steps);
    report_.shortest = report_.steps == 1 ? seconds : std::min(report_.shortest, seconds);
    report_.longest = std::max(report_.longest, seconds);
    quantiles_.add(seconds);
    course_.add_step(when, seconds, together);
    auto& worst = report_.worst;
    const auto place =
        std::find_if(worst.begin(), worst.end(), [&](const auto& each) { return each.span.seconds() < seconds; });
    if (place != worst.end() || worst.size() < worst_told) {
      Span span = since_last_begun_.between(last_begun_, when);
      span.steps_together = together ? 1 : 0;
      worst.insert(place, {time, span});
    }
    if (worst.size() > worst_told) worst.pop_back();
  }
  last_begun_ = when;
  since_last_begun_.forget_before(when);
}

const StabilityReport& Stability::report() {
  const auto within = [&](double part) { return std::clamp(quantiles_.at(part), report_.shortest, report_.longest); };
  report_.median = within(0.5);
  report_.p90 = within(0.9);
  report_.p99 = within(0.99);
  report_.course = course_.all();
  return report_;
}

void Steadiness::sample(double now, const Totals& totals, double fill, bool busy) {
  without_times_.sample(now, totals, fill, busy);
  for (OfProgram& each : programs_) each.stability.sample(now, totals, fill, busy);
}

void Steadiness::begun(const std::optional<TimeWriters::Writer>& writer, const drain::Timeline::Begun& begun) {
  const bool in_ranks = begun.ranks > 0;
  in_ranks_ = in_ranks_ || in_ranks;
  OfProgram* own = nullptr;
  for (OfProgram& each : programs_) {
    if ((each.ranks > 0) != in_ranks) continue;
    if (writer && each.name == writer->name) {
      if (each.began != writer->began) each.stability.interrupt();
      each.began = writer->began;
      own = &each;
    } else {
      each.stability.interrupt();
    }
  }
  if (!writer) return;
  if (own == nullptr) {
    if (programs_.size() == most_programs)
      programs_.erase(std::ranges::min_element(programs_, {}, [](const auto& each) { return each.stability.steps(); }));
    own = &programs_.emplace_back(OfProgram{writer->name, writer->began, 0, 0, without_times_});
  }
  own->ranks = std::max<std::uint64_t>(own->ranks, begun.ranks);
  own->processes = writer->processes;
  own->stability.begun(begun.time, begun.when, begun.together);
}

const Steadiness::OfProgram* Steadiness::most() const {
  const OfProgram* most = nullptr;
  for (const OfProgram& each : programs_) {
    // One process that writes for several ranks is no solver (decomposePar -allTimes).
    const bool fits = in_ranks_ ? each.ranks == each.processes : each.ranks == 0;
    if (fits && each.stability.steps() > (most == nullptr ? 0 : most->stability.steps())) most = &each;
  }
  return most;
}

StabilityReport Steadiness::pace() const {
  StabilityReport pace;
  if (const OfProgram* told = most()) {
    pace.program = told->name;
    pace.steps = told->stability.steps();
    pace.mean = told->stability.mean();
  }
  return pace;
}

StabilityReport Steadiness::report() const {
  const OfProgram* told = most();
  Stability copy = told == nullptr ? without_times_ : told->stability;
  StabilityReport report = copy.report();
  if (told == nullptr) return report;
  report.program = told->name;
  report.ranks = told->ranks;
  return report;
}

}  // namespace forebay::launch
