#include "store/codec/workspace.h"

#include <lz4.h>

#include "store/codec/parts.h"

namespace forebay::codec {

Workspace::Workspace() = default;
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Workspace::Parts* Workspace::parts() {
  if (parts_) return parts_.get();
  std::unique_ptr<Parts> made(new (std::nothrow) Parts);
  if (!made) return nullptr;
  made->compressor.reset(ZSTD_createCCtx());
  made->decompressor.reset(ZSTD_createDCtx());
  const bool whole = made->compressor && made->decompressor && !made->words.grow(kBlockWords * kWordBytes).empty() &&
                     !made->plane.grow(kBlockWords).empty() && !made->shuffled.grow(kBlockWords).empty() &&
                     !made->lz4.grow(static_cast<std::size_t>(LZ4_sizeofState())).empty();
  if (!whole) return nullptr;
  parts_ = std::move(made);
  return parts_.get();
}

}  // namespace forebay::codec
