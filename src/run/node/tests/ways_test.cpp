#include "run/node/ways.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/node/observe.h"

namespace forebay::node {
namespace {

WayFacts facts(bool user, bool root, const std::string& library) {
  return {user, root, user || root ? "" : "unshare failed: Operation not permitted", library};
}
Way chosen(const WayFacts& found) {
  return choose_way(found, std::nullopt)->way;
}

TEST(ChooseWay, takes_namespaces_then_the_library_then_the_path) {
  EXPECT_EQ(chosen(facts(true, false, "/lib/x.so")), Way::namespaces);
  EXPECT_EQ(chosen(facts(false, true, "/lib/x.so")), Way::namespaces);
  EXPECT_EQ(chosen(facts(false, false, "/lib/x.so")), Way::redirect);
  EXPECT_EQ(chosen(facts(false, false, "")), Way::path);
}

TEST(ChooseWay, says_why_namespaces_were_not_taken) {
  EXPECT_NE(choose_way(facts(false, false, "/lib/x.so"), std::nullopt)->why.find("not permitted"), std::string::npos);
}

TEST(ChooseWay, takes_what_is_forced_where_it_works) {
  EXPECT_EQ(choose_way(facts(true, false, "/lib/x.so"), Way::redirect)->way, Way::redirect);
  EXPECT_EQ(choose_way(facts(true, false, ""), Way::path)->way, Way::path);
  EXPECT_EQ(choose_way(facts(false, true, ""), Way::namespaces)->way, Way::namespaces);
}

TEST(ChooseWay, refuses_what_cannot_work_and_names_another_way) {
  const auto no_namespaces = choose_way(facts(false, false, "/lib/x.so"), Way::namespaces);
  ASSERT_FALSE(no_namespaces);
  EXPECT_EQ(no_namespaces.error().code, Code::bad_input);
  EXPECT_NE(no_namespaces.error().text().find("Operation not permitted"), std::string::npos);
  EXPECT_NE(no_namespaces.error().text().find("--via redirect"), std::string::npos);
  const auto no_library = choose_way(facts(true, false, ""), Way::redirect);
  ASSERT_FALSE(no_library);
  EXPECT_NE(no_library.error().text().find("--via namespace"), std::string::npos);
}

TEST(TryNamespaces, leaves_this_process_in_its_own) {
  const auto mount_before = read_link("/proc/self/ns/mnt"), user_before = read_link("/proc/self/ns/user");
  (void)observe_ways();
  EXPECT_EQ(*read_link("/proc/self/ns/mnt"), *mount_before);
  EXPECT_EQ(*read_link("/proc/self/ns/user"), *user_before);
}

TEST(TryNamespaces, names_the_step_that_failed) {
  // An ordinary user may not make a mount namespace without a user namespace around it.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    const Status tried = try_namespaces(false);
    ::_exit(!tried && tried.error().text() == "unshare failed: Operation not permitted" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace forebay::node
