// A Drain on a decomposed case of two ranks, driven by hand.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "run/contract/pages.h"
#include "run/drain/tests/driven.h"
#include "run/openfoam/openfoam.h"
#include "run/tree/tree.h"

namespace forebay::drain {

inline std::string field(const std::string& time, const std::string& values) {
  return "FoamFile\n{\n    version 2.0;\n    format ascii;\n    class volScalarField;\n    location \"" + time +
         "\";\n    object p;\n}\n\n" + values + std::string(openfoam::closing_line);
}

// Two ranks; processor0 and processor1 in the pool, the rest of the case in the tree.
class DrainTest : public DrivenTest {
 protected:
  void SetUp() override {
    CaseTest::SetUp();
    for (const std::string rank : {"0", "1"}) write(case_ + "/processor" + rank + "/constant/points", "points");
    write(case_ + "/setup", "original");
    write(case_ + "/doomed", "an input");
    home_ = pool_ + "/s0";
    std::filesystem::create_directories(home_ + "/tree/case");
    std::filesystem::create_symlink(case_, home_ + "/lower");
    for (const std::string pool : {"/s0/", "/s1/"}) write(pool_ + pool + sentinel_name, "{}");
    settings_.all_ranks = 2;
    settings_.settle = std::chrono::milliseconds(10);
    settings_.look = std::chrono::milliseconds(1);
    settings_.patience = std::chrono::seconds(1);
    settings_.mover.first_retry = std::chrono::milliseconds(5);
    settings_.mover.last_retry = std::chrono::milliseconds(20);
    settings_.mover.idle_priority = false;
  }

  DrainRequest request() const {
    DrainRequest request{case_, "run1", home_, home_ + "/lower", false, settings_};
    request.devices = devices_;
    return request;
  }
  std::string tree() const { return home_ + "/tree/case"; }
  std::string pool_of(int rank) const { return rank == 1 && two_pools_ ? pool_ + "/s1" : home_; }
  std::string local(int rank) const {
    const auto group = settings_.written_groups.find(rank);
    if (group != settings_.written_groups.end()) return tree() + "/" + group->second;
    return pool_of(rank) + "/processor" + std::to_string(rank);
  }
  std::vector<Root> roots() const {
    if (!settings_.written_groups.empty()) return {{tree(), "", home_}};
    return {{tree(), "", home_}, {local(0), "processor0", pool_of(0)}, {local(1), "processor1", pool_of(1)}};
  }

  std::vector<tree::Entry> stage(const Root& root) {
    const tree::StageRequest stage{case_,
                                   root.prefix,
                                   root.local,
                                   home_ + "/lower",
                                   [&](const std::string& path) {
                                     return root.prefix.empty() && settings_.written_groups.empty() &&
                                            path.starts_with("processor");
                                   },
                                   [](const std::string& path) { return path == "setup"; },
                                   1};
    auto inputs = tree::list_inputs(stage);
    tree::StageProgress progress;
    EXPECT_TRUE(inputs && tree::carry_out(stage, *inputs, progress));
    if (inputs) tree::note_copies(stage, inputs->entries);
    return inputs ? inputs->entries : std::vector<tree::Entry>();
  }

  void open() {
    auto opened = Drain::open(request(), clock_);
    ASSERT_TRUE(opened) << opened.error().text();
    drain_ = std::move(*opened);
    for (const Root& root : roots()) ASSERT_TRUE(drain_->add_root(root, stage(root)));
    for (const int rank : {0, 1}) ASSERT_TRUE(drain_->add_rank(rank, pool_of(rank)));
    if (!settings_.redirected) return;
    auto file = open_file(home_ + "/" + pages_name, O_RDWR);
    ASSERT_TRUE(file);
    auto page = MappedFile::of(file->get(), 0, contract::bytes_of_pages(2), PROT_READ | PROT_WRITE, "");
    ASSERT_TRUE(page);
    pages_ = std::move(*page);
  }
  contract::RankPage& page_of(int rank) const {
    return reinterpret_cast<contract::NodePage*>(pages_.bytes().data())->pages()[rank];
  }
  // As the library does, where it is loaded.
  void begin_line(const std::string& time, int rank) {
    if (!settings_.redirected) return;
    contract::RankPage& page = page_of(rank);
    const std::uint64_t sequence = page.begun + 1;
    contract::TimeLine& line = page.line(sequence);
    std::uint64_t name[contract::TimeLine::name_words] = {};
    std::memcpy(name, time.data(), time.size());
    for (std::size_t i = 0; i < contract::TimeLine::name_words; ++i) line.name[i] = name[i];
    line.begun_at = 0;
    line.state = ++page.states;
    line.mesh = line.flags = 0;
    line.sequence = page.begun = sequence;
    lines_[{rank, time}] = sequence;
  }
  std::string kept(const std::string& time, int rank) const {
    const std::uint64_t sequence = lines_.at({rank, time});
    const contract::TimeLine& line = page_of(rank).line(sequence);
    return fmt::format("{}/{},{},{},{},{},{}", kept_directory(rank, pool_of(rank), settings_.written_groups), time,
                       sequence, line.state.load(), line.mesh.load(), line.flags.load(), line.begun_at.load());
  }

  void resume() {
    auto resumed = Drain::resume(request(), roots(), {0, 1}, clock_);
    ASSERT_TRUE(resumed) << resumed.error().text();
    drain_ = std::move(*resumed);
  }

  void round() override {
    look();
    drain_->told();
    pass_a_moment();
  }
  void rounds() {
    for (int i = 0; i < 5; ++i) round();
  }
  DrainReport finish(bool cleanly = true) {
    if (cleanly)
      for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
    EXPECT_TRUE(drain_->begin_finish(cleanly));
    await_end();
    DrainReport report = drain_->report();
    drain_.reset();
    return report;
  }

  void write_time(const std::string& time, int rank) {
    if (!std::filesystem::exists(local(rank) + "/" + time)) begin_line(time, rank);
    write(local(rank) + "/" + time + "/p", field(time, "values of " + std::to_string(rank)));
    write(local(rank) + "/" + time + "/uniform/time", field(time, time));
  }
  void write_time(const std::string& time) {
    for (const int rank : {0, 1}) write_time(time, rank);
    rounds();
  }
  // One after the other, before anybody looks.
  void write_unseen(const std::vector<std::string>& times) {
    for (const std::string& time : times)
      for (const int rank : {0, 1}) write_time(time, rank);
  }
  void purge(const std::string& time, int rank) {
    if (lines_.contains({rank, time})) return std::filesystem::rename(local(rank) + "/" + time, kept(time, rank));
    std::filesystem::remove_all(local(rank) + "/" + time);
  }
  void purge(const std::string& time) {
    for (const int rank : {0, 1}) purge(time, rank);
    rounds();
  }
  // Makes more events than the kernel's queue holds. The writes are to two files by turns: the kernel merges an event
  // with a last one that is like it.
  void lose_events() {
    std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
    int most = 0;
    ASSERT_TRUE(limit >> most);
    for (int i = 0; i < most; ++i) write(local(0) + "/flood" + std::to_string(i % 2), "");
  }
  // Loses events so that one file of the first time is seen.
  void write_half_and_lose_events() {
    for (const int rank : {0, 1}) write(local(rank) + "/1/p", "pressure");
    round();
    lose_events();
  }
  // So many files of 8 KiB beside the times of a rank, until the case has them.
  void write_results(int rank, int count) {
    const std::uint64_t wanted = drain_->report().amounts.shared.files + static_cast<std::uint64_t>(count);
    for (int i = 0; i < count; ++i) write(local(rank) + "/post/" + std::to_string(i), std::string(8192, 'x'));
    ASSERT_TRUE(drive([&] { return drain_->report().amounts.shared.files == wanted; }));
  }
  // The number of these files that are links by now.
  int evicted_results(int rank, int count) const {
    int links = 0;
    for (int i = 0; i < count; ++i)
      if (std::filesystem::is_symlink(local(rank) + "/post/" + std::to_string(i))) ++links;
    return links;
  }
  static std::set<std::string> completed(const DrainReport& report) {
    std::set<std::string> times;
    for (const TimelineEntry& entry : report.timeline)
      if (entry.complete >= 0) times.insert(entry.time);
    return times;
  }
  bool on_case(const std::string& path) const { return std::filesystem::exists(case_ + "/" + path); }
  bool is_safe(const std::string& time) const {
    const auto safe = drain_->safe_times();
    return std::ranges::find(safe, time) != safe.end();
  }
  // The times that any rank or group has on the case.
  std::set<std::string> times_on_case() const {
    std::set<std::string> times;
    for (const std::string& name : names())
      if (const std::string parent(parent_of(name));
          parent.starts_with("processor") && parent.find('/') == std::string::npos && name_of(name) != "constant")
        times.emplace(name_of(name));
    return times;
  }

  std::string home_;
  std::map<std::string, std::uint64_t> devices_;
  bool two_pools_ = false;  // rank 1 has one of its own
  MappedFile pages_;
  std::map<std::pair<int, std::string>, std::uint64_t> lines_;
};

}  // namespace forebay::drain
