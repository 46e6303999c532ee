! Arrays for Fortran 2008, whose items are scattered over the ranks of an MPI program, in one file that any number
! of ranks reads. What each call promises is said in include/forebay/arrays.h.
!
!     use mpi_f08
!     use forebay_arrays
!     type(arrays_team) :: team
!     type(arrays_plan) :: cells
!     type(arrays_table) :: arrays
!     type(arrays_checkpoints) :: store
!     real(real64), target :: u(3, n), p(n)
!     integer(int64) :: number(n)                            ! number(i): the global number of cell i
!
!     call team%create(MPI_COMM_WORLD)
!     call cells%create(team, number, all_cells)
!     call arrays%add('velocity', 'cells', cells, items(u))
!     call arrays%add('pressure', 'cells', cells, items(p))
!     call store%open(team, 'checkpoints')
!     call store%write('restart.h5', step, time, arrays, mesh='cavity')
!     ...
!     call store%read('restart.h5', arrays, mesh='cavity', step=step)            ! of the next program
!     call store%close()
!     call cells%free()
!     call team%free()
!
! Errors are as for `allocate`: `stat=` receives 0 or one of FOREBAY_E_..., `errmsg=` the words; without `stat` an
! error ends the program with its words. All ranks make all calls together, but for those that are said to be local, and
! so they also free and close together: nothing is freed by itself. Nothing here is to be copied.
module forebay_arrays
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08, only: MPI_Comm
  use forebay_arrays_c
  use forebay_common
  use forebay_items
  use forebay_text
  implicit none
  private

  public :: arrays_team, arrays_plan, arrays_table, arrays_checkpoints, arrays_mesh_output
  public :: arrays_items, items, arrays_location, arrays_array, arrays_recovered
  public :: int32, int64, real32, real64
  public :: forebay_options, forebay_message, forebay_library_version
  public :: FOREBAY_OK, FOREBAY_E_INVALID, FOREBAY_E_NO_SPACE, FOREBAY_E_NO_MEMORY, FOREBAY_E_BUSY, FOREBAY_E_READ_ONLY, &
    FOREBAY_E_IO, FOREBAY_E_STAGED, FOREBAY_E_NO_SUCH_FILE, FOREBAY_E_DENIED, FOREBAY_E_VERSION, FOREBAY_E_DAMAGED
  public :: FOREBAY_UINT8, FOREBAY_INT32, FOREBAY_INT64, FOREBAY_UINT64, FOREBAY_FLOAT32, FOREBAY_FLOAT64

  ! The ranks of a communicator, of either MPI module.
  type :: arrays_team
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    generic :: create => create_team_f08, create_team
    procedure, private :: create_team_f08, create_team
    procedure :: free => free_team
  end type arrays_team

  type :: arrays_plan
    private
    type(c_ptr) :: handle = c_null_ptr, team = c_null_ptr
    integer(int64) :: local = 0  ! items of this rank
  contains
    procedure :: create => create_plan
    procedure :: create_lists, number_lists, to_block, from_block
    procedure :: block => block_of_plan
    procedure :: free => free_plan
  end type arrays_plan

  ! The arrays of a checkpoint: the same table serves writing and reading.
  type :: one_array
    character(kind=c_char, len=:), allocatable :: name, location
    type(c_ptr) :: plan = c_null_ptr
    type(arrays_items) :: items
  end type one_array
  type :: arrays_table
    private
    type(one_array), allocatable :: all(:)
  contains
    procedure :: add
    procedure, private :: make_table
  end type arrays_table

  type :: arrays_checkpoints
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => open_checkpoints
    procedure :: close => close_checkpoints
    procedure :: write => write_checkpoint
    procedure :: read => read_checkpoint
    procedure :: settle, prepare, describe, recovered
  end type arrays_checkpoints

  ! Steps of a mesh with fields, for ParaView: forebay_mesh_output.f90.
  type :: arrays_mesh_output
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => open_mesh_output
    procedure :: close => close_mesh_output
    procedure :: write => write_mesh_output
    procedure :: settle => settle_mesh_output
  end type arrays_mesh_output

  ! What a file holds.
  type :: arrays_location
    character(:), allocatable :: name
    integer(int64) :: items = 0
  end type arrays_location
  type :: arrays_array
    character(:), allocatable :: name, location
    integer(c_int) :: type = FOREBAY_UINT8
    integer :: components = 1
  end type arrays_array
  type :: arrays_recovered
    character(:), allocatable :: path
    logical :: carried = .false.
  end type arrays_recovered

  interface
    ! `places` are items(x) of x(3, points), read where they lie by every write; the shapes of cells are VTK's numbers.
    module subroutine open_mesh_output(self, files, name, points, places, cells, types, lengths, vertices, stat, errmsg)
      class(arrays_mesh_output), intent(inout) :: self
      class(arrays_checkpoints), intent(in) :: files
      character(*), intent(in) :: name
      class(arrays_plan), intent(in) :: points, cells
      type(arrays_items), intent(in) :: places
      integer, intent(in) :: types(:)
      integer(int64), contiguous, target, intent(in) :: lengths(:), vertices(:)
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
    end subroutine open_mesh_output

    module subroutine write_mesh_output(self, step, time, arrays, program, mesh, stat, errmsg)
      class(arrays_mesh_output), intent(in) :: self
      integer(int64), intent(in) :: step
      real(real64), intent(in) :: time
      type(arrays_table), target, intent(in) :: arrays
      character(*), intent(in), optional :: program, mesh
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
    end subroutine write_mesh_output

    module subroutine settle_mesh_output(self, stat, errmsg)
      class(arrays_mesh_output), intent(in) :: self
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
    end subroutine settle_mesh_output

    module subroutine close_mesh_output(self, stat, errmsg)
      class(arrays_mesh_output), intent(inout) :: self
      integer, intent(out), optional :: stat
      character(*), intent(inout), optional :: errmsg
    end subroutine close_mesh_output
  end interface

contains

  ! Of optional options: NULL where they are absent.
  function given(options) result(handle)
    type(forebay_options), intent(inout), optional :: options
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(options)) handle = options%made()
  end function given

  ! --- the ranks ---

  subroutine create_team(self, communicator, options, stat, errmsg)
    class(arrays_team), intent(inout) :: self
    integer, intent(in) :: communicator
    type(forebay_options), intent(inout), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_team_create_f(int(communicator, c_int), given(options), self%handle), stat, errmsg)
  end subroutine create_team

  subroutine create_team_f08(self, communicator, options, stat, errmsg)
    class(arrays_team), intent(inout) :: self
    type(MPI_Comm), intent(in) :: communicator
    type(forebay_options), intent(inout), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%create(communicator%MPI_VAL, options, stat, errmsg)
  end subroutine create_team_f08

  subroutine free_team(self)
    class(arrays_team), intent(inout) :: self
    call forebay_team_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free_team

  ! --- plans ---

  ! Which options there are is said in include/forebay/options.h.
  subroutine create_plan(self, team, numbers, items, options, stat, errmsg)
    class(arrays_plan), intent(inout) :: self
    class(arrays_team), intent(in) :: team
    integer(int64), contiguous, intent(in) :: numbers(:)
    integer(int64), intent(in) :: items
    type(forebay_options), intent(inout), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    self%team = team%handle
    self%local = size(numbers, kind=int64)
    call report(forebay_plan_create(team%handle, numbers, self%local, items, &
      given(options), self%handle), stat, errmsg)
  end subroutine create_plan

  ! The plan of the values of lists, whose `ranges` have the shape (2, lists).
  subroutine create_lists(self, team, ranges, values, options, stat, errmsg)
    class(arrays_plan), intent(inout) :: self
    class(arrays_team), intent(in) :: team
    integer(int64), contiguous, intent(in) :: ranges(:, :)
    integer(int64), intent(in) :: values
    type(forebay_options), intent(inout), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    self%team = team%handle
    self%local = sum(ranges(2, :) - ranges(1, :))
    call report(forebay_plan_create_lists(team%handle, ranges, size(ranges, 2, kind=int64), values, &
      given(options), self%handle), stat, errmsg)
  end subroutine create_lists

  subroutine free_plan(self)
    class(arrays_plan), intent(inout) :: self
    call forebay_plan_free(self%handle)
    self%handle = c_null_ptr
  end subroutine free_plan

  ! Local: the block of this rank begins with the global number `first`.
  subroutine block_of_plan(self, first, count, stat, errmsg)
    class(arrays_plan), intent(in) :: self
    integer(int64), intent(out) :: first, count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_plan_get_block(self%handle, first, count), stat, errmsg)
  end subroutine block_of_plan

  function fitting(self, values, block) result(status)
    class(arrays_plan), intent(in) :: self
    type(arrays_items), intent(in) :: values, block
    integer(c_int) :: status
    integer(int64) :: first, count
    status = forebay_plan_get_block(self%handle, first, count)
    if (status == FOREBAY_OK) &
      status = agreed(self%team, values%count == self%local .and. block%count == count .and. &
      values%bytes == block%bytes, 'items and block do not fit the plan, or each other')
  end function fitting

  ! call cells%to_block(items(u), items(block)): into the order of global numbers; from_block is the way back.
  subroutine to_block(self, values, block, stat, errmsg)
    class(arrays_plan), intent(in) :: self
    type(arrays_items), intent(in) :: values, block
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = fitting(self, values, block)
    if (status == FOREBAY_OK) &
      status = forebay_plan_move_to_block(self%handle, values%address, values%bytes, block%address)
    call report(status, stat, errmsg)
  end subroutine to_block

  subroutine from_block(self, block, values, stat, errmsg)
    class(arrays_plan), intent(in) :: self
    type(arrays_items), intent(in) :: block, values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = fitting(self, values, block)
    if (status == FOREBAY_OK) &
      status = forebay_plan_move_from_block(self%handle, block%address, values%bytes, values%address)
    call report(status, stat, errmsg)
  end subroutine from_block

  ! The list of item i has the values ranges(1, i) to ranges(2, i) - 1, counted from 0; `values` is of all lists.
  subroutine number_lists(self, lengths, ranges, values, stat, errmsg)
    class(arrays_plan), intent(in) :: self
    integer(int64), contiguous, intent(in) :: lengths(:)
    integer(int64), contiguous, intent(out) :: ranges(:, :)
    integer(int64), intent(out) :: values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    values = 0
    status = agreed(self%team, size(lengths, kind=int64) == self%local .and. size(ranges, 1) == 2 .and. &
      size(ranges, 2, kind=int64) == self%local, 'lengths, or ranges, are not as many as there are items')
    if (status == FOREBAY_OK) status = forebay_plan_number_lists(self%handle, lengths, ranges, values)
    call report(status, stat, errmsg)
  end subroutine number_lists

  ! --- checkpoints ---

  ! Local: an array on a location. Its items stay where they are as long as the table is used.
  subroutine add(self, name, location, plan, values, stat, errmsg)
    class(arrays_table), intent(inout) :: self
    character(*), intent(in) :: name, location
    class(arrays_plan), intent(in) :: plan
    type(arrays_items), intent(in) :: values
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(one_array), allocatable :: more(:)
    integer :: known
    if (values%count /= plan%local) then
      call tell(FOREBAY_E_INVALID, 'array '//trim(name)//' has another number of items than its plan', stat, errmsg)
      return
    end if
    known = 0
    if (allocated(self%all)) known = size(self%all)
    allocate (more(known + 1))
    if (known > 0) more(:known) = self%all
    more(known + 1)%name = to_c(name)
    more(known + 1)%location = to_c(location)
    more(known + 1)%plan = plan%handle
    more(known + 1)%items = values
    call move_alloc(more, self%all)
    call tell(FOREBAY_OK, '', stat, errmsg)
  end subroutine add

  ! The table as C reads it.
  subroutine make_table(self, table)
    class(arrays_table), target, intent(in) :: self
    type(forebay_array), allocatable, intent(out) :: table(:)
    integer :: i, count
    count = 0
    if (allocated(self%all)) count = size(self%all)
    allocate (table(count))
    do i = 1, count
      associate (one => self%all(i))
        table(i) = forebay_array(c_sizeof(table(i)), address_of(one%name), address_of(one%location), one%items%type, &
          int(one%items%components, c_int32_t), one%plan, one%items%address)
      end associate
    end do
  end subroutine make_table

  subroutine open_checkpoints(self, team, directory, options, stat, errmsg)
    class(arrays_checkpoints), intent(inout) :: self
    class(arrays_team), intent(in) :: team
    character(*), intent(in) :: directory
    type(forebay_options), intent(inout), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_checkpoints_open(team%handle, to_c(directory), given(options), self%handle), stat, errmsg)
  end subroutine open_checkpoints

  subroutine close_checkpoints(self, stat, errmsg)
    class(arrays_checkpoints), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = forebay_checkpoints_close(self%handle)
    self%handle = c_null_ptr
    call report(status, stat, errmsg)
  end subroutine close_checkpoints

  subroutine write_checkpoint(self, name, step, time, arrays, program, mesh, stat, errmsg)
    class(arrays_checkpoints), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), intent(in) :: step
    real(real64), intent(in) :: time
    type(arrays_table), target, intent(in) :: arrays
    character(*), intent(in), optional :: program, mesh
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: program_c, mesh_c
    type(forebay_array), allocatable :: table(:)
    if (present(program)) program_c = to_c(program)
    if (present(mesh)) mesh_c = to_c(mesh)
    call arrays%make_table(table)
    call report(forebay_checkpoints_write(self%handle, to_c(name), head_of(step, time, &
      optional_address(program_c), optional_address(mesh_c)), table, size(table, kind=c_int)), stat, errmsg)
  end subroutine write_checkpoint

  subroutine prepare(self, arrays, stat, errmsg)
    class(arrays_checkpoints), intent(in) :: self
    type(arrays_table), target, intent(in) :: arrays
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(forebay_array), allocatable :: table(:)
    call arrays%make_table(table)
    call report(forebay_checkpoints_prepare(self%handle, table, size(table, kind=c_int)), stat, errmsg)
  end subroutine prepare

  subroutine settle(self, stat, errmsg)
    class(arrays_checkpoints), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call report(forebay_checkpoints_settle(self%handle), stat, errmsg)
  end subroutine settle

  ! Fills the arrays of the table.
  subroutine read_checkpoint(self, name, arrays, mesh, step, time, program, stat, errmsg)
    class(arrays_checkpoints), intent(in) :: self
    character(*), intent(in) :: name
    type(arrays_table), target, intent(in) :: arrays
    character(*), intent(in), optional :: mesh
    integer(int64), intent(out), optional :: step
    real(real64), intent(out), optional :: time
    character(:), allocatable, intent(out), optional :: program
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable :: mesh_c
    type(forebay_array), allocatable :: table(:)
    type(forebay_head) :: head
    integer(c_int) :: status
    mesh_c = to_c('')
    if (present(mesh)) mesh_c = to_c(mesh)
    call arrays%make_table(table)
    head%size = c_sizeof(head)
    status = forebay_checkpoints_read(self%handle, to_c(name), mesh_c, table, size(table, kind=c_int), head)
    if (status == FOREBAY_OK) then
      if (present(step)) step = head%step
      if (present(time)) time = head%time
      if (present(program)) program = from_c(head%program)
    end if
    call report(status, stat, errmsg)
  end subroutine read_checkpoint

  ! What a file holds, in the order of names.
  subroutine describe(self, name, step, time, program, mesh, locations, arrays, stat, errmsg)
    class(arrays_checkpoints), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), intent(out), optional :: step
    real(real64), intent(out), optional :: time
    character(:), allocatable, intent(out), optional :: program, mesh
    type(arrays_location), allocatable, intent(out), optional :: locations(:)
    type(arrays_array), allocatable, intent(out), optional :: arrays(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(forebay_head) :: head
    integer(c_int) :: status, location_count, array_count
    head%size = c_sizeof(head)
    status = forebay_checkpoints_describe(self%handle, to_c(name), head, location_count, array_count)
    if (status == FOREBAY_OK) then
      if (present(step)) step = head%step
      if (present(time)) time = head%time
      if (present(program)) program = from_c(head%program)
      if (present(mesh)) mesh = from_c(head%mesh)
      if (present(locations)) call take_locations(self%handle, location_count, locations)
      if (present(arrays)) call take_arrays(self%handle, array_count, arrays)
    end if
    call report(status, stat, errmsg)
  end subroutine describe

  subroutine take_locations(handle, count, locations)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: count
    type(arrays_location), allocatable, intent(out) :: locations(:)
    type(c_ptr) :: name
    integer(c_int) :: i
    allocate (locations(count))
    do i = 1, count
      if (forebay_checkpoints_get_location(handle, i - 1, name, locations(i)%items) == FOREBAY_OK) &
        locations(i)%name = from_c(name)
    end do
  end subroutine take_locations

  subroutine take_arrays(handle, count, arrays)
    type(c_ptr), intent(in) :: handle
    integer(c_int), intent(in) :: count
    type(arrays_array), allocatable, intent(out) :: arrays(:)
    type(forebay_array) :: array
    integer(c_int) :: i
    allocate (arrays(count))
    array%size = c_sizeof(array)
    do i = 1, count
      if (forebay_checkpoints_get_array(handle, i - 1, array) /= FOREBAY_OK) cycle
      arrays(i)%name = from_c(array%name)
      arrays(i)%location = from_c(array%location)
      arrays(i)%type = array%type
      arrays(i)%components = array%components
    end do
  end subroutine take_arrays

  ! Local: what open found in the pool, staged by an earlier program, and whether it is whole now.
  subroutine recovered(self, found, stat, errmsg)
    class(arrays_checkpoints), intent(in) :: self
    type(arrays_recovered), allocatable, intent(out) :: found(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: path
    integer(c_int) :: status, count, i, carried
    count = 0
    status = forebay_checkpoints_count_recovered(self%handle, count)
    allocate (found(count))
    do i = 1, count
      if (forebay_checkpoints_get_recovered(self%handle, i - 1, path, carried) /= FOREBAY_OK) cycle
      found(i)%path = from_c(path)
      found(i)%carried = carried == 1
    end do
    call report(status, stat, errmsg)
  end subroutine recovered

end module forebay_arrays
