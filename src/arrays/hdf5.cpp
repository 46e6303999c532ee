#include "arrays/hdf5.h"

namespace forebay::arrays {

tl::unexpected<Error> hdf5_error(std::string_view what, const std::string& path, std::string_view advice) {
  std::string reason;
  const auto innermost = [](unsigned, const H5E_error2_t* each, void* reason_out) -> herr_t {
    auto& text = *static_cast<std::string*>(reason_out);
    if (text.empty() && each->desc != nullptr) text = each->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &reason);
  auto failed = error(Code::failed, what, path, advice);
  if (!reason.empty()) failed.value().path += " (HDF5: " + reason + ")";
  return failed;
}

}  // namespace forebay::arrays
