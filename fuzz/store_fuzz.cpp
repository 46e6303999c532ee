// Opens stores that were changed in any way and uses what opens: never a crash, a hang or memory without bound. The
// input is a list of changes to the files of a whole store of two tiers. Changed headers can be sealed again, so that
// their checks fit and what stands behind the checks is reached, too.
#include <fuzzer/FuzzedDataProvider.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/base.h"
#include "forebay/trajectory.h"
#include "store/kept/kept.h"
#include "store/segment/format.h"

namespace {

using forebay::segment::RecordHeader;
using forebay::segment::RecordState;
using forebay::segment::SegmentHeader;

constexpr std::uint64_t kSegment = 8192;
constexpr std::uint64_t kValues = 100;
constexpr std::int64_t kSteps = 40;
constexpr std::uint64_t kLongest = std::uint64_t{1} << 40;  // of a file that was made longer

void must(bool holds) {
  if (!holds) std::abort();
}

std::string slurp(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// "v" is encoded.
bool declare_fields(forebay_trajectory* t) {
  return forebay_trajectory_declare(t, "u", FOREBAY_FLOAT64, kValues, nullptr) == FOREBAY_OK &&
         forebay_trajectory_declare(t, "v", FOREBAY_FLOAT64, kValues, nullptr) == FOREBAY_OK;
}

int put(forebay_trajectory* t, std::int64_t step) {
  std::vector<double> state(kValues);
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] = std::sin(0.1 * static_cast<double>(i) + 0.01 * static_cast<double>(step));
  }
  const void* const memory[] = {state.data(), state.data()};
  return forebay_trajectory_put(t, step, 0.1 * static_cast<double>(step), memory, 2);
}

struct File {
  std::string path;
  std::string whole;
};

// The store that is changed: its options, and its files as they were.
class Store {
 public:
  Store() {
    must(::mkdtemp(place_.data()) != nullptr);
    options_ = forebay_options_create();
    forebay_options_add_pool(options_, (place_ + "/first").c_str(), 4 * kSegment);
    forebay_options_add_shared(options_, (place_ + "/second").c_str(), 20 * kSegment);
    forebay_options_set_integer(options_, "segment-bytes", kSegment);
    for (const auto& [key, value] : {std::pair("keep", "on"), {"checksum", "on"}, {"survives", "process"}}) {
      must(forebay_options_set(options_, key, value) == FOREBAY_OK);
    }
    forebay_trajectory* t = nullptr;
    must(forebay_trajectory_open(options_, &t) == FOREBAY_OK);
    must(declare_fields(t));
    must(forebay_trajectory_set_accepted_error(t, 1, 1e-4) == FOREBAY_OK);
    must(forebay_trajectory_set_codec(t, 1, FOREBAY_CODEC_DIFFERENCE) == FOREBAY_OK);
    for (std::int64_t step = 0; step < kSteps; ++step) must(put(t, step) == FOREBAY_OK);
    must(forebay_trajectory_close(t) == FOREBAY_OK);
    for (const char* name : {"/first/trajectory-0/store", "/first/trajectory-0/segments", "/second/trajectory-0/store",
                             "/second/trajectory-0/segments"}) {
      files_.push_back({place_ + name, slurp(place_ + name)});
    }
    auto head = forebay::segment::decode_head(files_[0].whole, files_[0].path);
    must(head.has_value());
    head_ = *head;
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() {
    forebay_options_free(options_);
    (void)forebay::remove_tree(place_);
  }

  const std::string& place() const { return place_; }
  const forebay_options* options() const { return options_; }
  const std::vector<File>& files() const { return files_; }
  const forebay::segment::DecodedHead& head() const { return head_; }

 private:
  std::string place_ = "/dev/shm/forebay-fuzz-XXXXXX";
  forebay_options* options_ = nullptr;
  std::vector<File> files_;
  forebay::segment::DecodedHead head_;
};

// A structure of a file, given to `change`, where the file is long enough for it.
template <class Header, class Change>
void change_line(FuzzedDataProvider& input, std::string& bytes, Change change) {
  const std::size_t lines = bytes.size() / forebay::segment::kLine;
  if (lines == 0) return;
  char* const at = bytes.data() + input.ConsumeIntegralInRange<std::size_t>(0, lines - 1) * forebay::segment::kLine;
  Header header;
  std::memcpy(&header, at, sizeof(header));
  change(header);
  std::memcpy(at, &header, sizeof(header));
}

template <class Number>
void maybe(FuzzedDataProvider& input, Number& number) {
  if (!input.ConsumeBool()) return;
  if constexpr (std::is_floating_point_v<Number>) {
    number = input.ConsumeFloatingPoint<Number>();
  } else {
    const auto near = static_cast<std::uint64_t>(number) + input.ConsumeIntegralInRange<std::uint64_t>(0, 4) - 2;
    number = input.ConsumeBool() ? input.ConsumeIntegral<Number>() : static_cast<Number>(near);
  }
}

void overwrite(FuzzedDataProvider& input, std::string& bytes) {
  const auto at = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size());
  const std::string with = input.ConsumeRandomLengthString(128);
  with.copy(bytes.data() + at, bytes.size() - at);
}

void change_record(FuzzedDataProvider& input, std::string& bytes, std::uint64_t store) {
  change_line<RecordHeader>(input, bytes, [&](RecordHeader& header) {
    maybe(input, header.generation);
    maybe(input, header.step);
    maybe(input, header.time);
    maybe(input, header.payload_bytes);
    maybe(input, header.payload_check);
    maybe(input, header.record);
    maybe(input, header.payload);
    seal_header(header, store, input.ConsumeBool() ? RecordState::live : RecordState::dropped);
  });
}

void change_segment(FuzzedDataProvider& input, std::string& bytes, std::uint64_t store) {
  change_line<SegmentHeader>(input, bytes, [&](SegmentHeader& header) {
    maybe(input, header.generation);
    maybe(input, header.serial);
    maybe(input, header.epoch);
    maybe(input, header.payloads);
    maybe(input, header.records);
    seal_header(header, store);
  });
}

std::string changed_head(FuzzedDataProvider& input, forebay::segment::DecodedHead decoded) {
  auto& head = decoded.head;
  maybe(input, head.store);
  maybe(input, head.segment_bytes);
  maybe(input, head.ranks);
  maybe(input, head.tier);
  maybe(input, head.tiers);
  maybe(input, decoded.epoch);
  head.fields.resize(input.ConsumeIntegralInRange<std::size_t>(0, 4), head.fields.front());
  for (auto& field : head.fields) {
    maybe(input, field.type);
    maybe(input, field.count);
    maybe(input, field.accepted);
    if (input.ConsumeBool()) field.name = input.ConsumeRandomLengthString(forebay::segment::kFieldName);
  }
  auto ledger = decoded.ledger.value_or(forebay::segment::Ledger{});
  maybe(input, ledger.epoch);
  for (auto& tier : ledger.tiers) {
    maybe(input, tier.life);
    maybe(input, tier.slots);
    maybe(input, tier.steps);
  }
  return encode_head(head, decoded.epoch, ledger);
}

void write_changed(FuzzedDataProvider& input, const Store& store) {
  std::array<std::string, 4> content;
  std::array<std::uint64_t, 4> lengths{};
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = store.files()[i].whole;
    lengths[i] = content[i].size();
  }
  for (int change = 0; change < 64 && input.remaining_bytes() > 0; ++change) {
    const auto which = input.ConsumeIntegralInRange<std::size_t>(0, content.size() - 1);
    const std::uint64_t id = store.head().head.store;
    switch (input.ConsumeIntegralInRange(0, 4)) {
      case 0:
        overwrite(input, content[which]);
        break;
      case 1:
        lengths[which] =
            input.ConsumeIntegralInRange<std::uint64_t>(0, input.ConsumeBool() ? kLongest : 4 * lengths[which]);
        break;
      case 2:
        change_record(input, content[which | 1], id);
        break;
      case 3:
        change_segment(input, content[which | 1], id);
        break;
      default:
        content[which & ~std::size_t{1}] = changed_head(input, store.head());
    }
  }
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::string& path = store.files()[i].path;
    (void)forebay::make_private_directory(std::string(forebay::parent_of(path)));
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content[i];
    must(::truncate(path.c_str(), static_cast<off_t>(lengths[i])) == 0);
  }
}

// All that a program may do with a trajectory that it finds.
void use(forebay_trajectory* t) {
  std::uint64_t count = 0;
  must(forebay_trajectory_count_steps(t, &count) == FOREBAY_OK && forebay_trajectory_get_recovery(t) != nullptr);
  std::int64_t step = 0;
  for (std::uint64_t n = count; n-- > 0;) {
    must(forebay_trajectory_get_step(t, n, &step, nullptr) == FOREBAY_OK);
    if (n + 1 == count) forebay_trajectory_reverse(t, step);
    for (int field = 0; field < 2; ++field) {
      const void* memory = nullptr;
      if (forebay_trajectory_get(t, step, field, &memory) != FOREBAY_OK) continue;
      volatile char first = *static_cast<const char*>(memory);
      (void)first;
      must(forebay_trajectory_release(t, step) == FOREBAY_OK);
    }
    if (n % 3 == 0) forebay_trajectory_drop(t, step);
  }
  int fields = 0;
  if (!declare_fields(t) || forebay_trajectory_count_fields(t, &fields) != FOREBAY_OK || fields != 2) return;
  for (std::int64_t extra = 1000; extra < 1010; ++extra) put(t, extra);
  std::vector<double> between(kValues);
  forebay_trajectory_interpolate(t, 0.25, 1, between.data());
  forebay_trajectory_rewind(t);
  put(t, 1);
}

// What the commands on kept trajectories read of it.
void look(const Store& store) {
  for (const char* const pool : {"/first", "/second"}) {
    const auto parts = forebay::kept::find(store.place() + pool);
    must(parts.has_value());
    for (const auto& part : *parts) {
      if (!part.head) continue;
      (void)forebay::kept::list(part, *part.head);
      (void)forebay::kept::verify(part, *part.head);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Store store;
  FuzzedDataProvider input(bytes, size);
  write_changed(input, store);
  look(store);
  forebay_trajectory* t = nullptr;
  if (forebay_trajectory_open(store.options(), &t) != FOREBAY_OK) {
    must(t == nullptr && *forebay_error_get_text() != '\0');
    return 0;
  }
  use(t);
  forebay_trajectory_close(t);
  return 0;
}
