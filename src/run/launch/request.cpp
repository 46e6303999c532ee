#include "run/launch/request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/pulse.h"
#include "run/launch/plan.h"

namespace forebay::launch {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StopRequest, name, run, now, waits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunEnd, run, exit_status, last_safe)
namespace {

using nlohmann::json;

// A command that waits for the end looks four times a second (cli/stop.cpp).
constexpr std::chrono::milliseconds reads_end_within{3'000}, look_again_after{50};
constexpr std::size_t most_bytes = std::size_t{1} << 20;

Result<std::string> text_of(const Descriptor& file, const std::string& path, std::size_t size) {
  if (size > most_bytes) return error(Code::bad_input, "too large to be changed:", path);
  return read_part(file.get(), 0, size, path);
}

Result<drain::CaseFile> file_of_case(int control_directory, const std::string& path) {
  const MayHang call(path);
  const auto file = open_file_at(control_directory, "../" + path, O_RDONLY);
  if (!file) return error(Code::bad_input, "cannot be read on the case:", path, file.error().text());
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return errno_error("cannot read", path);
  auto text = text_of(*file, path, static_cast<std::size_t>(status.st_size));
  if (!text) return forward(text);
  return drain::CaseFile{std::move(*text), status.st_mode & 07777U, status.st_mtim};
}

Status write_in_place(const std::string& path, const std::string& text) {
  const auto file = open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW);
  if (!file) return forward(file);
  if (auto written = write_all(file->get(), text, path); !written) return written;
  if (::ftruncate(file->get(), static_cast<off_t>(text.size())) != 0) return errno_error("cannot write", path);
  return {};
}

}  // namespace

std::string to_json(const StopRequest& request) {
  return json(request).dump();
}

std::string to_json(const RunEnd& end) {
  return json(end).dump();
}

Result<StopRequest> stop_request_from_json(const std::string& text) {
  try {
    return json::parse(text).get<StopRequest>();
  } catch (const json::exception& failure) {
    return error(Code::failed, std::string("not a request (") + failure.what() + ")");
  }
}

std::optional<StopRequest> request_in(int control_directory) {
  const MayHang call(request_name);
  const auto file = open_file_at(control_directory, request_name, O_RDONLY | O_NOFOLLOW);
  struct stat status {};
  if (!file || ::fstat(file->get(), &status) != 0 || status.st_size == 0) return std::nullopt;
  const auto text = text_of(*file, request_name, static_cast<std::size_t>(status.st_size));
  if (!text) return std::nullopt;
  auto request = stop_request_from_json(*text);
  return request ? std::optional(std::move(*request)) : std::nullopt;
}

Asked with_control_dict(StopRequest request, int control_directory) {
  return {std::move(request), file_of_case(control_directory, control_dict)};
}

Status put_request(const std::string& case_path, const StopRequest& request) {
  return write_in_place(join(control_directory(case_path), request_name), to_json(request));
}

void take_back_request(const std::string& case_path) {
  if (has_control_directory(case_path)) (void)write_in_place(join(control_directory(case_path), request_name), "");
}

std::optional<RunEnd> read_end(const std::string& case_path) {
  const MayHang call(case_path);
  const auto text = read_file(join(control_directory(case_path), end_name), most_bytes);
  if (!text) return std::nullopt;
  try {
    return json::parse(*text).get<RunEnd>();
  } catch (const json::exception&) {
    return std::nullopt;  // it is just being written
  }
}

void tell_end(const std::string& case_path, const RunEnd& end, Clock& clock) {
  const auto directory = open_file(control_directory(case_path), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!directory) return;
  const auto waits = [&] {
    const auto request = request_in(directory->get());
    return request && request->run == end.run && request->waits;
  };
  if (!waits() || !replace_file(join(control_directory(case_path), end_name), to_json(end))) return;
  const auto until = clock.now() + reads_end_within;
  while (waits() && clock.now() < until) clock.sleep(look_again_after);
}

}  // namespace forebay::launch
