// Handles of the HDF5 library, closed at the end of their lives; and its errors.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "base/base.h"

namespace forebay::array_file {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t handle, Close closed_by) : handle_(handle), close_(closed_by) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (handle_ >= 0) close_(handle_);
  }
  hid_t get() const { return handle_; }
  explicit operator bool() const { return handle_ >= 0; }
  // For what may fail to reach the disk: true when it did not.
  bool close() { return close_(std::exchange(handle_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t handle_;
  Close close_;
};

// While it lives the library does not print its errors. The reason of the last one is noted as soon as it happens: the
// library forgets it at the next call, and handles that close on the way out call it.
class LibraryErrors {
 public:
  LibraryErrors();
  LibraryErrors(const LibraryErrors&) = delete;
  LibraryErrors& operator=(const LibraryErrors&) = delete;
  ~LibraryErrors() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

  tl::unexpected<Error> as_error(std::string_view what, const std::string& path, std::string_view advice = {}) const;

 private:
  std::string reason_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace forebay::array_file
