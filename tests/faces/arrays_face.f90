! arrays_face DIRECTORY METHOD FILE [FILE...]: the Fortran face of arrays, as arrays_face.c the C face, with the same
! fields.
program arrays_face
  use mpi_f08
  use forebay_arrays
  implicit none
  integer, parameter :: cells = 1000, vertices = 300
  type(arrays_team) :: team
  type(arrays_plan) :: of_cells, of_vertices, of_corners
  type(arrays_checkpoints) :: store
  type(arrays_table) :: written, found
  integer(int64), allocatable :: cell(:), vertex(:)
  integer(int64), allocatable, target :: ranges(:, :), id(:), corners(:), ranges_2(:, :), id_2(:), corners_2(:)
  real(real64), allocatable, target :: velocity(:, :), velocity_2(:, :), block(:, :)
  real(real32), allocatable, target :: pressure(:), pressure_2(:)
  integer(int32), allocatable, target :: kind_of(:), kind_2(:)
  integer(int64) :: all_corners, first, length
  character(4096), allocatable :: word(:)
  integer :: rank, ranks, g, k

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (word(command_argument_count()))
  do k = 1, size(word)
    call get_command_argument(k, word(k))
  end do
  call make_fields()
  call write_and_read()
  call tell_what_a_file_holds()
  call refuse()
  call store%close()
  call of_corners%free()
  call of_vertices%free()
  call of_cells%free()
  call team%free()
  call MPI_Finalize()

contains

  subroutine check(good, words)
    logical, intent(in) :: good
    character(*), intent(in) :: words
    if (good) return
    print '(a,i0,2a)', 'rank ', rank, ': not true: ', trim(words)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine check

  subroutine make_fields()
    type(forebay_options) :: small, shared
    integer(int64), allocatable :: lengths(:)
    cell = int(pack([(g, g=cells, 1, -1)], [(mod(g * 31 + g / 8 * 17, ranks) == rank, g=cells, 1, -1)]), int64)
    vertex = int(pack([(g, g=vertices, 1, -1)], &
      [(mod(g, ranks) == rank .or. mod(g / 10, ranks) == rank, g=vertices, 1, -1)]), int64)
    allocate (velocity(3, size(cell)), ranges(2, size(cell)))
    do k = 1, 3
      velocity(k, :) = real(cell, real64) + 0.25_real64 * (k - 1)
    end do
    pressure = 0.5_real32 * real(cell, real32)
    kind_of = int(mod(cell, 7_int64), int32)
    id = 1000003_int64 * vertex
    lengths = mod(cell, 5_int64)
    corners = [integer(int64) :: ((10 * cell(g) + k, k=0, int(lengths(g)) - 1), g=1, size(cell))]

    call team%create(MPI_COMM_WORLD)
    call small%set('least-bytes', 1)
    call of_cells%create(team, cell, int(cells, int64), small)
    call shared%set('shared', .true.)
    call of_vertices%create(team, vertex, int(vertices, int64), shared)
    call of_cells%number_lists(lengths, ranges, all_corners)
    call of_corners%create_lists(team, ranges, all_corners)
    allocate (velocity_2, source=0 * velocity)
    allocate (pressure_2, source=0 * pressure)
    allocate (kind_2, source=0 * kind_of)
    allocate (ranges_2, source=0 * ranges)
    allocate (id_2, source=0 * id)
    allocate (corners_2, source=0 * corners)

    call of_cells%block(first, length)
    allocate (block(3, length))
    call of_cells%to_block(items(velocity), items(block))
    call check(all(block(3, :) == [(real(first + k, real64) + 0.5_real64, k=0, int(length) - 1)]), 'blocks are in order')
    call of_cells%from_block(items(block), items(velocity_2))
    call check(all(velocity_2 == velocity), 'what comes back is what went')
  end subroutine make_fields

  subroutine write_and_read()
    character(:), allocatable :: program
    real(real64) :: time
    type(forebay_options) :: options
    integer(int64) :: step
    integer :: file
    call written%add('velocity', 'cells', of_cells, items(velocity))
    call written%add('pressure', 'cells', of_cells, items(pressure))
    call written%add('kind', 'cells', of_cells, items(kind_of))
    call written%add('ranges', 'cells', of_cells, items(ranges))
    call written%add('id', 'vertices', of_vertices, items(id))
    call written%add('corners', 'corners', of_corners, items(corners))
    call found%add('velocity', 'cells', of_cells, items(velocity_2))
    call found%add('pressure', 'cells', of_cells, items(pressure_2))
    call found%add('kind', 'cells', of_cells, items(kind_2))
    call found%add('ranges', 'cells', of_cells, items(ranges_2))
    call found%add('id', 'vertices', of_vertices, items(id_2))
    call found%add('corners', 'corners', of_corners, items(corners_2))

    call options%set('method', trim(word(2)))
    call options%set('pool', trim(word(1)))
    call store%open(team, trim(word(1)), options)
    call store%prepare(written)
    call store%write(trim(word(3)), 42_int64, 0.125_real64, written, program='arrays_face', mesh='cube')
    call store%settle()
    do file = 3, size(word)
      velocity_2 = 0
      pressure_2 = 0
      kind_2 = 0
      ranges_2 = 0
      id_2 = 0
      corners_2 = 0
      call store%read(trim(word(file)), found, mesh='cube', step=step, time=time, program=program)
      call check(all(velocity_2 == velocity) .and. all(pressure_2 == pressure) .and. all(kind_2 == kind_of), word(file))
      call check(all(ranges_2 == ranges) .and. all(id_2 == id) .and. all(corners_2 == corners), word(file))
      call check(step == 42 .and. time == 0.125_real64 .and. program == 'arrays_face', 'the head comes back')
    end do
  end subroutine write_and_read

  subroutine tell_what_a_file_holds()
    type(arrays_location), allocatable :: locations(:)
    type(arrays_array), allocatable :: arrays(:)
    type(arrays_recovered), allocatable :: left(:)
    character(:), allocatable :: mesh
    call store%describe(trim(word(3)), mesh=mesh, locations=locations, arrays=arrays)
    call check(mesh == 'cube' .and. size(locations) == 3 .and. size(arrays) == 6, 'all locations and arrays are told')
    call check(locations(2)%name == 'corners' .and. locations(2)%items == all_corners, 'in the order of their names')
    call check(arrays(6)%location == 'vertices' .and. arrays(6)%type == FOREBAY_INT64, 'arrays too')
    call check(arrays(6)%name == 'id' .and. arrays(6)%components == 1, 'with their names')
    call store%recovered(left)
    call check(size(left) == 0, 'nobody has left anything')
  end subroutine tell_what_a_file_holds

  subroutine refuse()
    type(arrays_plan) :: none
    type(arrays_table) :: wrong
    type(forebay_options) :: options
    character(200) :: words
    integer :: stat, skipped
    call none%create(team, [1_int64, 1_int64], 2_int64 * ranks, stat=stat, errmsg=words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'global number') > 0, words)
    call options%set('keep', .true.)
    call none%create(team, cell, int(cells, int64), options, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'keep') > 0, words)
    call store%read(trim(word(3)), found, mesh='sphere', stat=stat, errmsg=words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'another mesh') > 0, words)
    call store%read(trim(word(3)), found, mesh='cube'//achar(0)//'s', stat=stat, errmsg=words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'another mesh') > 0, 'a NUL ends no text')
    skipped = merge(1, 0, rank == ranks - 1)
    call of_cells%to_block(items(velocity(:, 1 + skipped:)), items(block), stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'do not fit') > 0, words)
    call wrong%add('kind', 'cells', of_cells, items(kind_of(2:)), stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'kind') > 0, words)
    call written%add('kind', 'cells', of_cells, items(kind_of), stat, words)
    call check(stat == FOREBAY_OK, words)
    call store%write('never.h5', 1_int64, 0.0_real64, written, stat=stat, errmsg=words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'kind') > 0, words)
  end subroutine refuse

end program arrays_face
