// Decodes encoded fields that were changed in any way: never a crash, a hang or memory without bound. The input says
// which valid record to start from and what to change; sealed again, its checks fit and the decoders get to see it.
#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "store/codec/codec.h"
#include "store/codec/header.h"

namespace {

using namespace forebay::codec;

constexpr std::size_t kCount = 300;
constexpr std::array kCodecs{Codec::raw, Codec::float32, Codec::truncation, Codec::zfp, Codec::difference};
using Bytes = std::vector<std::byte>;

// Records of every codec, those of differences at two steps that follow each other.
template <class Real>
std::vector<Bytes> records_of() {
  std::vector<Bytes> records;
  Workspace workspace;
  for (const Codec codec : kCodecs) {
    std::vector<std::int32_t> values(kCount);
    Reference reference{.values = values};
    for (int step = 0; step < 2; ++step) {
      std::vector<Real> field(kCount);
      for (std::size_t i = 0; i < kCount; ++i)
        field[i] = static_cast<Real>(std::sin(0.05 * static_cast<double>(i) + step));
      Bytes record(bound(kCount, sizeof(Real)));
      const Settings settings{.codec = codec, .accepted = 1e-4};
      const auto encoded = encode<Real>(field, settings, workspace, record, &reference);
      if (!encoded) std::abort();
      record.resize(encoded->bytes);
      records.push_back(std::move(record));
    }
  }
  return records;
}

void change(FuzzedDataProvider& input, Bytes& record) {
  if (input.ConsumeBool()) record.resize(input.ConsumeIntegralInRange<std::size_t>(0, 2 * record.size()));
  while (input.remaining_bytes() > 0 && !record.empty()) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, record.size() - 1);
    const std::string with = input.ConsumeRandomLengthString(16);
    std::memcpy(record.data() + at, with.data(), std::min(with.size(), record.size() - at));
  }
}

// Gives a changed record the checks that fit it.
void seal_again(Bytes& record) {
  if (record.size() < sizeof(Header)) return;
  Header header;
  std::memcpy(&header, record.data(), sizeof(header));
  const Bytes payload(record.begin() + sizeof(Header), record.end());
  seal(header, payload, record);
}

template <class Real>
void decode_changed(FuzzedDataProvider& input) {
  static const std::vector<Bytes> records = records_of<Real>();
  Bytes record = records[input.ConsumeIntegralInRange<std::size_t>(0, records.size() - 1)];
  const bool sealed = input.ConsumeBool();
  const bool referenced = input.ConsumeBool();
  const bool fits = input.ConsumeBool();
  const std::size_t count = fits ? kCount : input.ConsumeIntegralInRange<std::size_t>(0, 2 * kCount);
  change(input, record);
  if (sealed) seal_again(record);

  Workspace workspace;
  std::vector<Real> field(count);
  std::vector<std::int32_t> values(count);
  Reference reference{.values = values};
  (void)inspect(record);
  // A difference that stands on what the reader holds.
  Header header;
  if (referenced && record.size() >= sizeof(header)) {
    std::memcpy(&header, record.data(), sizeof(header));
    reference.grid = header.parameter;
    reference.label = header.before;
  }
  const auto decoded = decode<Real>(record, workspace, field, &reference);
  if (decoded) (void)undo<Real>(record, workspace, field, reference);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider input(bytes, size);
  if (input.ConsumeBool()) {
    decode_changed<double>(input);
  } else {
    decode_changed<float>(input);
  }
  return 0;
}
