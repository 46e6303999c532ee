#include "run/launch/standstill.h"

#include <fmt/format.h>

#include "base/base.h"

namespace forebay::launch {

std::string to_text(const Standstill& standstill) {
  std::string text = standstill.let_go
                         ? "the program goes on with a full pool, since nothing has made room for too long"
                         : "the program waits for room in its pool";
  text += fmt::format(": {} holds {}", printable(standstill.pool), human_bytes(standstill.held_bytes));
  text += standstill.limit < standstill.budget
              ? fmt::format(", and others leave it {} of its budget of {}", human_bytes(standstill.limit),
                            human_bytes(standstill.budget))
              : fmt::format(" of {}", human_bytes(standstill.budget));
  if (standstill.units == 0) {
    text += "; nothing in it can be carried to the case yet";
  } else {
    text += "; " + plural(standstill.units, "entry") + (standstill.units == 1 ? " is" : " are");
    text += " to be carried to the case";
  }
  if (!standstill.failure.empty()) text += "; the last attempt failed: " + printable(standstill.failure);
  return text;
}

}  // namespace forebay::launch
