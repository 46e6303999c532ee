! The C interface of libforebay (include/forebay/) as Fortran sees it. Programs use the module forebay_trajectory, not this
! one.
module forebay_c
  use, intrinsic :: iso_c_binding
  use forebay_text
  implicit none
  public

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
  end enum
  enum, bind(c)  ! forebay_codec
    enumerator :: FOREBAY_CODEC_RAW = 0
    enumerator :: FOREBAY_CODEC_FLOAT32 = 1
    enumerator :: FOREBAY_CODEC_TRUNCATION = 2
    enumerator :: FOREBAY_CODEC_ZFP = 3
    enumerator :: FOREBAY_CODEC_DIFFERENCE = 4
  end enum

  type, bind(c) :: forebay_encoding_info
    integer(c_size_t) :: size
    integer(c_int) :: codec
    real(c_double) :: accepted_error
    real(c_double) :: achieved_error
    integer(c_int64_t) :: states
    integer(c_int64_t) :: raw_bytes
    integer(c_int64_t) :: stored_bytes
    integer(c_int64_t) :: fallbacks
    type(c_ptr) :: fallback_reason
    integer(c_int64_t) :: decoded_ahead
  end type forebay_encoding_info

  type, bind(c) :: forebay_tier_info
    integer(c_size_t) :: size
    type(c_ptr) :: medium
    type(c_ptr) :: path
    integer(c_int64_t) :: budget
    integer(c_int64_t) :: segment_bytes
    integer(c_int64_t) :: segments
    integer(c_int64_t) :: prepared
    integer(c_int64_t) :: used
    integer(c_int64_t) :: moved_in
    integer(c_int64_t) :: fetched
  end type forebay_tier_info

  interface
    function forebay_version() bind(c)
      import :: c_ptr
      type(c_ptr) :: forebay_version
    end function forebay_version
    function forebay_error_get_text() bind(c)
      import :: c_ptr
      type(c_ptr) :: forebay_error_get_text
    end function forebay_error_get_text
    function forebay_status_get_name(status) bind(c)
      import :: c_ptr, c_int
      integer(c_int), value :: status
      type(c_ptr) :: forebay_status_get_name
    end function forebay_status_get_name

    function forebay_options_create() bind(c)
      import :: c_ptr
      type(c_ptr) :: forebay_options_create
    end function forebay_options_create
    subroutine forebay_options_free(options) bind(c)
      import :: c_ptr
      type(c_ptr), value :: options
    end subroutine forebay_options_free
    integer(c_int) function forebay_options_set(options, key, value) bind(c)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*), value(*)
    end function forebay_options_set
    integer(c_int) function forebay_options_set_integer(options, key, value) bind(c)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: value
    end function forebay_options_set_integer
    integer(c_int) function forebay_options_add_dram(options, bytes) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: options
      integer(c_int64_t), value :: bytes
    end function forebay_options_add_dram
    integer(c_int) function forebay_options_add_pool(options, directory, bytes) bind(c)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int64_t), value :: bytes
    end function forebay_options_add_pool
    integer(c_int) function forebay_options_add_shared(options, directory, bytes) bind(c)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int64_t), value :: bytes
    end function forebay_options_add_shared
    integer(c_int) function forebay_trajectory_open(options, trajectory) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: trajectory
    end function forebay_trajectory_open
    integer(c_int) function forebay_trajectory_close(trajectory) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_close
    integer(c_int) function forebay_trajectory_declare(trajectory, name, type, count, field) bind(c)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: trajectory
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      integer(c_int64_t), value :: count
      integer(c_int), intent(out) :: field
    end function forebay_trajectory_declare
    integer(c_int) function forebay_trajectory_find_field(trajectory, name, field) bind(c)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: trajectory
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: field
    end function forebay_trajectory_find_field
    integer(c_int) function forebay_trajectory_count_fields(trajectory, fields) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
      integer(c_int), intent(out) :: fields
    end function forebay_trajectory_count_fields
    integer(c_int) function forebay_trajectory_get_field(trajectory, field, name, type, count) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      type(c_ptr), intent(out) :: name
      integer(c_int), intent(out) :: type
      integer(c_int64_t), intent(out) :: count
    end function forebay_trajectory_get_field
    integer(c_int) function forebay_trajectory_set_accepted_error(trajectory, field, error) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      real(c_double), value :: error
    end function forebay_trajectory_set_accepted_error
    integer(c_int) function forebay_trajectory_set_shape(trajectory, field, dimensions, extents) bind(c)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field, dimensions
      integer(c_int64_t), intent(in) :: extents(*)
    end function forebay_trajectory_set_shape
    integer(c_int) function forebay_trajectory_get_shape(trajectory, field, dimensions, extents) bind(c)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      integer(c_int), intent(out) :: dimensions
      integer(c_int64_t), intent(out) :: extents(*)
    end function forebay_trajectory_get_shape
    integer(c_int) function forebay_trajectory_set_codec(trajectory, field, codec) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field, codec
    end function forebay_trajectory_set_codec
    integer(c_int) function forebay_trajectory_describe_encoding(trajectory, field, info) bind(c)
      import :: c_int, c_ptr, forebay_encoding_info
      type(c_ptr), value :: trajectory
      integer(c_int), value :: field
      type(forebay_encoding_info), intent(inout) :: info
    end function forebay_trajectory_describe_encoding
    integer(c_int) function forebay_trajectory_begin(trajectory, step, time, memory, fields) bind(c)
      import :: c_int, c_ptr, c_int64_t, c_double
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_ptr), intent(out) :: memory(*)
      integer(c_int), value :: fields
    end function forebay_trajectory_begin
    integer(c_int) function forebay_trajectory_put(trajectory, step, time, memory, fields) bind(c)
      import :: c_int, c_ptr, c_int64_t, c_double
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_ptr), intent(in) :: memory(*)
      integer(c_int), value :: fields
    end function forebay_trajectory_put
    integer(c_int) function forebay_trajectory_commit(trajectory) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_commit
    integer(c_int) function forebay_trajectory_cancel(trajectory) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_cancel
    integer(c_int) function forebay_trajectory_get(trajectory, step, field, memory) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      integer(c_int), value :: field
      type(c_ptr), intent(out) :: memory
    end function forebay_trajectory_get
    integer(c_int) function forebay_trajectory_release(trajectory, step) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
    end function forebay_trajectory_release
    integer(c_int) function forebay_trajectory_interpolate(trajectory, time, field, memory) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: trajectory
      real(c_double), value :: time
      integer(c_int), value :: field
      type(c_ptr), value :: memory
    end function forebay_trajectory_interpolate
    integer(c_int) function forebay_trajectory_reverse(trajectory, from) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: from
    end function forebay_trajectory_reverse
    integer(c_int) function forebay_trajectory_drop(trajectory, step) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
    end function forebay_trajectory_drop
    integer(c_int) function forebay_trajectory_move(trajectory, step, tier) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      integer(c_int), value :: tier
    end function forebay_trajectory_move
    integer(c_int) function forebay_trajectory_rewind(trajectory) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
    end function forebay_trajectory_rewind
    integer(c_int) function forebay_trajectory_get_capacity(trajectory, states) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), intent(out) :: states
    end function forebay_trajectory_get_capacity
    integer(c_int) function forebay_trajectory_count_steps(trajectory, steps) bind(c)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: trajectory
      integer(c_int64_t), intent(out) :: steps
    end function forebay_trajectory_count_steps
    integer(c_int) function forebay_trajectory_get_step(trajectory, position, step, time) bind(c)
      import :: c_int, c_ptr, c_int64_t, c_double
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: position
      integer(c_int64_t), intent(out) :: step
      real(c_double), intent(out) :: time
    end function forebay_trajectory_get_step
    integer(c_int) function forebay_trajectory_get_time(trajectory, step, time) bind(c)
      import :: c_int, c_ptr, c_int64_t, c_double
      type(c_ptr), value :: trajectory
      integer(c_int64_t), value :: step
      real(c_double), intent(out) :: time
    end function forebay_trajectory_get_time
    integer(c_int) function forebay_trajectory_keep(trajectory, keep) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
      integer(c_int), value :: keep
    end function forebay_trajectory_keep
    function forebay_trajectory_get_recovery(trajectory) bind(c)
      import :: c_ptr
      type(c_ptr), value :: trajectory
      type(c_ptr) :: forebay_trajectory_get_recovery
    end function forebay_trajectory_get_recovery
    integer(c_int) function forebay_trajectory_count_tiers(trajectory, tiers) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: trajectory
      integer(c_int), intent(out) :: tiers
    end function forebay_trajectory_count_tiers
    integer(c_int) function forebay_trajectory_describe_tier(trajectory, tier, info) bind(c)
      import :: c_int, c_ptr, forebay_tier_info
      type(c_ptr), value :: trajectory
      integer(c_int), value :: tier
      type(forebay_tier_info), intent(inout) :: info
    end function forebay_trajectory_describe_tier
    integer(c_int) function forebay_trajectory_get_waited(trajectory, begin, get) bind(c)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: trajectory
      real(c_double), intent(out) :: begin, get
    end function forebay_trajectory_get_waited
  end interface

contains

  ! `words` are of an error that the library does not know of.
  subroutine report(status, stat, errmsg, words)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(*), intent(in), optional :: words
    if (present(words)) then
      call tell(status, words, stat, errmsg)
    else
      call tell(status, from_c(forebay_error_get_text()), stat, errmsg)
    end if
  end subroutine report

end module forebay_c
