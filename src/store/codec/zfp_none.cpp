// Where zfp is not installed: fields are stored raw instead, and records that it made are not read.
#include "store/codec/methods.h"

namespace forebay::codec {

struct ZfpStream {};
void ZfpStreamEnd::operator()(ZfpStream* stream) const {
  delete stream;
}

template <class Real>
Made encode_zfp(const Job<Real>&, Header&) {
  return tl::unexpected(Fallback::not_built);
}

template <class Real>
Outcome<void> decode_zfp(const Record&, Workspace::Parts&, std::span<Real>) {
  return tl::unexpected(Failure::not_built);
}

bool has_zfp() {
  return false;
}

template Made encode_zfp(const Job<double>&, Header&);
template Made encode_zfp(const Job<float>&, Header&);
template Outcome<void> decode_zfp(const Record&, Workspace::Parts&, std::span<double>);
template Outcome<void> decode_zfp(const Record&, Workspace::Parts&, std::span<float>);

}  // namespace forebay::codec
