// The C interface of forebay/status.h and forebay/version.h.
#include "forebay/status.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "api/report.h"
#include "forebay/version.h"

namespace {

thread_local std::string last_error;

}  // namespace

namespace forebay::api {

int report(const Failure& failure) noexcept {
  return forebay_error_set(failure.status, failure.text.c_str());
}

int missing(const char* what) noexcept {
  return run([&]() -> Done { return fail(FOREBAY_E_INVALID, "the {} is missing (NULL)", what); });
}

std::size_t copy_text(std::string_view text, char* buffer, std::size_t bytes) noexcept {
  if (buffer == nullptr || bytes == 0) return text.size();
  const std::size_t fits = std::min(text.size(), bytes - 1);
  std::memcpy(buffer, text.data(), fits);
  buffer[fits] = '\0';
  return text.size();
}

}  // namespace forebay::api

extern "C" {

const char* forebay_version(void) {
  return FOREBAY_VERSION_TEXT;
}

const char* forebay_error_get_text(void) {
  return last_error.c_str();
}

size_t forebay_error_copy_text(char* buffer, size_t bytes) {
  return forebay::api::copy_text(last_error, buffer, bytes);
}

int forebay_error_set(forebay_status status, const char* text) {
  try {
    last_error = text == nullptr ? "" : text;
  } catch (...) {
    last_error.clear();
  }
  return status;
}

const char* forebay_status_get_name(int status) {
  switch (static_cast<forebay_status>(status)) {
#define FOREBAY_NAME(name) \
  case name:               \
    return #name
    FOREBAY_NAME(FOREBAY_OK);
    FOREBAY_NAME(FOREBAY_E_INVALID);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_STEP);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_FIELD);
    FOREBAY_NAME(FOREBAY_E_STEP_OPEN);
    FOREBAY_NAME(FOREBAY_E_NO_OPEN_STEP);
    FOREBAY_NAME(FOREBAY_E_STEP_EXISTS);
    FOREBAY_NAME(FOREBAY_E_FIELD_CHANGED);
    FOREBAY_NAME(FOREBAY_E_FIELDS_FIXED);
    FOREBAY_NAME(FOREBAY_E_NOT_PINNED);
    FOREBAY_NAME(FOREBAY_E_PINNED);
    FOREBAY_NAME(FOREBAY_E_OUTSIDE);
    FOREBAY_NAME(FOREBAY_E_CLOSED_OPEN);
    FOREBAY_NAME(FOREBAY_E_TOLERANCE);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_TIER);
    FOREBAY_NAME(FOREBAY_E_FORKED);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_STORE);
    FOREBAY_NAME(FOREBAY_E_STORE_EXISTS);
    FOREBAY_NAME(FOREBAY_E_NO_SPACE);
    FOREBAY_NAME(FOREBAY_E_NO_MEMORY);
    FOREBAY_NAME(FOREBAY_E_BUSY);
    FOREBAY_NAME(FOREBAY_E_READ_ONLY);
    FOREBAY_NAME(FOREBAY_E_IO);
    FOREBAY_NAME(FOREBAY_E_STAGED);
    FOREBAY_NAME(FOREBAY_E_NO_SUCH_FILE);
    FOREBAY_NAME(FOREBAY_E_DENIED);
    FOREBAY_NAME(FOREBAY_E_VERSION);
    FOREBAY_NAME(FOREBAY_E_DAMAGED);
#undef FOREBAY_NAME
  }
  return "unknown status";
}

}  // extern "C"
