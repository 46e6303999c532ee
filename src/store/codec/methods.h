// One function each way for every codec. All of them promise: the field is finite and not empty, `payload` has room for
// the field as it is, and an answer that is not smaller is of no use.
#pragma once

#include <cstddef>
#include <span>

#include "store/codec/codec.h"
#include "store/codec/header.h"
#include "store/codec/norm.h"
#include "store/codec/parts.h"

namespace forebay::codec {

template <class Real>
struct Job {
  std::span<const Real> field;
  const Settings& settings;
  const Norm& norm;
  Workspace::Parts& parts;
  std::span<std::byte> payload;
};

// Bytes of payload, or why there are none; fills what is the codec's own in the header.
using Made = tl::expected<std::size_t, Fallback>;

Made encode_float32(const Job<double>& job, Header& header);
void decode_float32(const Record& record, std::span<double> field);

template <class Real>
Made encode_truncation(const Job<Real>& job, Header& header);
template <class Real>
Outcome<void> decode_truncation(const Record& record, Workspace::Parts& parts, std::span<Real> field);

bool has_zfp();
template <class Real>
Made encode_zfp(const Job<Real>& job, Header& header);
template <class Real>
Outcome<void> decode_zfp(const Record& record, Workspace::Parts& parts, std::span<Real> field);

template <class Real>
Made encode_difference(const Job<Real>& job, Header& header, Reference& reference);
template <class Real>
Outcome<void> decode_difference(const Record& record, Workspace::Parts& parts, std::span<Real> field,
                                Reference& reference);
template <class Real>
Outcome<void> undo_difference(const Record& record, Workspace::Parts& parts, std::span<Real> field,
                              Reference& reference);

}  // namespace forebay::codec
