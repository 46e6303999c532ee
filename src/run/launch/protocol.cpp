#include "run/launch/protocol.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace forebay::launch {
namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{1} << 17;

Status send_text(int socket, const std::string& text, const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return errno_error("cannot talk to the node's agent", "");
  return {};
}

Result<std::string> receive_text(int socket, std::vector<Descriptor>& descriptors) {
  std::string text(most_bytes, '\0');
  iovec part{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno_error("cannot talk to the node's agent", "");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      descriptors.emplace_back(fd);
    }
  }
  if (got == 0) return error(Code::failed, "the node's agent went away", "", "see agent.log in the run's pool");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

Result<json> parse(const Result<std::string>& text) {
  if (!text) return forward(text);
  json parsed = json::parse(*text, nullptr, false);
  if (!parsed.is_object()) return error(Code::failed, "a message on the node's socket is not understood");
  return parsed;
}

std::string word(const json& from, const char* key) {
  return unescape(from.value(key, "%")).value_or(std::string());
}

// An address in the abstract namespace is a zero byte, then the name without a final one.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size)};
}

}  // namespace

Status send_hello(int socket, const Hello& hello) {
  const json message{{"rank", hello.rank}, {"size", hello.size}, {"on_node", hello.on_node},
                     {"cpus", hello.cpus}, {"cpu", hello.cpu},   {"program", escape(hello.program)}};
  return send_text(socket, message.dump(), {});
}

Result<Hello> receive_hello(int socket) {
  std::vector<Descriptor> none;
  auto message = parse(receive_text(socket, none));
  if (!message) return forward(message);
  try {
    return Hello{message->at("rank"), message->at("size"), message->at("on_node"),
                 message->at("cpus"), message->at("cpu"),  word(*message, "program")};
  } catch (const json::exception&) {
    return error(Code::failed, "a hello on the node's socket is not understood");
  }
}

Status send_welcome(int socket, const Welcome& welcome, int user, int mount) {
  json environment = json::object();
  for (const auto& [name, value] : welcome.environment) environment[name] = escape(value);
  const json message{
      {"error", escape(welcome.error)},       {"code", welcome.error_code},   {"case", escape(welcome.case_path)},
      {"typed", escape(welcome.typed_path)},  {"tree", escape(welcome.tree)}, {"rewrite", welcome.rewrite_arguments},
      {"namespace", welcome.enter_namespace}, {"environment", environment},   {"preload", escape(welcome.preload)}};
  std::vector<int> descriptors;
  if (mount >= 0) descriptors.push_back(mount);
  if (user >= 0) descriptors.push_back(user);
  return send_text(socket, message.dump(), descriptors);
}

Result<Welcome> receive_welcome(int socket, Descriptor& user, Descriptor& mount) {
  std::vector<Descriptor> descriptors;
  auto message = parse(receive_text(socket, descriptors));
  if (!message) return forward(message);
  if (!descriptors.empty()) mount = std::move(descriptors[0]);
  if (descriptors.size() > 1) user = std::move(descriptors[1]);
  Welcome welcome;
  welcome.error = word(*message, "error");
  welcome.error_code = message->value("code", 1);
  welcome.case_path = word(*message, "case");
  welcome.typed_path = word(*message, "typed");
  welcome.tree = word(*message, "tree");
  welcome.rewrite_arguments = message->value("rewrite", false);
  welcome.enter_namespace = message->value("namespace", false);
  const json environment = message->value("environment", json::object());
  for (const auto& [name, value] : environment.items())
    if (value.is_string()) welcome.environment[name] = unescape(value.get<std::string>()).value_or(std::string());
  welcome.preload = word(*message, "preload");
  return welcome;
}

Meeting meeting_of(const Plan& plan) {
  // Nodes that share a network namespace are told apart by their names.
  const std::string node = hex(checksum(host_name()));
  const std::size_t half = plan.meeting.size() / 2;
  return {fmt::format("forebay-{}-{}", plan.meeting.substr(0, half), node),
          fmt::format("forebay-{}-{}", plan.meeting.substr(half), node)};
}

Result<std::optional<Descriptor>> take_name(const std::string& name) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return errno_error("cannot make a socket", name);
  const auto [address, length] = address_of(name);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0)
    return std::optional(std::move(socket));
  if (errno == EADDRINUSE) return std::optional<Descriptor>();
  return errno_error("cannot take the name of a socket", name);
}

Result<Descriptor> listen_at(const std::string& name) {
  auto socket = take_name(name);
  if (!socket) return forward(socket);
  if (!*socket || ::listen((*socket)->get(), 1024) != 0) return errno_error("cannot listen at", name);
  return std::move(**socket);
}

Result<Descriptor> connect_to(const std::string& name) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return errno_error("cannot make a socket", name);
  const auto [address, length] = address_of(name);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    return errno_error("cannot reach the node's agent at", name);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return errno_error("cannot tell who listens at", name);
  if (peer.uid != ::geteuid()) return error(Code::failed, "another user listens in the agent's place at", name);
  return socket;
}

}  // namespace forebay::launch
