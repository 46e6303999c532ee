! Written by scripts/lint format from forebay_items.fypp: change that one.
! The items of an array, whatever their kind: what the library must know to move them. Programs use the module
! forebay_arrays, which has this one's name for them.
module forebay_items
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use forebay_arrays_c
  use forebay_text
  implicit none
  private

  type, public :: arrays_items
    integer(c_int) :: type = FOREBAY_UINT8
    integer :: components = 1
    integer(int64) :: count = 0
    integer(c_size_t) :: bytes = 0  ! of one item
    type(c_ptr) :: address = c_null_ptr
  end type arrays_items

  ! items(u): each value of u(:) is an item, each column of u(:, :), such as a vector. `u` is contiguous and a pointer or
  ! a target, since the library works where it lies.
  interface items
    module procedure double_1, double_2, single_1, single_2, long_1, long_2, integer_1, integer_2
  end interface items
  public :: items
  public :: head_of, agreed  ! for both parts of the module forebay_arrays

contains

  function head_of(step, time, program, mesh) result(head)
    integer(c_int64_t), intent(in) :: step
    real(c_double), intent(in) :: time
    type(c_ptr), intent(in) :: program, mesh
    type(forebay_head) :: head
    head = forebay_head(c_sizeof(head), step, time, program, mesh)
  end function head_of

  ! What fits on one rank and not on another is the same error on both.
  function agreed(team, fits, words) result(status)
    type(c_ptr), intent(in) :: team
    logical, intent(in) :: fits
    character(*), intent(in) :: words
    integer(c_int) :: status
    status = forebay_team_agree(team, merge(FOREBAY_OK, FOREBAY_E_INVALID, fits), to_c(words))
  end function agreed

  function of(type, components, count, value_bits, address) result(made)
    integer(c_int), intent(in) :: type
    integer, intent(in) :: components, value_bits
    integer(int64), intent(in) :: count
    type(c_ptr), intent(in) :: address
    type(arrays_items) :: made
    made = arrays_items(type, components, count, int(components, c_size_t)*(value_bits / 8), address)
  end function of

  ! What follows differs only in kind and rank.

  function double_1(values) result(made)
    real(real64), pointer, contiguous, intent(in) :: values(:)
    type(arrays_items) :: made
    made = of(FOREBAY_FLOAT64, 1, size(values, kind=int64), storage_size(values), c_loc(values))
  end function double_1

  function double_2(values) result(made)
    real(real64), pointer, contiguous, intent(in) :: values(:, :)
    type(arrays_items) :: made
    made = of(FOREBAY_FLOAT64, size(values, 1), size(values, 2, int64), storage_size(values), c_loc(values))
  end function double_2

  function single_1(values) result(made)
    real(real32), pointer, contiguous, intent(in) :: values(:)
    type(arrays_items) :: made
    made = of(FOREBAY_FLOAT32, 1, size(values, kind=int64), storage_size(values), c_loc(values))
  end function single_1

  function single_2(values) result(made)
    real(real32), pointer, contiguous, intent(in) :: values(:, :)
    type(arrays_items) :: made
    made = of(FOREBAY_FLOAT32, size(values, 1), size(values, 2, int64), storage_size(values), c_loc(values))
  end function single_2

  function long_1(values) result(made)
    integer(int64), pointer, contiguous, intent(in) :: values(:)
    type(arrays_items) :: made
    made = of(FOREBAY_INT64, 1, size(values, kind=int64), storage_size(values), c_loc(values))
  end function long_1

  function long_2(values) result(made)
    integer(int64), pointer, contiguous, intent(in) :: values(:, :)
    type(arrays_items) :: made
    made = of(FOREBAY_INT64, size(values, 1), size(values, 2, int64), storage_size(values), c_loc(values))
  end function long_2

  function integer_1(values) result(made)
    integer(int32), pointer, contiguous, intent(in) :: values(:)
    type(arrays_items) :: made
    made = of(FOREBAY_INT32, 1, size(values, kind=int64), storage_size(values), c_loc(values))
  end function integer_1

  function integer_2(values) result(made)
    integer(int32), pointer, contiguous, intent(in) :: values(:, :)
    type(arrays_items) :: made
    made = of(FOREBAY_INT32, size(values, 1), size(values, 2, int64), storage_size(values), c_loc(values))
  end function integer_2

end module forebay_items
