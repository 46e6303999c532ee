// Takes turns at a pool: persistent memory gets slower when more than a few write to it at once, so the
// processes of a node that carry segments into one pool in the background let only a few of them do so at a time.
#pragma once

#include <optional>
#include <string>

#include "base/base.h"

namespace forebay::segment {

class Turn {
 public:
  // One of `limit` turns at the directory `pool`; nullopt when all are taken. Given back at the end of its life, also
  // by a process that dies: a turn is the name of an abstract socket, which needs no file and no other process.
  static std::optional<Turn> take(const std::string& pool, unsigned limit);
  // The same, waiting for as long as it takes.
  static Turn wait(const std::string& pool, unsigned limit);

 private:
  explicit Turn(Descriptor socket) : socket_(std::move(socket)) {}
  Descriptor socket_;  // without one there are no turns to take here, and nobody waits
};

}  // namespace forebay::segment
