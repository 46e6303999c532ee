#include "run/launch/exec.h"

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

TEST(TasksOfNode, ReadsSlurmsListOfTasksPerNode) {
  EXPECT_EQ(tasks_of_node("4", 0), 4);
  EXPECT_EQ(tasks_of_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_of_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_of_node("1,2,3", 1), 2);
}

TEST(TasksOfNode, SaysNothingOfWhatItDoesNotUnderstand) {
  for (const char* text : {"", "x", "4(x", "4(x0)", "4(xx)", ",", "4(x2)"})
    EXPECT_EQ(tasks_of_node(text, 2), 0) << text;
}

}  // namespace
}  // namespace forebay::launch
