// A case and a pool for tests. FOREBAY_TEST_SHARED names the directory in which the case is made (default /tmp), so
// that the same tests run on any shared file system.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/tests/hand_clock.h"
#include "run/publish/publish.h"

namespace forebay::drain {

// The first and only attempt.
inline Result<Published> publish(SharedFiles& shared, const layouts::Unit& unit, const std::string& run,
                                 const PublishSettings& settings) {
  Attempts attempts;
  return publish(shared, unit, run, settings, attempts);
}

class CaseTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* shared_root = std::getenv("FOREBAY_TEST_SHARED");
    case_ = make_directory(shared_root != nullptr ? shared_root : default_root());
    pool_ = make_directory("/tmp");
    files_ = open_shared(case_).value();
  }
  void TearDown() override {
    files_.reset();
    (void)remove_tree(case_);
    (void)remove_tree(pool_);
  }

  virtual std::string default_root() const { return "/tmp"; }

  static std::string make_directory(const std::string& where) {
    std::string pattern = where + "/forebay-drain-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    return pattern;
  }

  static void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  static std::string content(const std::string& path) { return read_file(path).value_or("<none>"); }
  static Identity identity(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return identity_of(status);
  }

  // A file of the pool and the unit that carries it to `target`.
  layouts::Unit file_unit(const std::string& target, const std::string& bytes) {
    const std::string source = pool_ + "/" + hex(checksum(target));
    write(source, bytes);
    layouts::Unit unit;
    unit.target = target;
    unit.files.push_back(output("", source, bytes.size()));
    return unit;
  }
  static layouts::OutputFile output(const std::string& path, const std::string& source, std::size_t size) {
    layouts::OutputFile file;
    file.path = path;
    file.mode = 0640;
    file.mtime_ns = 1'500'000'000'123'456'789;
    file.pieces.push_back({"", source, 0, size});
    return file;
  }
  // A time directory with a directory, two files and a link in it.
  layouts::Unit time_unit(const std::string& target, const std::string& bytes) {
    write(pool_ + "/U", bytes);
    write(pool_ + "/time", "0.5");
    layouts::Unit unit;
    unit.target = target;
    unit.is_directory = true;
    unit.directories = {{"", 0750}, {"uniform", 0700}};
    unit.files = {output("U", pool_ + "/U", bytes.size()), output("uniform/time", pool_ + "/time", 3)};
    layouts::OutputFile link;
    link.path = "latest";
    link.link_target = "uniform/time";
    link.mtime_ns = 1'400'000'000'000'000'000;
    unit.files.push_back(link);
    return unit;
  }

  // The unit, and that it may replace the directory that was published before.
  static layouts::Unit replacing(layouts::Unit unit, const Published& before) {
    unit.replaces_directory.emplace();
    for (const PublishedFile& file : before.files)
      unit.replaces_directory->emplace(file.path.substr(unit.target.size() + 1), file.identity);
    return unit;
  }

  // Every name below the case, relative to it.
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(case_))
      found.insert(std::filesystem::relative(entry.path().parent_path(), case_) / entry.path().filename());
    std::set<std::string> relative;
    for (const std::string& name : found) relative.insert(name.starts_with("./") ? name.substr(2) : name);
    return relative;
  }
  std::set<std::string> temporaries() const {
    std::set<std::string> found;
    for (const std::string& name : names())
      if (name_of(name).starts_with(".fb-")) found.insert(name);
    return found;
  }

  std::string case_, pool_;
  HandClock clock_;
  std::unique_ptr<SharedFiles> files_;
};

// A case with the book of temporary names that a journal keeps.
class BookedCaseTest : public CaseTest {
 protected:
  // Settings that keep the book that the journal keeps.
  PublishSettings settings(Verify verify = Verify::written) {
    PublishSettings made;
    made.clock = &clock_;
    made.verify = verify;
    made.temporary = [this](const std::string& path, bool exists) -> Status {
      if (exists)
        booked_.insert(path);
      else
        booked_.erase(path);
      if (exists) lent_.erase(path);
      return {};
    };
    made.replacing = [this](const std::string& path, const std::string& target, std::uint64_t) -> Status {
      lent_[path] = target;
      return {};
    };
    return made;
  }
  Result<Published> publish(const layouts::Unit& unit) { return drain::publish(*files_, unit, "run1", settings()); }
  mode_t mode(const std::string& path) { return files_->status(path).value()->st_mode & 07777; }

  std::set<std::string> booked_;
  std::map<std::string, std::string> lent_;  // what may change places with which target
};

}  // namespace forebay::drain
