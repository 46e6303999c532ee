// Parts that the publications of a file and of a directory share. Private to publish*.cpp.
#pragma once

#include "run/publish/publish.h"

namespace forebay::drain::parts {

struct Context {
  SharedFiles& shared;
  const std::string& run;
  const PublishSettings& settings;
  Attempts& attempts;
};

// A temporary name of ours on the case. Removed at the end of its life, unless it was let go.
class Temporary {
 public:
  Temporary(const Context& context, const std::string& target);
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary();

  const std::string& path() const { return path_; }
  // Tells the journal; before the name is made.
  Status announce();
  // The name was not made.
  void withdraw();
  // The name was made and this is it: only what has this inode is ever removed.
  void own(const struct stat& made);
  // It has another name now.
  void let_go();
  // It is about to change places with `target`: the file under the name may be the user's from here on. It is removed
  // by nobody who has not looked at it.
  Status lend(const std::string& target);
  // It is ours after all.
  void take_back();

 private:
  void note_gone();
  const Context& context_;
  std::string path_;
  std::uint64_t device_ = 0, inode_ = 0;
  bool announced_ = false, made_ = false;
};

struct Written {
  Descriptor file;  // none for a link
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // of the content, or of a link's text
  struct stat made {};
  bool without_set_id = false;
};

// Makes `path` with the whole content, mode and time, synced and verified. `made` is called once the name exists. The
// owner and the group are those that the program gave to the local file, else those of the file that it is to replace,
// where this user may give them. A setuid bit comes last, and only for the local file's owner, a setgid bit only for
// its group: nobody finds it meanwhile, under the temporary name either.
using Made = std::function<void(const struct stat&)>;
Result<Written> write_output(const Context& context, const layouts::OutputFile& file, const std::string& path,
                             const Made& made, const std::optional<struct stat>& replaced = std::nullopt);
// The pieces alone, to an open file. The bytes of them.
Result<std::uint64_t> write_pieces(const Context& context, const layouts::OutputFile& file, int fd,
                                   const std::string& path);
// Makes `path` a second name of `existing`, which must still be `expected` (where given). nullopt: the file system
// makes no hard links, or not of this one.
Result<std::optional<Written>> write_hard_link(const Context& context, const std::string& existing,
                                               const std::optional<Identity>& expected, const std::string& path,
                                               const Made& made);
// True when `path` already is a regular file (or link) with the same content.
Result<bool> same_content(SharedFiles& shared, const std::string& path, const layouts::OutputFile& file,
                          std::uint64_t bytes, std::uint64_t checksum);

// Before an exchange and after it: the exchange itself sets the ctime on most file systems, and so does another name,
// so device, inode, size and mtime must do.
bool same_but_ctime(const Identity& a, const Identity& b);
// True where an exchange failed since the file system makes none.
bool lacks_exchange(const Error& error);

// Waits for the unit's turn to get its name.
Status await_turn(const Context& context, const layouts::Unit& unit);
// Makes the missing directories above `target`; those that got a new name are added to `unsynced`.
Status make_parents(const Context& context, const std::string& target, std::vector<std::string>& unsynced);
// Removes `path` and, when it is a directory, all below it.
Status remove_all(SharedFiles& shared, const std::string& path);
// Puts what is under `temporary` beside `target`, which is taken by something else, and returns the Code::conflict that
// tells the user. `same_beside` says whether a name beside already holds it (from an earlier try).
Error keep_beside(const Context& context, Temporary& temporary, const std::string& target,
                  const std::function<Result<bool>(const std::string&)>& same_beside);

// Publishes a unit that continues a file.
Result<Published> append(const Context& context, const layouts::Unit& unit);
Result<Published> publish_directory(const Context& context, const layouts::Unit& unit);

}  // namespace forebay::drain::parts
