#include <cstring>

#include "store/codec/methods.h"

namespace forebay::codec {

Made encode_float32(const Job<double>& job, Header& header) {
  std::byte* to = job.payload.data();
  Squares errors(job.norm.scale);
  errors.add(job.field.size(), [&](std::size_t i) {
    const float rounded = static_cast<float>(job.field[i]);
    std::memcpy(to + i * sizeof(float), &rounded, sizeof(float));
    return job.field[i] - static_cast<double>(rounded);
  });
  header.error = relative(errors, job.norm);
  return job.field.size() * sizeof(float);
}

void decode_float32(const Record& record, std::span<double> field) {
  for (std::size_t i = 0; i < field.size(); ++i) {
    float value;
    std::memcpy(&value, &record.payload[i * sizeof(float)], sizeof(float));
    field[i] = static_cast<double>(value);
  }
}

}  // namespace forebay::codec
