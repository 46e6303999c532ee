// The memory that encoding and decoding need beside the caller's buffers. It grows with the first fields, then stays.
#pragma once

#include <cstddef>
#include <memory>

namespace forebay::codec {

class Workspace {
 public:
  Workspace();  // allocates nothing yet
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  struct Parts;
  // nullptr: no memory. It is for this room alone.
  Parts* parts();

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace forebay::codec
