#include "run/drain/figures.h"

#include <algorithm>

namespace forebay::drain {

Amounts& Amounts::operator+=(const Amounts& more) {
  written += more.written;
  written_is_more = written_is_more || more.written_is_more;
  unseen_times += more.unseen_times;
  shared.files += more.shared.files;
  shared.again += more.shared.again;
  shared.bytes += more.shared.bytes;
  undrained += more.undrained;
  never_shared += more.never_shared;
  read_back += more.read_back;
  lag_seconds = std::max(lag_seconds, more.lag_seconds);
  return *this;
}

Amounts Figures::amounts() const {
  Amounts all = told_;
  all.lag_seconds = times_.longest_lag();
  all.written = there_.value_or(Amount{all.shared.files, all.shared.bytes});
  if (there_) all.written += gone_;
  if (!there_ || !counts_twice_)
    all.written = {std::max(all.written.files, closed_.files), std::max(all.written.bytes, closed_.bytes)};
  all.written_is_more =
      !there_ || missed_ || all.unseen_times > 0 || unknown_is_gone_ || closed_.files > there_->files + gone_.files;
  return all;
}

}  // namespace forebay::drain
