! What every Fortran face needs beside the C interface: strings, and one way to tell an error.
module forebay_text
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: to_c, from_c, address_of, optional_address, tell

  interface
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function c_strlen
  end interface

contains

  ! Where a text has a NUL, which would end it in C, it gets the character SUB, which stands for one that cannot be.
  function to_c(text) result(string)
    character(*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: string
    integer :: i
    string = trim(text)//c_null_char
    do i = 1, len(string) - 1
      if (string(i:i) == c_null_char) string(i:i) = achar(26)
    end do
  end function to_c

  function from_c(string) result(text)
    type(c_ptr), intent(in) :: string
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (.not. c_associated(string)) then
      text = ''
      return
    end if
    call c_f_pointer(string, letters, [c_strlen(string)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function from_c

  function address_of(text) result(address)
    character(kind=c_char, len=*), target, intent(in) :: text
    type(c_ptr) :: address
    address = c_loc(text(1:1))
  end function address_of

  ! Of an optional text: NULL where it is absent.
  function optional_address(text) result(address)
    character(kind=c_char, len=:), allocatable, target, intent(in) :: text
    type(c_ptr) :: address
    address = c_null_ptr
    if (allocated(text)) address = address_of(text)
  end function optional_address

  ! As for allocate: with `stat` the caller decides, and `errmsg` receives the words; without it an error ends the
  ! program. A status of 0 is none.
  subroutine tell(status, words, stat, errmsg)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: words
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = status
    if (status == 0) return
    if (present(errmsg)) errmsg = words
    if (present(stat)) return
    write (error_unit, '(a)') 'forebay: '//words
    error stop 1
  end subroutine tell

end module forebay_text
