! Written by scripts/lint format from forebay_views.fypp: change that one.
! Views of fields: pointers to the memory that the library hands out, with the kind, rank and shape that the field was
! declared with, or flat, with rank 1. The type trajectory of the module forebay_trajectory extends what is here.
module forebay_views
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use forebay_c
  use forebay_common, only: report
  use forebay_text
  implicit none
  private

  integer, parameter, public :: max_rank = 4

  type, public :: field_shape
    integer :: rank = 0  ! 0: neither declared nor kept with a rank that has views, so only flat ones are known
    integer :: extent(max_rank) = 0
  end type field_shape

  type :: found_field
    type(c_ptr) :: address = c_null_ptr
    integer :: extent(max_rank) = 0
  end type found_field

  type, public :: trajectory_views
    type(c_ptr) :: handle = c_null_ptr
    type(field_shape), allocatable :: shapes(:)  ! by field
    type(c_ptr), allocatable :: memory(:)        ! of the open step, by field; not allocated while none is open
  contains
    ! call t%field(number, pointer [, stat, errmsg]): the field of the open step, to be written in place.
    generic :: field => open_double_1, open_double_2, open_double_3, open_double_4, &
      open_single_1, open_single_2, open_single_3, open_single_4, &
      open_double_complex_1, open_double_complex_2, open_double_complex_3, open_double_complex_4, &
      open_single_complex_1, open_single_complex_2, open_single_complex_3, open_single_complex_4, &
      open_long_1, open_long_2, open_long_3, open_long_4, &
      open_integer_1, open_integer_2, open_integer_3, open_integer_4
    ! call t%put(step, time, values [, stat, errmsg]): a copy as the state of a step, of a trajectory of one field. Of
    ! several, begin, field and commit write each in place.
    generic :: put => put_double_1, put_double_2, put_double_3, put_double_4, &
      put_single_1, put_single_2, put_single_3, put_single_4, &
      put_double_complex_1, put_double_complex_2, put_double_complex_3, put_double_complex_4, &
      put_single_complex_1, put_single_complex_2, put_single_complex_3, put_single_complex_4, &
      put_long_1, put_long_2, put_long_3, put_long_4, &
      put_integer_1, put_integer_2, put_integer_3, put_integer_4
    ! call t%get(step, number, pointer [, stat, errmsg]): the field of a stored step, without a copy, not to be
    ! written. It stays where it is until `call t%release(step)`, which undoes one get.
    generic :: get => get_double_1, get_double_2, get_double_3, get_double_4, &
      get_single_1, get_single_2, get_single_3, get_single_4, &
      get_double_complex_1, get_double_complex_2, get_double_complex_3, get_double_complex_4, &
      get_single_complex_1, get_single_complex_2, get_single_complex_3, get_single_complex_4, &
      get_long_1, get_long_2, get_long_3, get_long_4, &
      get_integer_1, get_integer_2, get_integer_3, get_integer_4
    ! call t%interpolate(time, number, values [, stat, errmsg]): the field at a time between two stored steps, flat.
    generic :: interpolate => interpolate_double_1, &
      interpolate_single_1, &
      interpolate_double_complex_1, &
      interpolate_single_complex_1
    procedure, private :: open_double_1, open_double_2, open_double_3, open_double_4, &
      open_single_1, open_single_2, open_single_3, open_single_4, &
      open_double_complex_1, open_double_complex_2, open_double_complex_3, open_double_complex_4, &
      open_single_complex_1, open_single_complex_2, open_single_complex_3, open_single_complex_4, &
      open_long_1, open_long_2, open_long_3, open_long_4, &
      open_integer_1, open_integer_2, open_integer_3, open_integer_4
    procedure, private :: put_double_1, put_double_2, put_double_3, put_double_4, &
      put_single_1, put_single_2, put_single_3, put_single_4, &
      put_double_complex_1, put_double_complex_2, put_double_complex_3, put_double_complex_4, &
      put_single_complex_1, put_single_complex_2, put_single_complex_3, put_single_complex_4, &
      put_long_1, put_long_2, put_long_3, put_long_4, &
      put_integer_1, put_integer_2, put_integer_3, put_integer_4
    procedure, private :: get_double_1, get_double_2, get_double_3, get_double_4, &
      get_single_1, get_single_2, get_single_3, get_single_4, &
      get_double_complex_1, get_double_complex_2, get_double_complex_3, get_double_complex_4, &
      get_single_complex_1, get_single_complex_2, get_single_complex_3, get_single_complex_4, &
      get_long_1, get_long_2, get_long_3, get_long_4, &
      get_integer_1, get_integer_2, get_integer_3, get_integer_4
    procedure, private :: interpolate_double_1, &
      interpolate_single_1, &
      interpolate_double_complex_1, &
      interpolate_single_complex_1
  end type trajectory_views

contains

  ! Whether a view of this type and rank fits the field, and its extents.
  subroutine fit(self, number, type, rank, extent, status, words)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number, rank
    integer(c_int), intent(in) :: type
    integer, intent(out) :: extent(max_rank)
    integer(c_int), intent(out) :: status
    character(:), allocatable, intent(out) :: words
    type(c_ptr) :: name
    integer(c_int) :: stored_type
    integer(c_int64_t) :: count
    extent = 0
    status = forebay_trajectory_get_field(self%handle, int(number - 1, c_int), name, stored_type, count)
    if (status /= FOREBAY_OK) then
      if (c_associated(self%handle)) then
        words = 'there is no such field: they are numbered from 1'
      else
        words = 'the trajectory is not open'
      end if
      return
    end if
    if (stored_type /= type) then
      status = FOREBAY_E_FIELD_CHANGED
      words = 'field '//from_c(name)//' is of another type than the pointer'
    else if (rank == 1) then
      if (count > huge(extent)) then
        status = FOREBAY_E_INVALID
        words = 'field '//from_c(name)//' is too large for a flat view: use the rank that it is declared with'
        return
      end if
      extent(1) = int(count)
    else if (self%shapes(number)%rank /= rank) then
      status = FOREBAY_E_FIELD_CHANGED
      words = 'field '//from_c(name)//' is declared with another rank than that of the pointer'
    else
      extent = self%shapes(number)%extent
    end if
  end subroutine fit

  function open_field(self, number, type, rank, stat, errmsg) result(found)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number, rank
    integer(c_int), intent(in) :: type
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    character(:), allocatable :: words
    integer(c_int) :: status
    call fit(self, number, type, rank, found%extent, status, words)
    if (status == FOREBAY_OK .and. .not. allocated(self%memory)) then
      status = FOREBAY_E_NO_OPEN_STEP
      words = 'no step is open: begin one first'
    end if
    if (status == FOREBAY_OK) found%address = self%memory(number)
    call report(status, stat, errmsg, words)
  end function open_field

  subroutine store(self, step, time, type, extent, memory, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(c_int), intent(in) :: type
    integer, intent(in) :: extent(:)
    type(c_ptr), intent(in) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: words
    integer :: wanted(max_rank)
    integer(c_int) :: status
    call fit(self, 1, type, size(extent), wanted, status, words)
    if (status == FOREBAY_OK .and. any(extent /= wanted(:size(extent)))) then
      status = FOREBAY_E_FIELD_CHANGED
      words = 'the field has another shape than the array'
    end if
    if (status /= FOREBAY_OK) then
      call report(status, stat, errmsg, words)
      return
    end if
    call report(forebay_trajectory_put(self%handle, step, time, [memory], 1_c_int), stat, errmsg)
  end subroutine store

  function stored_field(self, step, number, type, rank, stat, errmsg) result(found)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number, rank
    integer(c_int), intent(in) :: type
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    character(:), allocatable :: words
    integer(c_int) :: status
    call fit(self, number, type, rank, found%extent, status, words)
    if (status == FOREBAY_OK) then
      status = forebay_trajectory_get(self%handle, step, int(number - 1, c_int), found%address)
      call report(status, stat, errmsg)
    else
      call report(status, stat, errmsg, words)
    end if
  end function stored_field

  subroutine blend(self, time, number, type, count, memory, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    real(real64), intent(in) :: time
    integer, intent(in) :: number, count
    integer(c_int), intent(in) :: type
    type(c_ptr), intent(in) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: words
    integer :: extent(max_rank)
    integer(c_int) :: status
    call fit(self, number, type, 1, extent, status, words)
    if (status == FOREBAY_OK .and. extent(1) /= count) then
      status = FOREBAY_E_FIELD_CHANGED
      words = 'the field has another size than the array for its values'
    end if
    if (status /= FOREBAY_OK) then
      call report(status, stat, errmsg, words)
      return
    end if
    status = forebay_trajectory_interpolate(self%handle, time, int(number - 1, c_int), memory)
    call report(status, stat, errmsg)
  end subroutine blend

  subroutine interpolate_double_1(self, time, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    real(real64), intent(in) :: time
    integer, intent(in) :: number
    real(real64), contiguous, target, intent(inout) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call blend(self, time, number, FOREBAY_FLOAT64, size(values), c_loc(values), stat, errmsg)
  end subroutine interpolate_double_1

  subroutine interpolate_single_1(self, time, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    real(real64), intent(in) :: time
    integer, intent(in) :: number
    real(real32), contiguous, target, intent(inout) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call blend(self, time, number, FOREBAY_FLOAT32, size(values), c_loc(values), stat, errmsg)
  end subroutine interpolate_single_1

  subroutine interpolate_double_complex_1(self, time, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    real(real64), intent(in) :: time
    integer, intent(in) :: number
    complex(real64), contiguous, target, intent(inout) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call blend(self, time, number, FOREBAY_COMPLEX128, size(values), c_loc(values), stat, errmsg)
  end subroutine interpolate_double_complex_1

  subroutine interpolate_single_complex_1(self, time, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    real(real64), intent(in) :: time
    integer, intent(in) :: number
    complex(real32), contiguous, target, intent(inout) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call blend(self, time, number, FOREBAY_COMPLEX64, size(values), c_loc(values), stat, errmsg)
  end subroutine interpolate_single_complex_1

  subroutine open_double_1(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT64, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine open_double_1

  subroutine put_double_1(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real64), contiguous, target, intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_1

  subroutine get_double_1(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT64, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine get_double_1

  subroutine open_double_2(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT64, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine open_double_2

  subroutine put_double_2(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real64), contiguous, target, intent(in) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_2

  subroutine get_double_2(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT64, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine get_double_2

  subroutine open_double_3(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT64, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine open_double_3

  subroutine put_double_3(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real64), contiguous, target, intent(in) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_3

  subroutine get_double_3(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT64, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine get_double_3

  subroutine open_double_4(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT64, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine open_double_4

  subroutine put_double_4(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real64), contiguous, target, intent(in) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_4

  subroutine get_double_4(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real64), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT64, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine get_double_4

  subroutine open_single_1(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT32, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine open_single_1

  subroutine put_single_1(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real32), contiguous, target, intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_1

  subroutine get_single_1(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT32, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine get_single_1

  subroutine open_single_2(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT32, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine open_single_2

  subroutine put_single_2(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real32), contiguous, target, intent(in) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_2

  subroutine get_single_2(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT32, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine get_single_2

  subroutine open_single_3(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT32, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine open_single_3

  subroutine put_single_3(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real32), contiguous, target, intent(in) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_3

  subroutine get_single_3(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT32, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine get_single_3

  subroutine open_single_4(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_FLOAT32, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine open_single_4

  subroutine put_single_4(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    real(real32), contiguous, target, intent(in) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_FLOAT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_4

  subroutine get_single_4(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    real(real32), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_FLOAT32, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine get_single_4

  subroutine open_double_complex_1(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX128, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine open_double_complex_1

  subroutine put_double_complex_1(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real64), contiguous, target, intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX128, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_complex_1

  subroutine get_double_complex_1(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX128, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine get_double_complex_1

  subroutine open_double_complex_2(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX128, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine open_double_complex_2

  subroutine put_double_complex_2(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real64), contiguous, target, intent(in) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX128, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_complex_2

  subroutine get_double_complex_2(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX128, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine get_double_complex_2

  subroutine open_double_complex_3(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX128, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine open_double_complex_3

  subroutine put_double_complex_3(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real64), contiguous, target, intent(in) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX128, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_complex_3

  subroutine get_double_complex_3(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX128, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine get_double_complex_3

  subroutine open_double_complex_4(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX128, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine open_double_complex_4

  subroutine put_double_complex_4(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real64), contiguous, target, intent(in) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX128, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_double_complex_4

  subroutine get_double_complex_4(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real64), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX128, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine get_double_complex_4

  subroutine open_single_complex_1(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX64, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine open_single_complex_1

  subroutine put_single_complex_1(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real32), contiguous, target, intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_complex_1

  subroutine get_single_complex_1(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX64, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine get_single_complex_1

  subroutine open_single_complex_2(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX64, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine open_single_complex_2

  subroutine put_single_complex_2(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real32), contiguous, target, intent(in) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_complex_2

  subroutine get_single_complex_2(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX64, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine get_single_complex_2

  subroutine open_single_complex_3(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX64, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine open_single_complex_3

  subroutine put_single_complex_3(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real32), contiguous, target, intent(in) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_complex_3

  subroutine get_single_complex_3(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX64, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine get_single_complex_3

  subroutine open_single_complex_4(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_COMPLEX64, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine open_single_complex_4

  subroutine put_single_complex_4(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    complex(real32), contiguous, target, intent(in) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_COMPLEX64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_single_complex_4

  subroutine get_single_complex_4(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    complex(real32), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_COMPLEX64, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine get_single_complex_4

  subroutine open_long_1(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT64, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine open_long_1

  subroutine put_long_1(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int64), contiguous, target, intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_long_1

  subroutine get_long_1(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT64, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine get_long_1

  subroutine open_long_2(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT64, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine open_long_2

  subroutine put_long_2(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int64), contiguous, target, intent(in) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_long_2

  subroutine get_long_2(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT64, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine get_long_2

  subroutine open_long_3(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT64, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine open_long_3

  subroutine put_long_3(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int64), contiguous, target, intent(in) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_long_3

  subroutine get_long_3(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT64, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine get_long_3

  subroutine open_long_4(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT64, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine open_long_4

  subroutine put_long_4(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int64), contiguous, target, intent(in) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT64, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_long_4

  subroutine get_long_4(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int64), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT64, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine get_long_4

  subroutine open_integer_1(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT32, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine open_integer_1

  subroutine put_integer_1(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int32), contiguous, target, intent(in) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_integer_1

  subroutine get_integer_1(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT32, 1, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:1))
  end subroutine get_integer_1

  subroutine open_integer_2(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT32, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine open_integer_2

  subroutine put_integer_2(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int32), contiguous, target, intent(in) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_integer_2

  subroutine get_integer_2(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT32, 2, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:2))
  end subroutine get_integer_2

  subroutine open_integer_3(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT32, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine open_integer_3

  subroutine put_integer_3(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int32), contiguous, target, intent(in) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_integer_3

  subroutine get_integer_3(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT32, 3, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:3))
  end subroutine get_integer_3

  subroutine open_integer_4(self, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = open_field(self, number, FOREBAY_INT32, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine open_integer_4

  subroutine put_integer_4(self, step, time, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    integer(int32), contiguous, target, intent(in) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call store(self, step, time, FOREBAY_INT32, shape(values), c_loc(values), stat, errmsg)
  end subroutine put_integer_4

  subroutine get_integer_4(self, step, number, values, stat, errmsg)
    class(trajectory_views), intent(in) :: self
    integer(int64), intent(in) :: step
    integer, intent(in) :: number
    integer(int32), pointer, intent(out) :: values(:, :, :, :)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(found_field) :: found
    nullify (values)
    found = stored_field(self, step, number, FOREBAY_INT32, 4, stat, errmsg)
    if (c_associated(found%address)) call c_f_pointer(found%address, values, found%extent(1:4))
  end subroutine get_integer_4

end module forebay_views
