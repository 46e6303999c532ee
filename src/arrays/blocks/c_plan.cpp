// The C interface to teams, plans and lists; and its errors.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/status_of.h"
#include "arrays/blocks/c_handles.h"
#include "arrays/blocks/lists.h"

using namespace forebay::blocks;
using forebay::Code;
using forebay::Status;

namespace {

PlanRequest request_of(const forebay_options* options) {
  PlanRequest request;
  if (const auto bytes = number_of(options, "least-bytes"))
    request.blocks.least_bytes = static_cast<std::uint64_t>(*bytes);
  request.blocks.rank_step = static_cast<int>(number_of(options, "rank-step").value_or(0));
  request.blocks.most_blocks = static_cast<int>(number_of(options, "most-blocks").value_or(0));
  const char* shared = forebay_options_get(options, "shared");
  request.shared = shared != nullptr && std::string_view(shared) == "on" ? Shared::once : Shared::refused;
  return request;
}

Status hand_out(forebay::Result<Plan> made, forebay_plan** plan) {
  if (!made) return forward(made);
  *plan = new forebay_plan(std::move(*made));
  return {};
}

// Room for a block in the memory of the node, where the ranks agree about what is to be moved.
Status make_room(forebay_plan& plan, const void* items, std::size_t item_bytes, const void* block) {
  const Team& team = plan.value.team();
  Status mine = given("items", items, plan.value.local_items());
  if (mine) mine = given("items of the block", block, plan.value.block().count);
  if (mine && (item_bytes == 0 || item_bytes > std::numeric_limits<std::int32_t>::max())) {
    mine = forebay::error(Code::bad_input,
                          "items cannot have " + forebay::plural(static_cast<std::uint64_t>(item_bytes), "byte"));
  }
  if (auto ok = team.agree(mine); !ok) return ok;
  const Status differ = forebay::error(Code::bad_input, "ranks do not agree about the bytes of an item");
  if (auto ok = team.agree_on(item_bytes, differ); !ok) return ok;
  return team.agree(plan.image.reserve(team.node(), plan.exchange.layout().items * item_bytes));
}

}  // namespace

namespace forebay::blocks {

int report(const Error& error) noexcept {
  try {
    return forebay_error_set(api::status_of(error), error.text().c_str());
  } catch (...) {
    return forebay_error_set(api::status_of(error), "no memory for the words of an error");
  }
}

int missing(const char* what) noexcept {
  return run_alone([&] { return given(what, nullptr); });
}

Status given(const char* what, const void* argument) {
  if (argument != nullptr) return {};
  return error(Code::bad_input, fmt::format("the {} is missing (NULL)", what));
}

Status given(const char* what, const void* memory, std::uint64_t count) {
  if (memory != nullptr || count == 0) return {};
  return error(Code::bad_input, fmt::format("the {} are missing (NULL) where there are {}", what, count));
}

Status check_options(const forebay_options* options, const char* user) {
  if (forebay_options_check(options, user) == FOREBAY_OK) return {};
  return error(Code::bad_input, forebay_error_get_text());
}

std::optional<std::int64_t> number_of(const forebay_options* options, const char* key) {
  const char* text = forebay_options_get(options, key);
  return text == nullptr ? std::nullopt : parse_integer(text);
}

}  // namespace forebay::blocks

namespace {

// `communicator_of` is asked only where the program's MPI is of the library's family: another one's handles differ.
template <class CommunicatorOf>
int create_team(const CommunicatorOf& communicator_of, const forebay_options* options, forebay_team** team) {
  assign(team, nullptr);
  if (const forebay::Status family = forebay::blocks::check_family(); !family) return run_alone([&] { return family; });
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0 || ended != 0) {
    return run_alone([]() -> Status {
      return forebay::error(Code::bad_input,
                            "MPI is not initialized, or it is another one than this library was built with", {},
                            "call MPI_Init first; build both with the same MPI");
    });
  }
  const MPI_Comm communicator = communicator_of();
  if (communicator == MPI_COMM_NULL) return missing("communicator");
  return run(communicator, [&]() -> Status {
    Status mine = given("place for the team", team);
    if (mine) mine = check_options(options, "team");
    if (auto ok = agree(communicator, mine); !ok) return ok;
    auto made = Team::of(communicator, static_cast<int>(number_of(options, "most-per-node").value_or(0)));
    if (!made) return forward(made);
    *team = new forebay_team{std::move(*made)};
    return {};
  });
}

}  // namespace

extern "C" {

// --- the ranks ---

int forebay_team_create(MPI_Comm communicator, const forebay_options* options, forebay_team** team) {
  return create_team([&] { return communicator; }, options, team);
}

int forebay_team_create_f(MPI_Fint communicator, const forebay_options* options, forebay_team** team) {
  return create_team([&] { return MPI_Comm_f2c(communicator); }, options, team);
}

// The status travels with the words: it may be one that no room below knows.
int forebay_team_agree(forebay_team* team, int status, const char* words) {
  if (team == nullptr) return missing("team");
  int of_all = FOREBAY_OK;
  std::string text;
  const int failed = run(team->value.all(), [&]() -> Status {
    Status mine;
    if (status != FOREBAY_OK) {
      mine = forebay::error(Code::failed, fmt::format("{} {}", status, words == nullptr ? "" : words));
    }
    const Status agreed = team->value.agree(mine);
    if (agreed) return {};
    const std::string& text_of_all = agreed.error().what;
    const std::size_t end = text_of_all.find(' ');
    of_all =
        static_cast<int>(forebay::parse_integer(std::string_view(text_of_all).substr(0, end)).value_or(FOREBAY_E_IO));
    text = text_of_all.substr(end + 1);
    return {};
  });
  if (failed != FOREBAY_OK || of_all == FOREBAY_OK) return failed;
  return forebay_error_set(static_cast<forebay_status>(of_all), text.c_str());
}

void forebay_team_free(forebay_team* team) {
  delete team;
}

// --- plans ---

int forebay_plan_create(forebay_team* team, const uint64_t* numbers, uint64_t count, uint64_t items,
                        const forebay_options* options, forebay_plan** plan) {
  assign(plan, nullptr);
  if (team == nullptr) return missing("team");
  return run(team->value.all(), [&]() -> Status {
    Status mine = given("place for the plan", plan);
    if (mine) mine = check_options(options, "plan");
    if (mine) mine = given("global numbers", numbers, count);
    if (auto ok = team->value.agree(mine); !ok) return ok;
    return hand_out(Plan::make(team->value, std::span(numbers, count), items, request_of(options)), plan);
  });
}

void forebay_plan_free(forebay_plan* plan) {
  delete plan;
}

int forebay_plan_get_block(const forebay_plan* plan, uint64_t* first, uint64_t* count) {
  if (plan == nullptr) return missing("plan");
  const Range block = plan->value.block();
  assign(first, block.first + 1);
  assign(count, block.count);
  return FOREBAY_OK;
}

int forebay_plan_move_to_block(forebay_plan* plan, const void* items, size_t item_bytes, void* block) {
  if (plan == nullptr) return missing("plan");
  const Team& team = plan->value.team();
  return run(team.all(), [&]() -> Status {
    if (auto ok = make_room(*plan, items, item_bytes, block); !ok) return ok;
    std::byte* image = plan->image.data();
    if (auto ok = plan->exchange.to_image(static_cast<const std::byte*>(items), item_bytes, image); !ok) return ok;
    const auto mine = plan->exchange.my_block(image, item_bytes);
    std::copy(mine.begin(), mine.end(), static_cast<std::byte*>(block));
    team.meet_on_node();  // nobody stores the next items while somebody still copies these
    return {};
  });
}

int forebay_plan_move_from_block(forebay_plan* plan, const void* block, size_t item_bytes, void* items) {
  if (plan == nullptr) return missing("plan");
  return run(plan->value.team().all(), [&]() -> Status {
    if (auto ok = make_room(*plan, items, item_bytes, block); !ok) return ok;
    std::byte* image = plan->image.data();
    const auto mine = plan->exchange.my_block(image, item_bytes);
    std::copy_n(static_cast<const std::byte*>(block), mine.size(), mine.begin());
    return plan->exchange.from_image(image, item_bytes, static_cast<std::byte*>(items));
  });
}

// --- lists ---

int forebay_plan_number_lists(forebay_plan* items, const uint64_t* lengths, uint64_t* ranges, uint64_t* values) {
  if (items == nullptr) return missing("plan");
  const Team& team = items->value.team();
  const std::uint64_t count = items->value.local_items();
  return run(team.all(), [&]() -> Status {
    Status mine = given("lengths", lengths, count);
    if (mine) mine = given("ranges", ranges, count);
    if (auto ok = team.agree(mine); !ok) return ok;
    auto lists = number_lists(items->exchange, std::span(lengths, count));
    if (!lists) return forward(lists);
    for (const ListRange& range : lists->ranges) {
      *ranges++ = range.first;
      *ranges++ = range.end;
    }
    assign(values, lists->values);
    return {};
  });
}

int forebay_plan_create_lists(forebay_team* team, const uint64_t* ranges, uint64_t lists, uint64_t values,
                              const forebay_options* options, forebay_plan** plan) {
  assign(plan, nullptr);
  if (team == nullptr) return missing("team");
  return run(team->value.all(), [&]() -> Status {
    Status mine = given("place for the plan", plan);
    if (mine) mine = check_options(options, "plan");
    if (mine) mine = given("ranges", ranges, lists);
    if (auto ok = team->value.agree(mine); !ok) return ok;
    std::vector<ListRange> own;
    for (std::uint64_t i = 0; i < lists; ++i) own.push_back({ranges[2 * i], ranges[2 * i + 1]});
    return hand_out(plan_of_lists(team->value, own, values, request_of(options)), plan);
  });
}

}  // extern "C"
