! What the headers of libforebay declare (include/forebay/), for Fortran. Written by scripts/declarations.py. Programs
! use the modules forebay_trajectory and forebay_arrays, not this one.
module forebay_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  enum, bind(c)  ! forebay_storage
    enumerator :: FOREBAY_STORAGE_NONE = 0
    enumerator :: FOREBAY_STORAGE_DRAM = 1
    enumerator :: FOREBAY_STORAGE_POOL = 2
    enumerator :: FOREBAY_STORAGE_WORK = 3
  end enum

  enum, bind(c)  ! forebay_action_kind
    enumerator :: FOREBAY_ACTION_NONE = 0
    enumerator :: FOREBAY_ACTION_FORWARD = 1
    enumerator :: FOREBAY_ACTION_REVERSE = 2
    enumerator :: FOREBAY_ACTION_COPY = 3
    enumerator :: FOREBAY_ACTION_MOVE = 4
    enumerator :: FOREBAY_ACTION_END_FORWARD = 5
    enumerator :: FOREBAY_ACTION_END_REVERSE = 6
  end enum

  enum, bind(c)  ! forebay_status
    enumerator :: FOREBAY_OK = 0
    enumerator :: FOREBAY_E_INVALID = 1
    enumerator :: FOREBAY_E_NO_SUCH_STEP = 2
    enumerator :: FOREBAY_E_NO_SUCH_FIELD = 3
    enumerator :: FOREBAY_E_STEP_OPEN = 4
    enumerator :: FOREBAY_E_NO_OPEN_STEP = 5
    enumerator :: FOREBAY_E_STEP_EXISTS = 6
    enumerator :: FOREBAY_E_FIELD_CHANGED = 7
    enumerator :: FOREBAY_E_FIELDS_FIXED = 8
    enumerator :: FOREBAY_E_NOT_PINNED = 9
    enumerator :: FOREBAY_E_PINNED = 10
    enumerator :: FOREBAY_E_OUTSIDE = 11
    enumerator :: FOREBAY_E_CLOSED_OPEN = 12
    enumerator :: FOREBAY_E_TOLERANCE = 13
    enumerator :: FOREBAY_E_NO_SUCH_TIER = 14
    enumerator :: FOREBAY_E_FORKED = 15
    enumerator :: FOREBAY_E_NO_SUCH_STORE = 16
    enumerator :: FOREBAY_E_STORE_EXISTS = 17
    enumerator :: FOREBAY_E_NO_SPACE = 101
    enumerator :: FOREBAY_E_NO_MEMORY = 102
    enumerator :: FOREBAY_E_BUSY = 103
    enumerator :: FOREBAY_E_READ_ONLY = 104
    enumerator :: FOREBAY_E_IO = 105
    enumerator :: FOREBAY_E_STAGED = 106
    enumerator :: FOREBAY_E_NO_SUCH_FILE = 107
    enumerator :: FOREBAY_E_DENIED = 108
    enumerator :: FOREBAY_E_VERSION = 201
    enumerator :: FOREBAY_E_DAMAGED = 202
  end enum

  enum, bind(c)  ! forebay_codec
    enumerator :: FOREBAY_CODEC_RAW = 0
    enumerator :: FOREBAY_CODEC_FLOAT32 = 1
    enumerator :: FOREBAY_CODEC_TRUNCATION = 2
    enumerator :: FOREBAY_CODEC_ZFP = 3
    enumerator :: FOREBAY_CODEC_DIFFERENCE = 4
  end enum

  enum, bind(c)  ! forebay_type
    enumerator :: FOREBAY_BYTES = 0
    enumerator :: FOREBAY_FLOAT32 = 1
    enumerator :: FOREBAY_FLOAT64 = 2
    enumerator :: FOREBAY_INT8 = 3
    enumerator :: FOREBAY_INT16 = 4
    enumerator :: FOREBAY_INT32 = 5
    enumerator :: FOREBAY_INT64 = 6
    enumerator :: FOREBAY_UINT8 = 7
    enumerator :: FOREBAY_UINT16 = 8
    enumerator :: FOREBAY_UINT32 = 9
    enumerator :: FOREBAY_UINT64 = 10
    enumerator :: FOREBAY_COMPLEX64 = 11
    enumerator :: FOREBAY_COMPLEX128 = 12
    enumerator :: FOREBAY_FLOAT16 = 13
    enumerator :: FOREBAY_BFLOAT16 = 14
    enumerator :: FOREBAY_BOOL = 15
    enumerator :: FOREBAY_TYPE_LARGEST = 2147483647
  end enum

  type, bind(c) :: forebay_schedule_question
    integer(c_size_t) :: size = 0
    integer(c_int64_t) :: steps = 0
    integer(c_int64_t) :: bytes_per_step = 0
    real(c_double) :: forward_seconds = 0
    real(c_double) :: adjoint_seconds = 0
    integer(c_int64_t) :: dram_budget = 0
    real(c_double) :: dram_write_seconds = 0
    real(c_double) :: dram_read_seconds = 0
    integer(c_int64_t) :: pool_budget = 0
    real(c_double) :: pool_write_seconds = 0
    real(c_double) :: pool_read_seconds = 0
    integer(c_int) :: overlapped = 0
  end type forebay_schedule_question

  type, bind(c) :: forebay_schedule_answer
    integer(c_size_t) :: size = 0
    integer(c_int) :: store_all = 0
    integer(c_int64_t) :: dram_slots = 0
    integer(c_int64_t) :: pool_slots = 0
    integer(c_int64_t) :: forward_steps = 0
    real(c_double) :: predicted_seconds = 0
  end type forebay_schedule_answer

  type, bind(c) :: forebay_action
    integer(c_size_t) :: size = 0
    integer(c_int) :: kind = 0
    integer(c_int64_t) :: n0 = 0
    integer(c_int64_t) :: n1 = 0
    integer(c_int) :: keep_state = 0
    integer(c_int) :: keep_dependencies = 0
    integer(c_int) :: from = 0
    integer(c_int) :: to = 0
  end type forebay_action

  type, bind(c) :: forebay_encoding_info
    integer(c_size_t) :: size = 0
    integer(c_int) :: codec = 0
    real(c_double) :: accepted_error = 0
    real(c_double) :: achieved_error = 0
    integer(c_int64_t) :: states = 0
    integer(c_int64_t) :: raw_bytes = 0
    integer(c_int64_t) :: stored_bytes = 0
    integer(c_int64_t) :: fallbacks = 0
    type(c_ptr) :: fallback_reason = c_null_ptr
    integer(c_int64_t) :: decoded_ahead = 0
  end type forebay_encoding_info

  type, bind(c) :: forebay_tier_info
    integer(c_size_t) :: size = 0
    type(c_ptr) :: medium = c_null_ptr
    type(c_ptr) :: path = c_null_ptr
    integer(c_int64_t) :: budget = 0
    integer(c_int64_t) :: segment_bytes = 0
    integer(c_int64_t) :: segments = 0
    integer(c_int64_t) :: prepared = 0
    integer(c_int64_t) :: used = 0
    integer(c_int64_t) :: moved_in = 0
    integer(c_int64_t) :: fetched = 0
  end type forebay_tier_info

  interface
    type(c_ptr) function forebay_options_create() bind(c)
      import
    end function forebay_options_create
    subroutine forebay_options_free(options) bind(c)
      import
      type(c_ptr), value :: options
    end subroutine forebay_options_free
    integer(c_int) function forebay_options_set(options, key, value) bind(c)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*)
      character(kind=c_char), intent(in) :: value(*)
    end function forebay_options_set
    integer(c_int) function forebay_options_set_integer(options, key, value) bind(c)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: value
    end function forebay_options_set_integer
    type(c_ptr) function forebay_options_get(options, key) bind(c)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*)
    end function forebay_options_get
    integer(c_int) function forebay_options_check(options, user) bind(c)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: user(*)
    end function forebay_options_check
    integer(c_int) function forebay_options_add_dram(options, bytes) bind(c)
      import
      type(c_ptr), value :: options
      integer(c_int64_t), value :: bytes
    end function forebay_options_add_dram
    integer(c_int) function forebay_options_add_pool(options, directory, bytes) bind(c)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int64_t), value :: bytes
    end function forebay_options_add_pool
    integer(c_int) function forebay_options_add_shared(options, directory, bytes) bind(c)
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int64_t), value :: bytes
    end function forebay_options_add_shared
    integer(c_int) function forebay_schedule_plan(question, answer) bind(c)
      import
      type(forebay_schedule_question), intent(in) :: question
      type(forebay_schedule_answer), intent(inout) :: answer
    end function forebay_schedule_plan
    integer(c_int) function forebay_schedule_create(steps, dram_slots, pool_slots, schedule) bind(c)
      import
      integer(c_int64_t), value :: steps
      integer(c_int64_t), value :: dram_slots
      integer(c_int64_t), value :: pool_slots
      type(c_ptr), intent(out) :: schedule
    end function forebay_schedule_create
    integer(c_int) function forebay_schedule_advance(schedule, action) bind(c)
      import
      type(c_ptr), value :: schedule
      type(forebay_action), intent(inout) :: action
    end function forebay_schedule_advance
    subroutine forebay_schedule_free(schedule) bind(c)
      import
      type(c_ptr), value :: schedule
    end subroutine forebay_schedule_free
    type(c_ptr) function forebay_status_get_name(status) bind(c)
      import
      integer(c_int), value :: status
    end function forebay_status_get_name
    type(c_ptr) function forebay_error_get_text() bind(c)
      import
    end function forebay_error_get_text
    integer(c_size_t) function forebay_error_copy_text(buffer, bytes) bind(c)
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: bytes
    end function forebay_error_copy_text
    integer(c_int) function forebay_error_set(status, text) bind(c)
      import
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: text(*)
    end function forebay_error_set
    integer(c_int) function forebay_trajectory_open(options, trajectory) bind(c)
      import
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: trajectory
    end function forebay_trajectory_open
    integer(c_int) function forebay_trajectory_close(trajectory) bind(c)
      import
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_close
    integer(c_int) function forebay_trajectory_declare(trajectory, name, type, count, field) bind(c)
      import
      type(c_ptr), value :: trajectory
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), value :: count
      integer(c_int), intent(out) :: field
    end function forebay_trajectory_declare
    integer(c_int) function forebay_trajectory_find_field(trajectory, name, field) bind(c)
      import
      type(c_ptr), value :: trajectory
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: field
    end function forebay_trajectory_find_field
    integer(c_int) function forebay_trajectory_count_fields(trajectory, fields) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), intent(out) :: fields
    end function forebay_trajectory_count_fields
    integer(c_int) function forebay_trajectory_get_field(trajectory, field, name, type, count) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      type(c_ptr), intent(out) :: name
      integer(c_int), intent(out) :: type
      integer(c_int64_t), intent(out) :: count
    end function forebay_trajectory_get_field
    integer(c_int) function forebay_trajectory_set_shape(trajectory, field, dimensions, extents) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: extents(*)
    end function forebay_trajectory_set_shape
    integer(c_int) function forebay_trajectory_get_shape(trajectory, field, dimensions, extents) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      integer(c_int), intent(out) :: dimensions
      integer(c_int64_t), intent(out) :: extents(*)
    end function forebay_trajectory_get_shape
    integer(c_int) function forebay_trajectory_set_accepted_error(trajectory, field, error) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      real(c_double), value :: error
    end function forebay_trajectory_set_accepted_error
    integer(c_int) function forebay_trajectory_set_codec(trajectory, field, codec) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      integer(c_int), value :: codec
    end function forebay_trajectory_set_codec
    integer(c_int) function forebay_trajectory_describe_encoding(trajectory, field, info) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      type(forebay_encoding_info), intent(inout) :: info
    end function forebay_trajectory_describe_encoding
    integer(c_int) function forebay_trajectory_begin(trajectory, step, time, memory, fields) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_ptr), intent(out) :: memory(*)
      integer(c_int), value :: fields
    end function forebay_trajectory_begin
    integer(c_int) function forebay_trajectory_commit(trajectory) bind(c)
      import
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_commit
    integer(c_int) function forebay_trajectory_cancel(trajectory) bind(c)
      import
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_cancel
    integer(c_int) function forebay_trajectory_put(trajectory, step, time, memory, fields) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_ptr), intent(in) :: memory(*)
      integer(c_int), value :: fields
    end function forebay_trajectory_put
    integer(c_int) function forebay_trajectory_get(trajectory, step, field, memory) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      integer(c_int), value :: field
      type(c_ptr), intent(out) :: memory
    end function forebay_trajectory_get
    integer(c_int) function forebay_trajectory_release(trajectory, step) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
    end function forebay_trajectory_release
    integer(c_int) function forebay_trajectory_interpolate(trajectory, time, field, memory) bind(c)
      import
      type(c_ptr), value :: trajectory
      real(c_double), value :: time
      integer(c_int), value :: field
      type(c_ptr), value :: memory
    end function forebay_trajectory_interpolate
    integer(c_int) function forebay_trajectory_reverse(trajectory, from) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: from
    end function forebay_trajectory_reverse
    integer(c_int) function forebay_trajectory_drop(trajectory, step) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
    end function forebay_trajectory_drop
    integer(c_int) function forebay_trajectory_move(trajectory, step, tier) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      integer(c_int), value :: tier
    end function forebay_trajectory_move
    integer(c_int) function forebay_trajectory_rewind(trajectory) bind(c)
      import
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_rewind
    integer(c_int) function forebay_trajectory_get_capacity(trajectory, states) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), intent(out) :: states
    end function forebay_trajectory_get_capacity
    integer(c_int) function forebay_trajectory_count_steps(trajectory, steps) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), intent(out) :: steps
    end function forebay_trajectory_count_steps
    integer(c_int) function forebay_trajectory_get_step(trajectory, position, step, time) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: position
      integer(c_int64_t), intent(out) :: step
      real(c_double), intent(out) :: time
    end function forebay_trajectory_get_step
    integer(c_int) function forebay_trajectory_get_time(trajectory, step, time) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      real(c_double), intent(out) :: time
    end function forebay_trajectory_get_time
    integer(c_int) function forebay_trajectory_keep(trajectory, keep) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: keep
    end function forebay_trajectory_keep
    type(c_ptr) function forebay_trajectory_get_recovery(trajectory) bind(c)
      import
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_get_recovery
    integer(c_int) function forebay_trajectory_copy_recovery(trajectory, buffer, bytes, length) bind(c)
      import
      type(c_ptr), value :: trajectory
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: bytes
      integer(c_size_t), intent(out) :: length
    end function forebay_trajectory_copy_recovery
    integer(c_int) function forebay_trajectory_count_tiers(trajectory, tiers) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), intent(out) :: tiers
    end function forebay_trajectory_count_tiers
    integer(c_int) function forebay_trajectory_describe_tier(trajectory, tier, info) bind(c)
      import
      type(c_ptr), value :: trajectory
      integer(c_int), value :: tier
      type(forebay_tier_info), intent(inout) :: info
    end function forebay_trajectory_describe_tier
    integer(c_int) function forebay_trajectory_get_waited(trajectory, begin, get) bind(c)
      import
      type(c_ptr), value :: trajectory
      real(c_double), intent(out) :: begin
      real(c_double), intent(out) :: get
    end function forebay_trajectory_get_waited
    type(c_ptr) function forebay_version() bind(c)
      import
    end function forebay_version
  end interface

end module forebay_c
