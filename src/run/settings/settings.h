// settings: everything a run can be told, from defaults, files, environment and flags.
//
// Promises: one plain struct; one table of keys from which the parser, the documentation and `forebay doctor` work, so
// they cannot drift apart. Unknown keys and wrong values are errors that name the file, the line and the key. Reads
// configuration files and nothing else; keeps no state.
// Must not know: cases, trees, drains, how a setting is acted upon.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base.h"
#include "run/node/node.h"
#include "run/node/ways.h"

namespace forebay::settings {

// The way of processes to the local tree. `automatic`: the least intrusive that works on the machine.
enum class Via { automatic, path, redirect, namespaces };
// The arrangement of drained files on the shared file system.
enum class Layout { verbatim, collated };
// The bytes that the checksum of a drained file is compared with.
enum class Verify { written, read_back };
// Drain while the program runs, or hold what may wait until it has ended.
enum class DrainWhen { live, end };

// The members are named like the keys: settings.drain.safe_interval is "drain.safe_interval".
struct Settings {
  // pool.paths, pool.memory_share and pool.budget are the base: `choose_pools(machine, settings.pool)`.
  struct Pool : node::PoolSettings {
    double high_water = 0.85;  // share of the budget above which the program is held back
    double low_water = 0.60;   // and below which it goes on
  } pool;
  struct Run {
    Via via = Via::automatic;
  } run;
  struct Stage {
    int threads = 4;
    std::vector<std::string> copy;    // patterns of files to copy instead of link
    std::vector<std::string> direct;  // directories, or patterns of them, that stay on the shared file system
    std::vector<std::string> watch;   // directories in which new and removed files are shown to a running program
  } stage;
  struct Drain {
    int threads = 4;
    std::optional<std::uint64_t> bandwidth;  // bytes per second, all threads together; nullopt: no cap
    DrainWhen when = DrainWhen::live;
    Verify verify = Verify::written;
    Layout layout = Layout::verbatim;
    std::vector<std::string> checkpoints;  // directories whose files are one state, replaced on the case together
    std::chrono::milliseconds safe_interval = std::chrono::minutes(10);  // a dead node costs at most this
    std::chrono::milliseconds settle = std::chrono::seconds(2);  // a file is quiet this long before it is drained live
    // So often what a program appends to logs and histories appears on the case; with drain.when "end", where this is
    // the default, as often as safe_interval says.
    std::chrono::milliseconds refresh = std::chrono::seconds(5);
    // Without any progress for so long, the end of a run gives up and leaves the rest local, and a program that waits
    // for room in its pool is let go.
    std::chrono::milliseconds patience = std::chrono::minutes(2);
    std::chrono::milliseconds silence =
        std::chrono::minutes(1);  // a node that says nothing for so long is taken for dead
  } drain;
};

// Where settings come from, in the order in which later ones win. A test fills it by hand.
struct Sources {
  std::string site_file;   // "/etc/forebay.toml"; a missing file is fine
  std::string user_file;   // "$XDG_CONFIG_HOME/forebay/config.toml"; a missing file is fine; "" for none
  std::string named_file;  // $FOREBAY_CONFIG; must exist when not empty
  std::vector<std::pair<std::string, std::string>> environment;  // every variable that begins with FOREBAY_
};
Sources sources_of_this_process();

// defaults <- site file <- user file <- named file <- environment. Flags go on top, by assign() or by hand; then
// check().
Result<Settings> load(const Sources& sources);
inline Result<Settings> load() {
  return load(sources_of_this_process());
}

// Sets one key from text, as an environment variable or a flag does: assign(s, "run.via", "redirect", "--via"). Lists
// are separated by ':'. `where` begins the error's text. An empty text gives the default.
Status assign(Settings& settings, std::string_view key, std::string_view text, std::string_view where);
// Checks what no single key can tell, for example that low_water lies below high_water.
Status check(const Settings& settings);

// Exact round trip; the plan of a run carries its settings to the nodes in this form.
std::string to_json(const Settings& settings);
Result<Settings> from_json(std::string_view text);

// A row of the table of keys.
struct Key {
  std::string name;                  // "pool.memory_share"
  std::string type;                  // "number from 0 to 1"
  std::string default_text;          // "0.25", as value_text() of the defaults
  std::string environment;           // "FOREBAY_POOL_MEMORY_SHARE"
  std::string meaning;               // one line
  std::vector<std::string> choices;  // "live", "end"; empty where the type is not one of some words
};
// All keys, in the order of the documentation.
const std::vector<Key>& keys();
// The value of a key as a file would say it: `"10min"`, `[]`, `"none"`.
std::string value_text(const Settings& settings, std::string_view key);

std::string name_of(Via via);  // "auto", "path", "redirect", "namespace"
std::string name_of(Layout layout);
std::string name_of(Verify verify);
std::string name_of(DrainWhen when);
// The argument of choose_way(): nullopt for automatic.
std::optional<node::Way> forced_way(Via via);

}  // namespace forebay::settings
