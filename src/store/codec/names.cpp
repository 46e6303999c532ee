#include "store/codec/codec.h"
#include "store/codec/methods.h"

namespace forebay::codec {

std::string_view text(Failure failure) {
  switch (failure) {
    case Failure::bad_tolerance:
      return "the accepted error is not a number from 0 to below 1";
    case Failure::bad_shape:
      return "the shape does not have as many values as the field";
    case Failure::bad_codec:
      return "there is no such codec";
    case Failure::small_buffer:
      return "the buffer is smaller than the largest encoded field can be";
    case Failure::no_memory:
      return "there is no memory to encode or decode with";
    case Failure::not_encoded:
      return "this is not an encoded field";
    case Failure::other_version:
      return "the field was encoded by a later version of forebay";
    case Failure::damaged:
      return "the encoded field is damaged";
    case Failure::other_count:
      return "the encoded field has another number of values";
    case Failure::other_type:
      return "the encoded field has another type of values";
    case Failure::not_built:
      return "this build of forebay lacks the library of this codec";
    case Failure::needs_reference:
      return "the encoded field is a difference, and no reference of its size was given";
    case Failure::reference_unfit:
      return "the encoded field is a difference to another step than the one at hand";
    case Failure::chain_starts_here:
      return "the encoded field does not lead to the step before it";
  }
  return "unknown failure";
}

std::string_view name(Codec codec) {
  switch (codec) {
    case Codec::raw:
      return "raw";
    case Codec::float32:
      return "float32";
    case Codec::truncation:
      return "truncation";
    case Codec::zfp:
      return "zfp";
    case Codec::difference:
      return "difference";
  }
  return "unknown";
}

bool is_built(Codec codec) {
  return codec != Codec::zfp || has_zfp();
}

std::string_view text(Fallback why) {
  switch (why) {
    case Fallback::none:
      return "";
    case Fallback::not_finite:
      return "the field holds NaN or Inf";
    case Fallback::error:
      return "the codec cannot reach the accepted error";
    case Fallback::no_gain:
      return "the field would not become smaller";
    case Fallback::not_built:
      return "this build lacks the library";
    case Fallback::nothing:
      return "the accepted error is 0";
  }
  return "unknown";
}

}  // namespace forebay::codec
