#include "run/settings/settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace forebay::settings {
namespace {

using namespace std::chrono_literals;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "settings-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { ASSERT_TRUE(remove_tree(directory_)); }

  std::string write(const std::string& name, const std::string& content) {
    const std::string path = join(directory_, name);
    std::ofstream(path) << content;
    return path;
  }
  // The error of loading one site file with this content.
  std::string error_of(const std::string& content) {
    Sources sources;
    sources.site_file = write("site.toml", content);
    const auto loaded = load(sources);
    if (loaded) return "no error";
    EXPECT_EQ(loaded.error().code, Code::bad_input);
    return loaded.error().text();
  }

  std::string directory_;
};

TEST_F(Files, without_any_source_the_defaults_hold) {
  const auto loaded = load(Sources{});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(to_json(*loaded), to_json(Settings{}));
  EXPECT_EQ(loaded->pool.memory_share, 0.25);
  EXPECT_EQ(loaded->drain.safe_interval, 10min);
  EXPECT_FALSE(loaded->drain.bandwidth);
}

TEST_F(Files, missing_site_and_user_files_are_fine) {
  Sources sources;
  sources.site_file = join(directory_, "none.toml");
  sources.user_file = join(directory_, "no/such/directory.toml");
  EXPECT_TRUE(load(sources));
}

TEST_F(Files, a_file_that_FOREBAY_CONFIG_names_must_exist) {
  Sources sources;
  sources.named_file = join(directory_, "none.toml");
  const auto loaded = load(sources);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text().find("none.toml"), std::string::npos);
  EXPECT_NE(loaded.error().text().find("FOREBAY_CONFIG"), std::string::npos);
}

TEST_F(Files, later_sources_win_key_by_key) {
  Sources sources;
  sources.site_file =
      write("site.toml", "[drain]\nthreads = 1\nbandwidth = \"1GB\"\nsettle = 5\n[stage]\nthreads = 9\n");
  sources.user_file = write("user.toml", "drain.threads = 2\n[pool]\npaths = [\"/mnt/a\", \"/mnt/b\"]\n");
  sources.named_file = write("named.toml", "[drain]\nthreads = 3\nlayout = \"collated\"\n");
  sources.environment = {{"FOREBAY_DRAIN_THREADS", "4"}, {"FOREBAY_DRAIN_SETTLE", "250ms"}};
  const auto loaded = load(sources);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->drain.threads, 4);
  EXPECT_EQ(loaded->drain.settle, 250ms);
  EXPECT_EQ(loaded->drain.layout, Layout::collated);
  EXPECT_EQ(loaded->drain.bandwidth, 1'000'000'000u);
  EXPECT_EQ(loaded->stage.threads, 9);
  EXPECT_EQ(loaded->pool.paths, (std::vector<std::string>{"/mnt/a", "/mnt/b"}));
}

TEST_F(Files, every_key_can_be_set_by_its_environment_variable) {
  Sources sources;
  const auto set = [&](const char* name, const char* value) { sources.environment.emplace_back(name, value); };
  set("FOREBAY_POOL_PATHS", "/mnt/pmem{socket}");
  set("FOREBAY_POOL_MEMORY_SHARE", "0.5");
  set("FOREBAY_POOL_BUDGET", "2GiB");
  set("FOREBAY_POOL_HIGH_WATER", "0.9");
  set("FOREBAY_POOL_LOW_WATER", "0.1");
  set("FOREBAY_RUN_VIA", "namespace");
  set("FOREBAY_STAGE_THREADS", "7");
  set("FOREBAY_STAGE_COPY", "constant/*:system/*");
  set("FOREBAY_STAGE_DIRECT", "logs");
  set("FOREBAY_STAGE_WATCH", "settings");
  set("FOREBAY_DRAIN_THREADS", "8");
  set("FOREBAY_DRAIN_BANDWIDTH", "100M");
  set("FOREBAY_DRAIN_WHEN", "end");
  set("FOREBAY_DRAIN_VERIFY", "read-back");
  set("FOREBAY_DRAIN_LAYOUT", "collated");
  set("FOREBAY_DRAIN_SAFE_INTERVAL", "1h");
  set("FOREBAY_DRAIN_SETTLE", "0.5");
  set("FOREBAY_DRAIN_REFRESH", "3s");
  set("FOREBAY_DRAIN_PATIENCE", "90s");
  set("FOREBAY_DRAIN_SILENCE", "30s");
  set("FOREBAY_DRAIN_CHECKPOINTS", "checkpoint");
  ASSERT_EQ(sources.environment.size(), keys().size()) << "a key is missing in this test";
  const auto loaded = load(sources);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->pool.paths, std::vector<std::string>{"/mnt/pmem{socket}"});
  EXPECT_EQ(loaded->pool.memory_share, 0.5);
  EXPECT_EQ(loaded->pool.budget, 2147483648u);
  EXPECT_EQ(loaded->pool.high_water, 0.9);
  EXPECT_EQ(loaded->pool.low_water, 0.1);
  EXPECT_EQ(loaded->run.via, Via::namespaces);
  EXPECT_EQ(loaded->stage.threads, 7);
  EXPECT_EQ(loaded->stage.copy, (std::vector<std::string>{"constant/*", "system/*"}));
  EXPECT_EQ(loaded->stage.direct, std::vector<std::string>{"logs"});
  EXPECT_EQ(loaded->stage.watch, std::vector<std::string>{"settings"});
  EXPECT_EQ(loaded->drain.threads, 8);
  EXPECT_EQ(loaded->drain.bandwidth, 100'000'000u);
  EXPECT_EQ(loaded->drain.when, DrainWhen::end);
  EXPECT_EQ(loaded->drain.verify, Verify::read_back);
  EXPECT_EQ(loaded->drain.layout, Layout::collated);
  EXPECT_EQ(loaded->drain.safe_interval, 1h);
  EXPECT_EQ(loaded->drain.settle, 500ms);
  EXPECT_EQ(loaded->drain.refresh, 3s);
  EXPECT_EQ(loaded->drain.patience, 90s);
  EXPECT_EQ(loaded->drain.silence, 30s);
  EXPECT_EQ(loaded->drain.checkpoints, std::vector<std::string>{"checkpoint"});
  const auto again = from_json(to_json(*loaded));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), to_json(*loaded));
}

TEST_F(Files, an_empty_variable_gives_the_default) {
  Sources sources;
  sources.site_file = write("site.toml", "[drain]\nthreads = 1\n");
  sources.environment = {{"FOREBAY_DRAIN_THREADS", ""}};
  const auto loaded = load(sources);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->drain.threads, Settings{}.drain.threads);
}

TEST_F(Files, an_unknown_key_names_file_line_and_the_nearest_key) {
  const std::string text = error_of("[drain]\nthreads = 2\nbandwith = \"1GB\"\n");
  EXPECT_NE(text.find("site.toml:3:12: unknown key drain.bandwith"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean drain.bandwidth?"), std::string::npos) << text;
}

TEST_F(Files, an_unknown_section_is_an_error) {
  EXPECT_NE(error_of("[pol]\nbudget = 1\n").find("did you mean pool.budget?"), std::string::npos);
  EXPECT_NE(error_of("budget = 1\n").find("unknown key budget"), std::string::npos);
}

TEST_F(Files, a_value_of_the_wrong_type_names_file_line_key_and_what_it_takes) {
  const std::string text = error_of("\n[stage]\nthreads = \"four\"\n");
  EXPECT_NE(text.find("site.toml:3:11: stage.threads cannot be \"four\""), std::string::npos) << text;
  EXPECT_NE(text.find("whole number from 1 to 1024"), std::string::npos) << text;
  for (const char* wrong : {"pool.paths = \"/mnt\"",
                            "pool.paths = [1]",
                            "pool.paths = [\"\"]",
                            "pool.memory_share = 0",
                            "pool.memory_share = 1.5",
                            "pool.memory_share = nan",
                            "pool.memory_share = \"0.5\"",
                            "pool.budget = -1",
                            "pool.budget = 0",
                            "pool.budget = 1.5",
                            "pool.budget = \"much\"",
                            "run.via = \"overlay\"",
                            "run.via = 1",
                            "stage.threads = 0",
                            "stage.threads = 1.0",
                            "stage.threads = 99999999999",
                            "drain.settle = -1",
                            "drain.settle = \"2 days\"",
                            "drain.settle = true",
                            "drain.safe_interval = \"0s\"",
                            "drain.when = 2020-01-01",
                            "drain.verify = [\"written\"]",
                            "drain.threads.x = 1"}) {
    const std::string what = error_of(std::string(wrong) + "\n");
    EXPECT_NE(what.find("site.toml:1:"), std::string::npos) << wrong << " gave: " << what;
  }
}

TEST_F(Files, a_file_that_is_not_TOML_names_the_line) {
  for (const char* wrong : {"[drain]\nthreads = \n", "[drain]\nthreads = 1\nthreads\n", "\n\n[drain\n"}) {
    const std::string text = error_of(wrong);
    EXPECT_NE(text.find("site.toml:"), std::string::npos) << text;
    EXPECT_NE(text.find("not TOML"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  EXPECT_NE(error_of("[drain]\nthreads = 1\nthreads = 2\n").find("not TOML"), std::string::npos);
}

TEST_F(Files, what_is_not_TOML_has_a_column_and_a_hint) {
  const std::pair<const char*, const char*> lines[] = {
      {"when = live", "texts have quotes: when = \"live\""},
      {"safe_interval = 10min # often", "texts have quotes: safe_interval = \"10min\""},
      {"when = \"live", "the closing quote is missing: when = \"live\""},
      {"when = 'live", "the closing quote is missing: when = 'live'"},
      {"checkpoints = [a, b]", "texts in a list have quotes"},
      {"when", "a line is a [section], or key = value"},
      {"when =", "a value is missing behind ="},
      {"[stage", "a section ends with ]"}};
  for (const auto& [line, hint] : lines) {
    const std::string text = error_of(std::string("[drain]\n") + line + "\n");
    EXPECT_NE(text.find(hint), std::string::npos) << line << " gave: " << text;
    const std::size_t at = text.find("site.toml:");
    ASSERT_NE(at, std::string::npos) << text;
    int number = 0, column = 0;
    EXPECT_EQ(std::sscanf(text.c_str() + at, "site.toml:%d:%d: ", &number, &column), 2) << text;
    EXPECT_GT(column, 0) << text;
  }
}

TEST_F(Files, an_empty_file_and_one_of_comments_change_nothing) {
  EXPECT_EQ(error_of(""), "no error");
  EXPECT_EQ(error_of("\n"), "no error");
  EXPECT_EQ(error_of("# nothing\n"), "no error");
}

TEST_F(Files, a_mistyped_variable_is_an_error_but_those_of_other_parts_are_left_alone) {
  Sources sources;
  sources.environment = {{"FOREBAY_REDIRECT_MAP", "/x"}, {"FOREBAY_RUN", "/y"}};
  EXPECT_TRUE(load(sources));
  sources.environment = {{"FOREBAY_POOL_PATH", "/x"}};
  const auto loaded = load(sources);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text().find("did you mean FOREBAY_POOL_PATHS?"), std::string::npos);
}

TEST_F(Files, the_low_water_mark_must_lie_below_the_high_one) {
  const std::string text = error_of("[pool]\nhigh_water = 0.5\nlow_water = 0.5\n");
  EXPECT_NE(text.find("pool.low_water (0.5) is not below pool.high_water (0.5)"), std::string::npos) << text;
}

TEST(Assign, names_where_the_text_came_from) {
  Settings settings;
  EXPECT_TRUE(assign(settings, "run.via", "redirect", "--via"));
  EXPECT_EQ(settings.run.via, Via::redirect);
  const auto wrong = assign(settings, "run.via", "overlay", "--via");
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().text().starts_with("--via: run.via cannot be \"overlay\"")) << wrong.error().text();
  EXPECT_EQ(settings.run.via, Via::redirect);
}

TEST(Assign, refuses_bytes_that_the_plan_could_not_carry) {
  Settings settings;
  EXPECT_FALSE(assign(settings, "pool.paths", "/mnt/\xff", "--pool"));
  EXPECT_TRUE(assign(settings, "pool.paths", "/mnt/pmém", "--pool"));
}

TEST(Json, survives_the_round_trip_exactly) {
  Settings settings;
  settings.pool.memory_share = 0.1 + 0.2;
  settings.pool.budget = 9'007'199'254'740'993;  // not a double
  settings.drain.settle = 1234ms;
  settings.drain.safe_interval = 90s;
  settings.pool.paths = {"/mnt/with \"quotes\"", "/mnt/with\nnewline"};
  const auto again = from_json(to_json(settings));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->pool.memory_share, settings.pool.memory_share);
  EXPECT_EQ(again->pool.budget, settings.pool.budget);
  EXPECT_EQ(again->drain.settle, settings.drain.settle);
  EXPECT_EQ(again->drain.safe_interval, settings.drain.safe_interval);
  EXPECT_EQ(again->pool.paths, settings.pool.paths);
}

TEST(Json, of_something_else_is_an_error) {
  for (const char* wrong : {"", "[]", "{\"pool\": 1}", "{\"pool\": {\"size\": 1}}", "{\"run\": {\"via\": 1}}", "{"})
    EXPECT_FALSE(from_json(wrong)) << wrong;
}

TEST(Keys, give_their_defaults_as_a_file_would_say_them) {
  Settings settings;
  settings.stage.threads = 99;
  for (const Key& key : keys()) {
    EXPECT_FALSE(key.meaning.empty()) << key.name;
    EXPECT_EQ(key.default_text, value_text(Settings{}, key.name));
  }
  EXPECT_EQ(value_text(settings, "stage.threads"), "99");
  EXPECT_EQ(value_text(settings, "drain.safe_interval"), "\"10min\"");
  EXPECT_EQ(value_text(settings, "drain.bandwidth"), "\"none\"");
}

std::string keys_as_markdown() {
  std::string text = "| key | takes | default | environment | meaning |\n|---|---|---|---|---|\n";
  for (const Key& key : keys())
    text += fmt::format("| `{}` | {} | `{}` | `{}` | {} |\n", key.name, key.type, key.default_text, key.environment,
                        key.meaning);
  return text;
}

TEST(Documentation, holds_the_table_of_keys_as_it_is) {
  const std::string page = std::string(parent_of(__FILE__)) + "/../../../../docs/run/configuration.md";
  const auto text = read_file(page);
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_NE(text->find(keys_as_markdown()), std::string::npos) << "docs/run/configuration.md should hold this table:\n"
                                                               << keys_as_markdown();
}

}  // namespace
}  // namespace forebay::settings
