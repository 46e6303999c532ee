! The trajectory for Fortran 2008: keep the state of every time step of a forward run, read it backwards at the speed of
! memory. What each call promises is said in include/forebay/trajectory.h.
!
!     use forebay_trajectory
!     type(forebay_options) :: options
!     type(trajectory) :: states
!     integer(int64) :: step
!     real(real64), pointer :: u(:, :)
!
!     call options%add_pool('/dev/shm', 4000000000_int64)          ! first tier: 4 GB beside the socket
!     call states%open(options)
!     call states%declare('velocity', FOREBAY_FLOAT64, [3, n], velocity)
!     do step = 1, steps                                           ! forward
!       call states%begin(step, time)
!       call states%field(velocity, u)                             ! memory to write in place
!       ...
!       call states%commit()
!     end do
!     call states%reverse(steps)                                   ! the adjoint begins: fetch ahead
!     do step = steps, 1, -1
!       call states%get(step, velocity, u)                         ! no copy
!       ...
!       call states%release(step)
!     end do
!     call states%close()
!
! Errors are as for `allocate`: `stat=` receives 0 or one of FOREBAY_E_..., `errmsg=` the words; without `stat` an error
! ends the program with its words. Fields, tiers and positions count from 1. A trajectory is closed when its variable
! ends; it cannot be copied.
module forebay_trajectory
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use forebay_c
  use forebay_common
  use forebay_text
  use forebay_views
  implicit none
  private

  public :: trajectory, trajectory_tier, trajectory_encoding
  public :: int32, int64, real32, real64
  public :: forebay_options, forebay_message, forebay_library_version
  public :: FOREBAY_OK, FOREBAY_E_INVALID, FOREBAY_E_NO_SUCH_STEP, FOREBAY_E_NO_SUCH_FIELD, FOREBAY_E_STEP_OPEN, &
    FOREBAY_E_NO_OPEN_STEP, FOREBAY_E_STEP_EXISTS, FOREBAY_E_FIELD_CHANGED, FOREBAY_E_FIELDS_FIXED, &
    FOREBAY_E_NOT_PINNED, FOREBAY_E_PINNED, FOREBAY_E_OUTSIDE, FOREBAY_E_CLOSED_OPEN, FOREBAY_E_TOLERANCE, &
    FOREBAY_E_NO_SUCH_TIER, FOREBAY_E_FORKED, FOREBAY_E_NO_SUCH_STORE, FOREBAY_E_STORE_EXISTS, &
    FOREBAY_E_NO_SPACE, FOREBAY_E_NO_MEMORY, FOREBAY_E_BUSY, FOREBAY_E_READ_ONLY, FOREBAY_E_IO, FOREBAY_E_STAGED, &
    FOREBAY_E_NO_SUCH_FILE, FOREBAY_E_DENIED, FOREBAY_E_VERSION, FOREBAY_E_DAMAGED
  public :: FOREBAY_FLOAT32, FOREBAY_FLOAT64, FOREBAY_COMPLEX64, FOREBAY_COMPLEX128, FOREBAY_INT32, FOREBAY_INT64
  public :: FOREBAY_CODEC_RAW, FOREBAY_CODEC_FLOAT32, FOREBAY_CODEC_TRUNCATION, FOREBAY_CODEC_ZFP, &
    FOREBAY_CODEC_DIFFERENCE

  type, extends(trajectory_views) :: trajectory
  contains
    procedure :: open => open_trajectory
    procedure :: close => close_trajectory
    procedure :: declare, find, begin, commit, cancel, release, reverse, drop, move, rewind, keep
    procedure :: count => count_of_steps
    procedure :: capacity, step_at, time_of, recovery, tier_count, tier, encoding, waited
    procedure, private :: refuse_copy
    generic :: assignment(=) => refuse_copy
    final :: finalize
  end type trajectory

  type :: trajectory_tier
    character(:), allocatable :: medium, path
    integer(int64) :: budget = 0, segment_bytes = 0, segments = 0, prepared = 0, used = 0, moved_in = 0, fetched = 0
  end type trajectory_tier

  ! How a field is stored; what each means is said of forebay_encoding_info.
  type :: trajectory_encoding
    integer(c_int) :: codec = FOREBAY_CODEC_RAW
    real(real64) :: accepted_error = 0, achieved_error = 0
    integer(int64) :: states = 0, raw_bytes = 0, stored_bytes = 0, fallbacks = 0, decoded_ahead = 0
    character(:), allocatable :: fallback_reason
  end type trajectory_encoding

  integer, parameter :: most_extents = 8

contains

  ! --- life ---

  ! Closes what was open.
  subroutine open_trajectory(self, options, stat, errmsg)
    class(trajectory), intent(inout) :: self
    class(forebay_options), intent(inout) :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status, fields
    call forget(self)
    status = forebay_trajectory_open(options%made(), self%handle)
    call report(status, stat, errmsg)
    if (status /= FOREBAY_OK) return
    status = forebay_trajectory_count_fields(self%handle, fields)
    allocate (self%shapes(fields))  ! those of a store that was kept
    call learn_shapes(self)
  end subroutine open_trajectory

  ! The store tells extents as C has them: the last one runs fastest.
  subroutine learn_shapes(self)
    class(trajectory), intent(inout) :: self
    integer(c_int64_t) :: extents(most_extents)
    integer(c_int) :: dimensions
    integer :: i
    do i = 1, size(self%shapes)
      extents = 0
      if (forebay_trajectory_get_shape(self%handle, int(i - 1, c_int), dimensions, extents) /= FOREBAY_OK) cycle
      if (dimensions < 1 .or. dimensions > max_rank .or. any(extents > huge(0))) cycle
      call remember(self, i, int(extents(dimensions:1:-1)))
    end do
  end subroutine learn_shapes

  subroutine close_trajectory(self, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = forebay_trajectory_close(self%handle)
    self%handle = c_null_ptr
    call forget(self)
    call report(status, stat, errmsg)
  end subroutine close_trajectory

  subroutine finalize(self)
    type(trajectory), intent(inout) :: self
    call forget(self)
  end subroutine finalize

  subroutine forget(self)
    class(trajectory), intent(inout) :: self
    integer(c_int) :: ignored
    ignored = forebay_trajectory_close(self%handle)
    self%handle = c_null_ptr
    if (allocated(self%shapes)) deallocate (self%shapes)
    if (allocated(self%memory)) deallocate (self%memory)
  end subroutine forget

  subroutine refuse_copy(self, other)
    class(trajectory), intent(inout) :: self
    class(trajectory), intent(in) :: other
    if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'forebay: a trajectory cannot be copied'
  end subroutine refuse_copy

  ! --- fields ---

  ! `extent` is the shape of the field, of rank 1 to 4; `number` is what the other calls want. With `accepted_error`, the
  ! relative L2 error that reading may bring, states are stored smaller, by a codec that is chosen, or by `codec`.
  subroutine declare(self, name, type, extent, number, stat, errmsg, accepted_error, codec)
    class(trajectory), intent(inout) :: self
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    integer, intent(in) :: extent(:)
    integer, intent(out) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), intent(in), optional :: accepted_error
    integer(c_int), intent(in), optional :: codec
    integer(c_int) :: status, field
    number = 0
    if (holds_nul(name, stat, errmsg)) return
    if (size(extent) < 1 .or. size(extent) > max_rank .or. any(extent < 0)) then
      call report(FOREBAY_E_INVALID, stat, errmsg, 'field '//trim(name)//' needs 1 to 4 extents of at least 0')
      return
    end if
    if (values_in(extent) < 0) then
      call report(FOREBAY_E_INVALID, stat, errmsg, 'field '//trim(name)//' has more values than there are numbers for')
      return
    end if
    status = forebay_trajectory_declare(self%handle, to_c(name), type, values_in(extent), field)
    if (status == FOREBAY_OK) status = forebay_trajectory_set_shape(self%handle, field, size(extent, kind=c_int), &
      int(extent(size(extent):1:-1), c_int64_t))
    if (status == FOREBAY_OK) call remember(self, field + 1, extent)
    if (status == FOREBAY_OK .and. present(accepted_error)) &
      status = forebay_trajectory_set_accepted_error(self%handle, field, accepted_error)
    if (status == FOREBAY_OK .and. present(codec)) status = forebay_trajectory_set_codec(self%handle, field, codec)
    if (status == FOREBAY_OK) number = field + 1
    call report(status, stat, errmsg)
  end subroutine declare

  ! Of a field of this shape; negative where there is no such number.
  pure function values_in(extent) result(values)
    integer, intent(in) :: extent(:)
    integer(c_int64_t) :: values
    integer :: i
    values = merge(0_c_int64_t, 1_c_int64_t, any(extent == 0))
    if (values == 0) return
    do i = 1, size(extent)
      if (values > huge(values)/extent(i)) then
        values = -1
        return
      end if
      values = values*extent(i)
    end do
  end function values_in

  subroutine remember(self, number, extent)
    class(trajectory), intent(inout) :: self
    integer, intent(in) :: number, extent(:)
    type(field_shape), allocatable :: more(:)
    if (number > size(self%shapes)) then
      allocate (more(number))
      more(:size(self%shapes)) = self%shapes
      call move_alloc(more, self%shapes)
    end if
    self%shapes(number)%rank = size(extent)
    self%shapes(number)%extent(:size(extent)) = extent
  end subroutine remember

  subroutine find(self, name, number, stat, errmsg)
    class(trajectory), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out) :: number
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status, field
    number = 0
    if (holds_nul(name, stat, errmsg)) return
    status = forebay_trajectory_find_field(self%handle, to_c(name), field)
    if (status == FOREBAY_OK) number = field + 1
    call report(status, stat, errmsg)
  end subroutine find

  ! --- forward ---

  subroutine begin(self, step, time, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr), allocatable :: memory(:)
    integer(c_int) :: status, fields
    fields = 0
    if (allocated(self%shapes)) fields = size(self%shapes)
    allocate (memory(max(fields, 1)))
    status = forebay_trajectory_begin(self%handle, step, time, memory, fields)
    if (status == FOREBAY_OK) call move_alloc(memory, self%memory)
    call report(status, stat, errmsg)
  end subroutine begin

  subroutine commit(self, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (allocated(self%memory)) deallocate (self%memory)
    call report(forebay_trajectory_commit(self%handle), stat, errmsg)
  end subroutine commit

  subroutine cancel(self, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (allocated(self%memory)) deallocate (self%memory)
    call report(forebay_trajectory_cancel(self%handle), stat, errmsg)
  end subroutine cancel

  ! --- backwards ---

  subroutine release(self, step, stat, errmsg)
    class(trajectory), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_trajectory_release(self%handle, step), stat, errmsg)
  end subroutine release

  subroutine reverse(self, from, stat, errmsg)
    class(trajectory), intent(in) :: self
    integer(int64), intent(in) :: from
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_trajectory_reverse(self%handle, from), stat, errmsg)
  end subroutine reverse

  subroutine drop(self, step, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer(int64), intent(in) :: step
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_trajectory_drop(self%handle, step), stat, errmsg)
  end subroutine drop

  ! With all steps of its segment; see forebay_trajectory_move. Tiers count from 1, the fastest, as in tier().
  subroutine move(self, step, tier, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: tier
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_trajectory_move(self%handle, step, int(tier - 1, c_int)), stat, errmsg)
  end subroutine move

  subroutine rewind(self, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_trajectory_rewind(self%handle), stat, errmsg)
  end subroutine rewind

  subroutine keep(self, kept, stat, errmsg)
    class(trajectory), intent(inout) :: self
    logical, intent(in) :: kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_trajectory_keep(self%handle, merge(1_c_int, 0_c_int, kept)), stat, errmsg)
  end subroutine keep

  ! --- what is stored, and where ---

  function count_of_steps(self) result(steps)
    class(trajectory), intent(in) :: self
    integer(int64) :: steps
    if (forebay_trajectory_count_steps(self%handle, steps) /= FOREBAY_OK) steps = 0
  end function count_of_steps

  ! How many states fit on all tiers, once the fields are declared.
  subroutine capacity(self, states, stat, errmsg)
    class(trajectory), intent(in) :: self
    integer(int64), intent(out) :: states
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    states = 0
    call report(forebay_trajectory_get_capacity(self%handle, states), stat, errmsg)
  end subroutine capacity

  ! The step at a position, from 1 (the lowest step) to count().
  subroutine step_at(self, position, step, time, stat, errmsg)
    class(trajectory), intent(in) :: self
    integer(int64), intent(in) :: position
    integer(int64), intent(out) :: step
    real(real64), intent(out) :: time
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    step = 0
    time = 0
    call report(forebay_trajectory_get_step(self%handle, position - 1, step, time), stat, errmsg)
  end subroutine step_at

  subroutine time_of(self, step, time, stat, errmsg)
    class(trajectory), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(out) :: time
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    time = 0
    call report(forebay_trajectory_get_time(self%handle, step, time), stat, errmsg)
  end subroutine time_of

  function recovery(self) result(text)
    class(trajectory), intent(in) :: self
    character(:), allocatable :: text
    text = from_c(forebay_trajectory_get_recovery(self%handle))
  end function recovery

  function tier_count(self) result(tiers)
    class(trajectory), intent(in) :: self
    integer(c_int) :: tiers
    if (forebay_trajectory_count_tiers(self%handle, tiers) /= FOREBAY_OK) tiers = 0
  end function tier_count

  subroutine tier(self, number, what, stat, errmsg)
    class(trajectory), intent(in) :: self
    integer, intent(in) :: number
    type(trajectory_tier), intent(out) :: what
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(forebay_tier_info) :: info
    integer(c_int) :: status
    info%size = c_sizeof(info)
    status = forebay_trajectory_describe_tier(self%handle, int(number - 1, c_int), info)
    if (status == FOREBAY_OK) then
      what%medium = from_c(info%medium)
      what%path = from_c(info%path)
      what%budget = info%budget
      what%segment_bytes = info%segment_bytes
      what%segments = info%segments
      what%prepared = info%prepared
      what%used = info%used
      what%moved_in = info%moved_in
      what%fetched = info%fetched
    end if
    call report(status, stat, errmsg)
  end subroutine tier

  subroutine encoding(self, number, what, stat, errmsg)
    class(trajectory), intent(inout) :: self
    integer, intent(in) :: number
    type(trajectory_encoding), intent(out) :: what
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(forebay_encoding_info) :: info
    integer(c_int) :: status
    info%size = c_sizeof(info)
    status = forebay_trajectory_describe_encoding(self%handle, int(number - 1, c_int), info)
    if (status == FOREBAY_OK) then
      what%codec = info%codec
      what%accepted_error = info%accepted_error
      what%achieved_error = info%achieved_error
      what%states = info%states
      what%raw_bytes = info%raw_bytes
      what%stored_bytes = info%stored_bytes
      what%fallbacks = info%fallbacks
      what%fallback_reason = from_c(info%fallback_reason)
      what%decoded_ahead = info%decoded_ahead
    end if
    call report(status, stat, errmsg)
  end subroutine encoding

  ! Seconds that begin has waited for room, and get for states on slow tiers.
  subroutine waited(self, begin_seconds, get_seconds, stat, errmsg)
    class(trajectory), intent(in) :: self
    real(real64), intent(out) :: begin_seconds, get_seconds
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    begin_seconds = 0
    get_seconds = 0
    call report(forebay_trajectory_get_waited(self%handle, begin_seconds, get_seconds), stat, errmsg)
  end subroutine waited

end module forebay_trajectory
