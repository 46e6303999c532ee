// The C interface to teams, plans and lists; and its errors.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "blocks/c_handles.h"
#include "blocks/lists.h"

using namespace forebay::blocks;
using forebay::Code;
using forebay::Status;

namespace {

thread_local std::string last_error;

PlanRequest request_of(const forebay_plan_request* given) {
  PlanRequest request;
  if (given == nullptr) return request;
  if (given->least_bytes > 0) request.blocks.least_bytes = given->least_bytes;
  request.blocks.rank_step = given->rank_step;
  request.blocks.most_blocks = given->most_blocks;
  request.shared = given->shared != 0 ? Shared::once : Shared::refused;
  return request;
}

Status keep(forebay::Result<Plan> made, forebay_plan** plan) {
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
    mine = forebay::error(Code::bad_input, fmt::format("items cannot have {} bytes", item_bytes));
  }
  if (auto ok = team.agree(mine); !ok) return ok;
  const Status differ = forebay::error(Code::bad_input, "ranks do not agree about the bytes of an item");
  if (auto ok = team.agree_on(item_bytes, differ); !ok) return ok;
  return team.agree(plan.image.reserve(team.node(), plan.exchange.layout().items * item_bytes));
}

}  // namespace

namespace forebay::blocks {

static_assert(static_cast<int>(Code::failed) == FOREBAY_BLOCKS_FAILED &&
              static_cast<int>(Code::bad_input) == FOREBAY_BLOCKS_INVALID &&
              static_cast<int>(Code::undrained) == FOREBAY_BLOCKS_STAGED &&
              static_cast<int>(Code::lost) == FOREBAY_BLOCKS_DAMAGED &&
              static_cast<int>(Code::conflict) == FOREBAY_BLOCKS_VERSION &&
              static_cast<int>(Code::busy) == FOREBAY_BLOCKS_BUSY);

int report(const Error& error) noexcept {
  try {
    last_error = error.text();
  } catch (...) {
    last_error.clear();
  }
  return static_cast<int>(error.code);
}

int missing(const char* what) noexcept {
  return report({Code::bad_input, std::string("the ") + what + " is missing (NULL)", {}, 0, {}});
}

Status given(const char* what, const void* memory, std::uint64_t count) {
  if (memory != nullptr || count == 0) return {};
  return error(Code::bad_input, fmt::format("the {} are missing (NULL) where there are {}", what, count));
}

}  // namespace forebay::blocks

extern "C" {

const char* forebay_blocks_last_error(void) {
  return last_error.c_str();
}

const char* forebay_blocks_status_name(int status) {
  switch (static_cast<forebay_blocks_status>(status)) {
#define FOREBAY_NAME(name) \
  case name:               \
    return #name
    FOREBAY_NAME(FOREBAY_BLOCKS_OK);
    FOREBAY_NAME(FOREBAY_BLOCKS_FAILED);
    FOREBAY_NAME(FOREBAY_BLOCKS_INVALID);
    FOREBAY_NAME(FOREBAY_BLOCKS_STAGED);
    FOREBAY_NAME(FOREBAY_BLOCKS_DAMAGED);
    FOREBAY_NAME(FOREBAY_BLOCKS_VERSION);
    FOREBAY_NAME(FOREBAY_BLOCKS_BUSY);
#undef FOREBAY_NAME
  }
  return "unknown status";
}

// --- the ranks ---

int forebay_team_create(MPI_Comm communicator, int most_per_node, forebay_team** team) {
  if (team == nullptr) return missing("place for the team");
  *team = nullptr;
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0 || ended != 0) {
    return report({Code::bad_input,
                   "MPI is not initialized, or it is another one than this library was built with",
                   {},
                   0,
                   "call MPI_Init first; build both with the same MPI"});
  }
  if (communicator == MPI_COMM_NULL) return missing("communicator");
  return run(communicator, [&]() -> Status {
    auto made = Team::of(communicator, most_per_node);
    if (!made) return forward(made);
    *team = new forebay_team{std::move(*made)};
    return {};
  });
}

int forebay_team_create_f(MPI_Fint communicator, int most_per_node, forebay_team** team) {
  return forebay_team_create(MPI_Comm_f2c(communicator), most_per_node, team);
}

int forebay_team_agree(forebay_team* team, int status, const char* words) {
  if (team == nullptr) return missing("team");
  return run(team->value.all(), [&]() -> Status {
    Status mine;
    if (status != FOREBAY_BLOCKS_OK) mine = forebay::error(static_cast<Code>(status), words == nullptr ? "" : words);
    return team->value.agree(mine);
  });
}

void forebay_team_free(forebay_team* team) {
  delete team;
}

// --- plans ---

int forebay_plan_create(forebay_team* team, const uint64_t* numbers, uint64_t count, uint64_t items,
                        const forebay_plan_request* request, forebay_plan** plan) {
  if (plan == nullptr) return missing("place for the plan");
  *plan = nullptr;
  if (team == nullptr) return missing("team");
  return run(team->value.all(), [&]() -> Status {
    if (auto ok = team->value.agree(given("global numbers", numbers, count)); !ok) return ok;
    return keep(Plan::make(team->value, std::span(numbers, count), items, request_of(request)), plan);
  });
}

void forebay_plan_free(forebay_plan* plan) {
  delete plan;
}

int forebay_plan_block(const forebay_plan* plan, uint64_t* first, uint64_t* count) {
  if (plan == nullptr) return missing("plan");
  const Range block = plan->value.block();
  assign(first, block.first + 1);
  assign(count, block.count);
  return FOREBAY_BLOCKS_OK;
}

int forebay_plan_to_block(forebay_plan* plan, const void* items, size_t item_bytes, void* block) {
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

int forebay_plan_from_block(forebay_plan* plan, const void* block, size_t item_bytes, void* items) {
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
                              const forebay_plan_request* request, forebay_plan** plan) {
  if (plan == nullptr) return missing("place for the plan");
  *plan = nullptr;
  if (team == nullptr) return missing("team");
  return run(team->value.all(), [&]() -> Status {
    if (auto ok = team->value.agree(given("ranges", ranges, lists)); !ok) return ok;
    std::vector<ListRange> own;
    for (std::uint64_t i = 0; i < lists; ++i) own.push_back({ranges[2 * i], ranges[2 * i + 1]});
    return keep(plan_of_lists(team->value, own, values, request_of(request)), plan);
  });
}

}  // extern "C"
