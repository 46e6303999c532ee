// A program that has found a file by its name, but has not opened it yet.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "base/base.h"
#include "base/tests/asleep.h"

namespace forebay::drain {

class LateWriter {
 public:
  explicit LateWriter(const std::string& path) : found_(::open(path.c_str(), O_PATH)) {
    EXPECT_GE(found_.get(), 0);
    ::signal(SIGIO, SIG_IGN);  // as in the agent, which holds the lease
  }
  ~LateWriter() {
    if (thread_.joinable()) thread_.join();
  }
  LateWriter(const LateWriter&) = delete;
  LateWriter& operator=(const LateWriter&) = delete;

  // Appends, in a thread of its own. When this returns it waits for the file, or has written.
  void open_and_write(const std::string& text) {
    thread_ = std::thread([this, text] {
      const std::string path = "/proc/self/fd/" + std::to_string(found_.get());
      writer_ = gettid();
      const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND));
      EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
      has_written_ = true;
    });
    while (!has_written_ && !is_asleep(writer_)) std::this_thread::yield();
  }
  bool has_written() const { return has_written_; }

 private:
  Descriptor found_;
  std::atomic<pid_t> writer_ = 0;
  std::atomic<bool> has_written_ = false;
  std::thread thread_;
};

}  // namespace forebay::drain
