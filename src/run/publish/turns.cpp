#include "run/publish/turns.h"

namespace forebay::drain {

void Turns::join(const Place& place) {
  if (place.line == Line::times) times_.insert(place.turn);
  if (place.line == Line::files) files_.insert(place.turn);
}

void Turns::leave(const Place& place) {
  times_.erase(place.turn);
  files_.erase(place.turn);
}

bool Turns::is_next(const Place& place) const {
  const auto is_first = [&](const std::set<std::uint64_t>& line) {
    return line.empty() || *line.begin() >= place.turn;
  };
  if (!times_.contains(place.turn) && !files_.contains(place.turn)) return true;
  return is_first(times_) && (place.line == Line::times || is_first(files_));
}

}  // namespace forebay::drain
