! What the Fortran faces of all libraries have in common: options by key, and what the last error was.
!
!     type(forebay_options) :: options
!     call options%add_pool('/dev/shm', 4000000000_int64)
!     call options%set('keep', .true.)
!     call options%set('rank', rank)
!     call options%set('mode', 'must-exist')
!
! Which options there are is said in include/forebay/options.h.
module forebay_common
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use forebay_c
  use forebay_text
  implicit none
  private

  public :: forebay_options, forebay_message, forebay_library_version
  public :: report, holds_nul  ! for the other faces

  type :: forebay_options
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    generic :: set => set_text, set_int32, set_int64, set_logical
    ! Tiers of a trajectory, the fastest first. `bytes` is what this rank may use of it.
    procedure :: add_dram, add_pool, add_shared
    ! For the faces: the options of the C interface.
    procedure :: made
    procedure, private :: set_text, set_int32, set_int64, set_logical, refuse_copy
    generic :: assignment(=) => refuse_copy
    final :: free
  end type forebay_options

contains

  ! What a function of the library returned. `words` are of an error that the library does not know of.
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

  ! A text with a NUL, which the library would take for its end.
  logical function holds_nul(text, stat, errmsg)
    character(*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: place
    place = index(text, c_null_char)
    holds_nul = place > 0
    if (holds_nul) call report(FOREBAY_E_INVALID, stat, errmsg, 'a text has a NUL behind "'//text(:place - 1)//'"')
  end function holds_nul

  ! What the last failing call has to say.
  function forebay_message() result(text)
    character(:), allocatable :: text
    text = from_c(forebay_error_get_text())
  end function forebay_message

  ! Of the library.
  function forebay_library_version() result(text)
    character(:), allocatable :: text
    text = from_c(forebay_version())
  end function forebay_library_version

  function made(self) result(handle)
    class(forebay_options), intent(inout) :: self
    type(c_ptr) :: handle
    if (.not. c_associated(self%handle)) self%handle = forebay_options_create()
    handle = self%handle
  end function made

  subroutine free(self)
    type(forebay_options), intent(inout) :: self
    call forebay_options_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free

  subroutine refuse_copy(self, other)
    class(forebay_options), intent(inout) :: self
    class(forebay_options), intent(in) :: other
    if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'forebay: options cannot be copied'
  end subroutine refuse_copy

  subroutine set_text(self, key, value, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    character(*), intent(in) :: key, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (holds_nul(key, stat, errmsg)) return
    if (holds_nul(value, stat, errmsg)) return
    call report(forebay_options_set(self%made(), to_c(key), to_c(value)), stat, errmsg)
  end subroutine set_text

  subroutine set_int32(self, key, value, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    character(*), intent(in) :: key
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%set(key, int(value, int64), stat, errmsg)
  end subroutine set_int32

  subroutine set_int64(self, key, value, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    character(*), intent(in) :: key
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (holds_nul(key, stat, errmsg)) return
    call report(forebay_options_set_integer(self%made(), to_c(key), value), stat, errmsg)
  end subroutine set_int64

  subroutine set_logical(self, key, value, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    character(*), intent(in) :: key
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%set(key, merge('on ', 'off', value), stat, errmsg)
  end subroutine set_logical

  subroutine add_dram(self, bytes, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_negative(bytes, stat, errmsg)) return
    call report(forebay_options_add_dram(self%made(), bytes), stat, errmsg)
  end subroutine add_dram

  subroutine add_pool(self, directory, bytes, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    character(*), intent(in) :: directory
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_negative(bytes, stat, errmsg)) return
    if (holds_nul(directory, stat, errmsg)) return
    call report(forebay_options_add_pool(self%made(), to_c(directory), bytes), stat, errmsg)
  end subroutine add_pool

  subroutine add_shared(self, directory, bytes, stat, errmsg)
    class(forebay_options), intent(inout) :: self
    character(*), intent(in) :: directory
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (is_negative(bytes, stat, errmsg)) return
    if (holds_nul(directory, stat, errmsg)) return
    call report(forebay_options_add_shared(self%made(), to_c(directory), bytes), stat, errmsg)
  end subroutine add_shared

  ! A budget that C, which knows no negative ones, would take for a very large one; is reported then.
  logical function is_negative(bytes, stat, errmsg)
    integer(int64), intent(in) :: bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(20) :: number
    is_negative = bytes < 0
    if (.not. is_negative) return
    write (number, '(i0)') bytes
    call report(FOREBAY_E_INVALID, stat, errmsg, 'the budget of a tier is '//trim(number)//' bytes')
  end function is_negative

end module forebay_common
