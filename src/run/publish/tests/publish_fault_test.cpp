// Faults at every call of a publication, one after the other, in the way of SQLite's tests.
#include <gtest/gtest.h>

#include <cerrno>
#include <tuple>

#include "run/publish/tests/case_fixture.h"
#include "run/publish/tests/faulty_files.h"

namespace forebay::drain {
namespace {

// After a fault at any call: the final name has the old content or the whole new one, every temporary is in the
// journal, and trying again brings the same end as if nothing had happened.
enum class Scenario {
  new_file,
  file_in_new_directory,
  replaced_file,
  replaced_without_exchange,
  conflict,
  new_directory,
  replaced_directory,
  directory_replaced_without_exchange,
  collated_time
};
enum class Fault { input_output_error, no_space, lost_answer, short_write, death };

class FaultLoopTest : public BookedCaseTest, public testing::WithParamInterface<std::tuple<Scenario, Fault, Verify>> {
 protected:
  // Thousands of fsyncs: memory is enough for them.
  std::string default_root() const override { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }
  Scenario scenario() const { return std::get<0>(GetParam()); }
  bool replaces() const {
    return scenario() == Scenario::replaced_file || scenario() == Scenario::replaced_without_exchange ||
           replaces_directory();
  }

  bool replaces_directory() const {
    return scenario() == Scenario::replaced_directory || scenario() == Scenario::directory_replaced_without_exchange;
  }

  layouts::Unit prepare() {
    layouts::Unit unit;
    switch (scenario()) {
      case Scenario::new_file:
        return file_unit("U", new_);
      case Scenario::file_in_new_directory:
        return file_unit("a/b/U", new_);
      case Scenario::new_directory:
        return time_unit("a/0.5", new_);
      case Scenario::collated_time:
        return group_unit();
      case Scenario::replaced_directory:
      case Scenario::directory_replaced_without_exchange: {
        const auto before = publish(time_unit("state", old_));
        EXPECT_TRUE(before);
        return replacing(time_unit("state", new_), *before);
      }
      default:
        write(case_ + "/U", old_);
        unit = file_unit("U", new_);
        if (replaces()) unit.replaces = identity(case_ + "/U");
        return unit;
    }
  }

  // A field of two ranks in one file.
  layouts::Unit group_unit() {
    std::vector<layouts::RankTime> ranks;
    for (const int rank : {0, 1}) {
      const std::string directory = pool_ + "/processor" + std::to_string(rank) + "/0.5";
      write(directory + "/U",
            "FoamFile\n{\n    version 2.0;\n    format ascii;\n    class volScalarField;\n"
            "    location \"0.5\";\n    object U;\n}\n\n" +
                std::string(5000, 'n') + std::to_string(rank) + "\n");
      ranks.push_back({rank, directory, {"U"}});
    }
    const auto unit = layouts::collated_time(ranks, "0.5", 2);
    EXPECT_TRUE(unit) << unit.error().text();
    return *unit;
  }
  static std::string content_of(const layouts::OutputFile& file) {
    std::string bytes;
    for (const layouts::Piece& piece : file.pieces)
      bytes += piece.source.empty() ? piece.literal : content(piece.source).substr(piece.offset, piece.length);
    return bytes;
  }

  void arm(FaultyFiles& files, int number) {
    if (scenario() == Scenario::replaced_without_exchange ||
        scenario() == Scenario::directory_replaced_without_exchange)
      files.refuse("exchange", EINVAL);
    switch (std::get<1>(GetParam())) {
      case Fault::input_output_error:
        return files.fail_call(number, EIO);
      case Fault::no_space:
        return files.fail_call(number, ENOSPC);
      case Fault::lost_answer:
        return files.lose_answer(number);
      case Fault::short_write:
        return files.shorten_write(number);
      case Fault::death:
        return files.die_at(number);
    }
  }

  bool target_is_whole(const layouts::Unit& unit) {
    if (!unit.is_directory) return content(case_ + "/" + unit.target) == new_;
    const std::string at = case_ + "/" + unit.target;
    if (scenario() == Scenario::collated_time) return content(at + "/U") == content_of(unit.files.front());
    return content(at + "/U") == new_ && content(at + "/uniform/time") == "0.5" &&
           read_link(at + "/latest").value_or("") == "uniform/time";
  }
  void expect_old_or_whole(const layouts::Unit& unit) {
    EXPECT_TRUE(scenario() != Scenario::replaced_directory || files_->status(unit.target).value())
        << "for a moment nothing had the name";
    if (scenario() == Scenario::conflict) {
      EXPECT_EQ(content(case_ + "/U"), old_);
    } else if (files_->status(unit.target).value() && !target_is_whole(unit)) {
      EXPECT_TRUE(replaces()) << "half of it under the final name";
      EXPECT_EQ(content_below(unit.target), old_);
    }
  }
  // The content of the file itself, or of the one that tells a directory's state.
  std::string content_below(const std::string& path) {
    return content(case_ + "/" + path + (replaces_directory() ? "/U" : ""));
  }
  void expect_known_temporaries() {
    for (const std::string& name : temporaries()) {
      if (booked_.contains(name) || booked_.contains(std::string(parent_of(name)))) continue;
      // Around an exchange the name may be the user's, so whoever removes it looks at it first; it is whole.
      EXPECT_TRUE(lent_.contains(name) || lent_.contains(std::string(parent_of(name)))) << "unknown: " << name;
      EXPECT_TRUE(replaces()) << name;
      EXPECT_TRUE(content_below(name) == old_ || content_below(name) == new_) << name;
    }
  }

  const std::string old_ = "old content";
  const std::string new_ = std::string((1 << 20) + 4000, 'n');
};

std::string name_of_loop(const testing::TestParamInfo<std::tuple<Scenario, Fault, Verify>>& tested) {
  static const char* const scenarios[] = {
      "NewFile",     "FileInNewDirectory", "ReplacedFile",      "ReplacedWithoutExchange",
      "Conflict",    "NewDirectory",       "ReplacedDirectory", "DirectoryReplacedWithoutExchange",
      "CollatedTime"};
  static const char* const faults[] = {"InputOutputError", "NoSpace", "LostAnswer", "ShortWrite", "Death"};
  const auto& [scenario, fault, verify] = tested.param;
  return std::string(scenarios[static_cast<int>(scenario)]) + faults[static_cast<int>(fault)] +
         (verify == Verify::read_back ? "ReadBack" : "");
}
INSTANTIATE_TEST_SUITE_P(
    Every, FaultLoopTest,
    testing::Combine(testing::Values(Scenario::new_file, Scenario::file_in_new_directory, Scenario::replaced_file,
                                     Scenario::replaced_without_exchange, Scenario::conflict, Scenario::new_directory,
                                     Scenario::replaced_directory, Scenario::directory_replaced_without_exchange,
                                     Scenario::collated_time),
                     testing::Values(Fault::input_output_error, Fault::no_space, Fault::lost_answer, Fault::short_write,
                                     Fault::death),
                     testing::Values(Verify::written, Verify::read_back)),
    name_of_loop);

TEST_P(FaultLoopTest, LeavesTheOldStateOrTheWholeNewOne) {
  bool through = false;
  for (int number = 1; !through; ++number) {
    SCOPED_TRACE("call " + std::to_string(number));
    ASSERT_LT(number, 200);
    const layouts::Unit unit = prepare();
    FaultyFiles files(*files_);
    arm(files, number);
    auto kept_book = settings(std::get<2>(GetParam()));
    const auto book = kept_book.temporary;
    kept_book.temporary = [&](const std::string& path, bool made) {
      return files.dead() ? Status() : book(path, made);
    };
    lent_.clear();
    const auto published = drain::publish(files, unit, "run1", kept_book);
    through = !files.reached();
    EXPECT_TRUE(!published || target_is_whole(unit));
    expect_old_or_whole(unit);
    expect_known_temporaries();

    // The next run: tries again, and clears what the journal knows.
    const auto again = drain::publish(*files_, unit, "run1", settings());
    if (scenario() == Scenario::conflict) {
      ASSERT_FALSE(again);
      EXPECT_EQ(again.error().code, Code::conflict) << again.error().text();
      EXPECT_EQ(content(case_ + "/U"), old_);
      EXPECT_EQ(content(case_ + "/U.forebay-run1"), new_);
    } else {
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_TRUE(target_is_whole(unit));
    }
    for (const std::string& name : booked_) EXPECT_TRUE(remove_temporary(*files_, name)) << name;
    booked_.clear();
    EXPECT_TRUE(replaces() || temporaries().empty());
    if (HasFailure()) return;
    for (const auto& entry : std::filesystem::directory_iterator(case_)) std::filesystem::remove_all(entry.path());
  }
}

}  // namespace
}  // namespace forebay::drain
