#include "world.h"

namespace forebay::simulator {
namespace {
std::string planted;
}

void plant(std::string mistake) {
  planted = std::move(mistake);
}
bool wrong(const char* mistake) {
  return !planted.empty() && planted == mistake;
}

void Node::forget(const File& file) {
  if (!file.named && file.writers == 0 && file.holds == 0) used -= static_cast<int>(file.bytes.size());
}

void Node::unlink(Directory& directory, const std::string& name) {
  const FilePointer file = directory.at(name);
  directory.erase(name);
  file->named = false;
  forget(*file);
}

void Node::release(const StateId& state) {
  const auto files = taken.extract(state);
  for (const auto& [rank, part] : files.mapped())
    for (const auto& [path, each] : part.files) {
      --each.file->holds;
      forget(*each.file);
    }
}

const CaseFiles* Case::find(Rank rank, const std::string& time, const Visit& visit) const {
  const auto found = directories.find({rank, time});
  if (found != directories.end() && found->second.visit == visit) return &found->second.files;
  const auto beside = aside.find({rank, time, visit});
  return beside == aside.end() ? nullptr : &beside->second;
}

}  // namespace forebay::simulator
