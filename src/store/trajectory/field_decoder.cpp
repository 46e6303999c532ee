#include "store/trajectory/field_decoder.h"

namespace forebay::trajectory {
namespace {

// Codecs let a chain run over 32 steps; a reader that goes back further follows damage.
constexpr std::size_t kLongestChain = 1024;

}  // namespace

Done FieldDecoder::decode(std::span<const std::byte> segment, std::uint32_t record, std::span<std::byte> out) {
  const auto wanted = EncodedRecord::at(segment, record);
  if (!wanted) return pass_on(wanted);
  const Field& field = fields_[number_];
  return with_number(field, [&]<class Real>(Real) {
    return decode_numbers(segment, *wanted, std::span(reinterpret_cast<Real*>(out.data()), field.numbers()));
  });
}

// From the record behind it, whose numbers are at hand.
template <class Real>
bool FieldDecoder::take_back(std::span<const std::byte> segment, const EncodedRecord& record, std::span<Real> out) {
  if (generation_ != record.generation() || record_ != record.number() + 1) return false;
  const auto behind = EncodedRecord::at(segment, record_);
  if (!behind) return false;
  const auto part = behind->part(fields_, number_);
  return part && codec::undo(*part, workspace_, out, reference_);
}

template <class Real>
Done FieldDecoder::decode_numbers(std::span<const std::byte> segment, const EncodedRecord& wanted,
                                  std::span<Real> out) {
  // The records that must be read before the wanted one, the first one last.
  std::vector<EncodedRecord> chain{wanted};
  bool turned = false;
  while (!chain.empty()) {
    const EncodedRecord& record = chain.back();
    const auto part = record.part(fields_, number_);
    if (!part) return pass_on(part);
    const auto about = codec::inspect(*part);
    if (!about) return tl::unexpected(failure_of(about.error(), fields_[number_]));
    const bool is_difference = about->codec == codec::Codec::difference;
    if (is_difference && numbers_.empty()) {
      numbers_.resize(out.size());
      reference_.values = numbers_;
    }
    const bool back = is_difference && !turned && chain.size() == 1 && take_back(segment, record, out);
    const auto decoded = back ? codec::Outcome<void>() : codec::decode(*part, workspace_, out, &reference_);
    if (decoded) {
      if (is_difference) {
        generation_ = record.generation();
        record_ = record.number();
      }
      chain.pop_back();
      turned = true;
      continue;
    }
    // Labels tell whether the numbers at hand are those of the step before (codec.h).
    const bool far_enough = turned || record.number() == 0 || chain.size() == kLongestChain;
    if (decoded.error() != codec::Failure::reference_unfit || far_enough) {
      return tl::unexpected(failure_of(decoded.error(), fields_[number_]));
    }
    auto before = EncodedRecord::at(segment, record.number() - 1);
    if (!before) return pass_on(before);
    chain.push_back(*before);
  }
  return {};
}

}  // namespace forebay::trajectory
