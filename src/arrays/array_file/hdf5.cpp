#include "arrays/array_file/hdf5.h"

namespace forebay::array_file {
namespace {

herr_t note_innermost(hid_t stack, void* reason) {
  const auto innermost = [](unsigned depth, const H5E_error2_t* each, void* text) -> herr_t {
    if (depth == 0 && each->desc != nullptr) *static_cast<std::string*>(text) = each->desc;
    return 0;
  };
  return H5Ewalk2(stack, H5E_WALK_UPWARD, innermost, reason);
}

}  // namespace

LibraryErrors::LibraryErrors() {
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, note_innermost, &reason_);
}

tl::unexpected<Error> LibraryErrors::as_error(std::string_view what, const std::string& path,
                                              std::string_view advice) const {
  auto failed = error(Code::failed, what, path, advice);
  if (!reason_.empty()) failed.value().path += " (HDF5: " + reason_ + ")";
  return failed;
}

}  // namespace forebay::array_file
