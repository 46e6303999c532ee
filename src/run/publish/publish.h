// Carries one unit to the case: temporary name, write, verify, fsync, rename. Nothing half-done is ever seen under a
// final name, whatever fails or is killed in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "run/layouts/layouts.h"
#include "run/publish/shared.h"

namespace forebay::drain {

enum class Verify {
  written,    // XXH3 of the bytes handed to write, and the size found afterwards
  read_back,  // also read the file again from the shared file system and compare
};

struct PublishSettings {
  Clock* clock = &real_clock();
  Verify verify = Verify::written;
  // Called before each write with the bytes about to be written; it may sleep (bandwidth cap) and returns false to
  // stop.
  std::function<bool(std::size_t)> pace;
  // Called with each temporary name before it is made and after it is gone, so that the journal knows which stale names
  // are ours. May be empty.
  std::function<Status(const std::string& path, bool made)> temporary;
  // Called just before the temporary name `path`, which holds what has this inode (0: nothing), changes places with
  // `target`: from then on the file under it may be the user's, and only who looks at it can tell. May be empty.
  std::function<Status(const std::string& path, const std::string& target, std::uint64_t inode)> replacing;
  // Called when the new content is whole under its temporary name, before it gets its own (what is appended: before
  // anything is). It may wait (turns.h) and returns false to stop. May be empty.
  std::function<bool()> turn;
  // Called with whole files just before they get their names (the rename changes only a ctime): a run that goes on
  // after a crash then knows the case's files as its own. May be empty.
  std::function<Status(const std::vector<std::pair<std::string, Identity>>& files)> placing;
  // The umask of the program's user: directories of the case that no directory here stands for get what it leaves of
  // 0777, as from mkdir by the program itself.
  mode_t umask = 0022;
  // The group that files get here by themselves, where it is another than this process's (the pool's directory hands it
  // down): who has that one was given none.
  std::optional<gid_t> local_group;
  // Leaves the fsync of the directories that hold the new names to the caller (sync_directories), so that one serves
  // many units. Until then a crash of the file server may lose the name, never show a part of the file.
  bool defer_directory_sync = false;
};

// The identity of what the case holds, as it is to be known from now on: another name that a file gets or loses changes
// its ctime, so where there are several it is 0 and not compared.
Identity known_identity(const struct stat& status);

struct PublishedFile {
  std::string path;   // relative to the case
  Identity identity;  // on the case, after the rename
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  std::string linked_to = {};  // the path on the case that this is a hard link to
};
struct Published {
  std::vector<PublishedFile> files;
  std::uint64_t bytes = 0;
  std::uint64_t separated = 0;              // second names that became files of their own
  std::vector<std::string> without_set_id;  // whose owner or group could not be given, and so their set-id bits neither
  std::vector<std::string> unsynced;        // directories for sync_directories; empty unless defer_directory_sync
};

// Things that earlier attempts at a unit may have left under its name where nothing was: a server may do what it was
// asked and lose the answer, and when it comes back, show half of a directory for a while. A later attempt takes it for
// the unit's own and replaces it, even where the program has written on since. The outcome of an exchange is not among
// them: something of the user's could have come out of it unseen, and she is told of a conflict then. For the attempts
// at one unit, one after the other; publish() adds to them.
struct Attempts {
  std::vector<std::map<std::string, Identity>> placed;  // of each, by paths below the target; "" for a file unit
  bool appended = false;                                // a part of what a growing file was to get
};

// The error is Code::conflict when the name exists and is not what the unit may replace. Then the new content is kept
// on the case beside it as "<name>.forebay-<run>", and the error's advice says so. Other errors carry errno, and leave
// no temporary behind where that is possible. A directory of the target that is missing is made. A name that exists
// already with the very content of the unit counts as published (a run that was killed between the rename and its
// journal gets there). Thread-safe for different targets.
Result<Published> publish(SharedFiles& shared, const layouts::Unit& unit, const std::string& run,
                          const PublishSettings& settings, Attempts& attempts);

// Whether the first `size` bytes of the local file `local` are all that the case's file holds.
Result<bool> holds_beginning(SharedFiles& shared, const std::string& path, const std::string& local,
                             std::uint64_t size);
// XXH3-64 of the bytes from `from` up to `until` of a local file.
Result<std::uint64_t> checksum_of_part(const std::string& local, std::uint64_t from, std::uint64_t until);

// Whether what a file is made of is the content that has `expected` as its checksum. Where that is not known (0) it is
// compared with what the case has under `path`.
Result<bool> holds_same(SharedFiles& shared, const layouts::OutputFile& file, const std::string& path,
                        std::uint64_t expected);
// XXH3-64 of what a file is made of.
Result<std::uint64_t> checksum_of(const layouts::OutputFile& file);

// True when the unit no longer fits the local files: a source vanished, is shorter than promised, or is no regular
// file.
bool source_changed(const Error& error);

// True when the local file or directory is one that this user may not read, or has too long a path: another attempt
// would do no better, however long one waits.
bool source_unreadable(const Error& error);
// Calls it so where its errno says so.
Error as_unreadable(Error error);

// Whom the program gave a file or directory to; nullopt: nobody, it has the owner and the group that its maker has.
std::optional<Owner> given_to(const std::optional<Owner>& owner, std::optional<gid_t> local_group);

// Makes the names in these directories durable. A directory that is gone needs nothing.
Status sync_directories(SharedFiles& shared, const std::vector<std::string>& directories);

// Removes a stale temporary, file or directory with all below it. Names that are not of the temporary form are refused;
// it is no error when it is gone.
Status remove_temporary(SharedFiles& shared, const std::string& path);

// Removes all temporaries of a run below `directory` (empty: the case), when somebody throws away a run whose journal
// is gone. They are known by their names. The result is how many there were; a directory that cannot be read ends it.
Result<std::size_t> remove_temporaries(SharedFiles& shared, const std::string& run, const std::string& directory = {});

// Removes the file from the case if it still is `expected`; Code::conflict when it changed; fine when it is gone.
Status remove_published(SharedFiles& shared, const std::string& path, const Identity& expected, Clock& clock);

// Whether a name on the case is one that only forebay gives: a temporary one, of whatever run, or that of a version
// which this run kept beside another.
bool is_name_of_forebay(std::string_view name, std::string_view run);

// Temporary names lie beside the target and are ".fb-" and 16 hexadecimal digits, whatever the length of the target's
// name. A new name at each call, so nobody can plant one and a stale one is never in the way. The digits tell which run
// made it.
std::string temporary_name(const std::string& target, const std::string& run);

}  // namespace forebay::drain
