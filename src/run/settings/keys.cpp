#include "run/settings/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace forebay::settings {
namespace {

template <class Enum>
struct Word {
  Enum value;
  const char* text;
};
constexpr std::array<Word<Via>, 4> kViaWords{
    {{Via::automatic, "auto"}, {Via::path, "path"}, {Via::redirect, "redirect"}, {Via::namespaces, "namespace"}}};
constexpr std::array<Word<Layout>, 2> kLayoutWords{{{Layout::verbatim, "verbatim"}, {Layout::collated, "collated"}}};
constexpr std::array<Word<Verify>, 2> kVerifyWords{{{Verify::written, "written"}, {Verify::read_back, "read-back"}}};
constexpr std::array<Word<DrainWhen>, 2> kWhenWords{{{DrainWhen::live, "live"}, {DrainWhen::end, "end"}}};

constexpr const auto& words_of(Via) {
  return kViaWords;
}
constexpr const auto& words_of(Layout) {
  return kLayoutWords;
}
constexpr const auto& words_of(Verify) {
  return kVerifyWords;
}
constexpr const auto& words_of(DrainWhen) {
  return kWhenWords;
}

template <class Enum>
std::string text_of(Enum value) {
  for (const auto& word : words_of(value))
    if (word.value == value) return word.text;
  return {};
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// The largest unit that says it exactly, so that reading it again gives the same.
std::string duration_text(std::chrono::milliseconds time) {
  const auto count = time.count();
  if (count % 3'600'000 == 0 && count != 0) return fmt::format("{}h", count / 3'600'000);
  if (count % 60'000 == 0 && count != 0) return fmt::format("{}min", count / 60'000);
  if (count % 1000 == 0) return fmt::format("{}s", count / 1000);
  return fmt::format("{}ms", count);
}

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// Each store_* returns false when the value is not of the type or out of range.
bool store(Words& field, const nlohmann::json& value, const KeyEntry&) {
  if (!value.is_array()) return false;
  Words words;
  for (const auto& element : value) {
    if (!element.is_string() || element.get_ref<const std::string&>().empty()) return false;
    if (!is_utf8(element.get_ref<const std::string&>())) return false;
    words.push_back(element.get<std::string>());
  }
  field = std::move(words);
  return true;
}

bool store(double& field, const nlohmann::json& value, const KeyEntry& entry) {
  if (!value.is_number()) return false;
  const double number = value.get<double>();
  if (!(number > entry.least && number <= entry.most)) return false;
  field = number;
  return true;
}

bool store(int& field, const nlohmann::json& value, const KeyEntry& entry) {
  if (!value.is_number_integer()) return false;
  const double number = value.get<double>();
  if (!(number >= entry.least && number <= entry.most)) return false;
  field = static_cast<int>(number);
  return true;
}

bool store(OptionalBytes& field, const nlohmann::json& value, const KeyEntry&) {
  if (value == "none") {
    field.reset();
    return true;
  }
  OptionalBytes bytes;
  if (value.is_number_unsigned()) bytes = value.get<std::uint64_t>();
  if (value.is_number_integer() && value.get<std::int64_t>() > 0) bytes = value.get<std::uint64_t>();
  if (value.is_string()) bytes = parse_bytes(value.get_ref<const std::string&>());
  if (!bytes || *bytes == 0) return false;
  field = bytes;
  return true;
}

bool store(std::chrono::milliseconds& field, const nlohmann::json& value, const KeyEntry& entry) {
  double milliseconds = -1;
  if (value.is_number()) milliseconds = value.get<double>() * 1e3;
  if (value.is_string())
    if (const auto time = parse_duration(value.get_ref<const std::string&>()))
      milliseconds = static_cast<double>(time->count()) / 1e6;
  if (!(milliseconds >= entry.least && milliseconds <= entry.most)) return false;
  field = std::chrono::milliseconds(std::llround(milliseconds));
  return true;
}

template <class Enum>
bool store(Enum& field, const nlohmann::json& value, const KeyEntry&) {
  for (const auto& word : words_of(field))
    if (value == word.text) {
      field = word.value;
      return true;
    }
  return false;
}

constexpr double kDay = 24.0 * 3600 * 1000;  // milliseconds

}  // namespace

const std::vector<KeyEntry>& entries() {
  static const std::vector<KeyEntry> table{
      {"pool.paths", [](Settings& s) -> Field { return &s.pool.paths; },
       "directories for pools, one per socket in the order of sockets, or one for all; `{socket}` stands for the "
       "socket's index; empty: forebay finds them"},
      {"pool.memory_share", [](Settings& s) -> Field { return &s.pool.memory_share; },
       "of the memory a job may still use, for all pools in tmpfs of a node together"},
      {"pool.budget", [](Settings& s) -> Field { return &s.pool.budget; },
       "bytes that a run may fill per pool, instead of the share (tmpfs) or the free space (others)"},
      {"pool.high_water", [](Settings& s) -> Field { return &s.pool.high_water; },
       "share of the budget above which the program is held back; less where two output steps would not fit above it, "
       "but "
       "never below 0.3"},
      {"pool.low_water", [](Settings& s) -> Field { return &s.pool.low_water; },
       "share of the budget below which the program goes on; at most 0.8 of what holds it back"},
      {"run.via", [](Settings& s) -> Field { return &s.run.via; },
       "how processes get to the local tree; auto: the least intrusive way that works on the machine"},
      {"stage.threads", [](Settings& s) -> Field { return &s.stage.threads; }, "parallel copies when staging in", 1,
       1024},
      {"stage.copy", [](Settings& s) -> Field { return &s.stage.copy; },
       "patterns of files, relative to the case, that are copied instead of linked"},
      {"stage.direct", [](Settings& s) -> Field { return &s.stage.direct; },
       "directories of the case, or patterns of them, that stay on the shared file system; made where they are "
       "missing"},
      {"stage.watch", [](Settings& s) -> Field { return &s.stage.watch; },
       "directories of the case, beside itself, system and constant, in which files that are new, changed or removed "
       "are "
       "shown to the running program"},
      {"drain.threads", [](Settings& s) -> Field { return &s.drain.threads; }, "parallel writers to the case, per node",
       1, 1024},
      {"drain.bandwidth", [](Settings& s) -> Field { return &s.drain.bandwidth; },
       "bytes per second that a node may write to the case"},
      {"drain.when", [](Settings& s) -> Field { return &s.drain.when; },
       "drain while the program runs, or hold until it has ended all but the newest complete time "
       "(drain.safe_interval) "
       "and what a nearly full pool gives up"},
      {"drain.verify", [](Settings& s) -> Field { return &s.drain.verify; },
       "checksum of what was handed to write, or of what was read back from the case"},
      {"drain.layout", [](Settings& s) -> Field { return &s.drain.layout; },
       "files as the program wrote them, or OpenFOAM's collated files, one per field, time and node"},
      {"drain.checkpoints", [](Settings& s) -> Field { return &s.drain.checkpoints; },
       "directories of the case whose files are one state that the program overwrites: only whole ones reach the case "
       "while it works (Code_Saturne's is known)"},
      {"drain.safe_interval", [](Settings& s) -> Field { return &s.drain.safe_interval; },
       "the newest complete time reaches the case at least this often: a dead node costs at most this", 1000, kDay},
      {"drain.settle", [](Settings& s) -> Field { return &s.drain.settle; },
       "how long a file must be quiet before it is drained while the program runs", 0, kDay},
      {"drain.refresh", [](Settings& s) -> Field { return &s.drain.refresh; },
       "how often what a program appends to logs and histories appears on the case while it runs; with drain.when "
       "\"end\", where this is 5s, as often as drain.safe_interval says",
       100, kDay},
      {"drain.patience", [](Settings& s) -> Field { return &s.drain.patience; },
       "without any progress for so long, the end of a run leaves the rest local, and a program that waits for room is "
       "let go; so long the end waits for processes that still have files open for writing",
       0, kDay},
      {"drain.silence", [](Settings& s) -> Field { return &s.drain.silence; },
       "a node that has not reported for so long after the program's end is taken for dead", 1000, kDay},
  };
  return table;
}

const KeyEntry* find_entry(std::string_view name) {
  const auto found = std::ranges::find_if(entries(), [&](const KeyEntry& entry) { return entry.name == name; });
  return found == entries().end() ? nullptr : &*found;
}

std::string environment_name(std::string_view key) {
  std::string name = "FOREBAY_";
  for (const char c : key) name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string type_text(const KeyEntry& entry) {
  Settings settings;
  return std::visit(
      Overloaded{[](Words*) -> std::string { return "list of strings ([\"one\", \"two\"])"; },
                 [&](double*) { return fmt::format("number above {:g}, up to {:g}", entry.least, entry.most); },
                 [&](int*) { return fmt::format("whole number from {:g} to {:g}", entry.least, entry.most); },
                 [](OptionalBytes*) -> std::string { return "bytes (\"7.5GB\", 1048576) or \"none\""; },
                 [](std::chrono::milliseconds*) -> std::string { return "time (\"90s\", \"10min\", \"1h\")"; },
                 [](const auto* field) {
                   std::string text = "one of";
                   for (const auto& word : words_of(*field)) text += fmt::format(" \"{}\"", word.text);
                   return text;
                 }},
      entry.field(settings));
}

std::vector<std::string> choices_of(const KeyEntry& entry) {
  Settings settings;
  return std::visit(
      [](const auto* field) {
        std::vector<std::string> choices;
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(*field)>>)
          for (const auto& word : words_of(*field)) choices.emplace_back(word.text);
        return choices;
      },
      entry.field(settings));
}

nlohmann::json value_of(const Settings& settings, const KeyEntry& entry) {
  Settings copy = settings;
  return std::visit(
      Overloaded{[](const Words* field) { return nlohmann::json(*field); },
                 [](const double* field) { return nlohmann::json(*field); },
                 [](const int* field) { return nlohmann::json(*field); },
                 [](const OptionalBytes* field) { return *field ? nlohmann::json(**field) : nlohmann::json("none"); },
                 [](const std::chrono::milliseconds* field) { return nlohmann::json(duration_text(*field)); },
                 [](const auto* field) { return nlohmann::json(text_of(*field)); }},
      entry.field(copy));
}

nlohmann::json value_from_text(const KeyEntry& entry, std::string_view text) {
  Settings settings;
  const auto number = [&](auto*) {
    // JSON's own reading of numbers: strict, and independent of the locale.
    const auto value = nlohmann::json::parse(text, nullptr, false);
    return value.is_number() ? value : nlohmann::json(text);
  };
  return std::visit(Overloaded{[&](Words*) {
                                 auto list = nlohmann::json::array();
                                 for (const std::string_view word : split(text, ':')) list.push_back(word);
                                 return list;
                               },
                               [&](double* field) { return number(field); }, [&](int* field) { return number(field); },
                               [&](auto*) { return nlohmann::json(text); }},
                    entry.field(settings));
}

Status apply(Settings& settings, const Assignment& assignment) {
  const KeyEntry* entry = find_entry(assignment.key);
  if (entry == nullptr) {
    std::vector<std::string> known;
    for (const KeyEntry& other : entries()) known.emplace_back(other.name);
    const std::string near = closest(assignment.key, known);
    return error(Code::bad_input, fmt::format("{}: unknown key {}", assignment.where, printable(assignment.key)), {},
                 near.empty() ? "forebay doctor lists the keys" : "did you mean " + near + "?");
  }
  const bool stored =
      std::visit([&](auto* field) { return store(*field, assignment.value, *entry); }, entry->field(settings));
  if (stored) return {};
  const std::string given = assignment.value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return error(Code::bad_input, fmt::format("{}: {} cannot be {}", assignment.where, assignment.key, printable(given)),
               {}, "it takes: " + type_text(*entry));
}

std::string name_of(Via via) {
  return text_of(via);
}
std::string name_of(Layout layout) {
  return text_of(layout);
}
std::string name_of(Verify verify) {
  return text_of(verify);
}
std::string name_of(DrainWhen when) {
  return text_of(when);
}

}  // namespace forebay::settings
