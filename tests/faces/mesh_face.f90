! mesh_face DIRECTORY METHOD NAME: the Fortran face of mesh output, as mesh_face.c the C face, with the same mesh and
! fields.
program mesh_face
  use mpi_f08
  use forebay_arrays
  implicit none
  ! Along x between squares of four points; every second cell is half a cube, a prism.
  integer, parameter :: all_cells = 101, all_points = 4 * (all_cells + 1)
  integer, parameter :: hexahedron = 12, prism = 13, tetrahedron = 10
  type(arrays_team) :: team
  type(forebay_options) :: options, shared
  type(arrays_plan) :: of_cells, of_points
  type(arrays_checkpoints) :: store
  type(arrays_mesh_output) :: output
  type(arrays_table) :: fields
  integer(int64), allocatable :: cell(:), point(:), corners(:), square(:), corner(:), vertices(:)
  integer, allocatable :: types(:)
  real(real64), allocatable, target :: places(:, :), velocity(:, :), height(:)
  real(real32), allocatable, target :: motion(:, :)
  integer(int32), allocatable, target :: kind_of(:)
  character(4096) :: word(3)
  integer :: rank, ranks, g, k

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do k = 1, size(word)
    call get_command_argument(k, word(k))
  end do
  call make_mesh()
  call team%create(MPI_COMM_WORLD)
  call of_cells%create(team, cell, int(all_cells, int64))
  call shared%set('shared', .true.)
  call of_points%create(team, point, int(all_points, int64), shared)
  call fields%add('velocity', 'cells', of_cells, items(velocity))
  call fields%add('kind', 'cells', of_cells, items(kind_of))
  call fields%add('height', 'points', of_points, items(height))
  call fields%add('motion', 'points', of_points, items(motion))
  call options%set('method', trim(word(2)))
  call options%set('pool', trim(word(1)))
  call store%open(team, trim(word(1)), options)
  call output%open(store, trim(word(3)), of_points, items(places), of_cells, types, 2 * corners, vertices)
  call output%write(0_int64, 0.0_real64, fields, program='mesh_face', mesh='duct')
  call output%settle()
  places(3, :) = places(3, :) + 2
  call output%write(10_int64, 0.5_real64, fields, program='mesh_face', mesh='duct')
  call refuse()
  call output%close()
  call store%close()
  call of_points%free()
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

  elemental logical function is_own(number)
    integer, intent(in) :: number
    is_own = number >= 1 .and. number <= all_cells .and. mod(number * 31 + number / 8 * 17, ranks) == rank
  end function is_own

  subroutine make_mesh()
    cell = int(pack([(g, g=all_cells, 1, -1)], [(is_own(g), g=all_cells, 1, -1)]), int64)
    point = int(pack([(g, g=all_points, 1, -1)], &
      [(is_own((g - 1) / 4) .or. is_own((g - 1) / 4 + 1), g=all_points, 1, -1)]), int64)
    types = merge(hexahedron, prism, mod(cell, 2_int64) == 1)
    corners = merge(4_int64, 3_int64, types == hexahedron)
    vertices = [integer(int64) ::]
    do g = 1, size(cell)
      square = 4 * (cell(g) - 1) + [(int(k, int64), k=1, int(corners(g)))]
      vertices = [vertices, square, square + 4]
    end do
    square = (point - 1) / 4
    corner = mod(point - 1, 4_int64)
    height = real(square, real64)
    allocate (places(3, size(point)), motion(3, size(point)), velocity(3, size(cell)))
    places(1, :) = height
    places(2, :) = merge(1, 0, corner == 1 .or. corner == 2)
    places(3, :) = merge(1, 0, corner > 1)
    do k = 1, 3
      velocity(k, :) = real(cell, real64) + 0.25_real64 * (k - 1)
      motion(k, :) = 0.5_real32 * real(point, real32) + real(k - 1, real32)
    end do
    kind_of = int(mod(cell, 7_int64), int32)
  end subroutine make_mesh

  subroutine refuse_types(first, expected)
    integer, intent(in) :: first
    character(*), intent(in) :: expected
    type(arrays_mesh_output) :: none
    integer :: wrong(size(types)), stat
    character(200) :: words
    wrong = types
    if (rank == ranks - 1) wrong(1) = first
    call none%open(store, 'none', of_points, items(places), of_cells, wrong, 2 * corners, vertices, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, expected) > 0, words)
  end subroutine refuse_types

  subroutine refuse()
    type(arrays_mesh_output) :: none
    type(arrays_table) :: on_edges
    character(200) :: words
    integer :: stat, skipped
    call on_edges%add('kind', 'edges', of_cells, items(kind_of))
    call output%write(10_int64, 0.5_real64, on_edges, stat=stat, errmsg=words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'edges') > 0, words)
    call refuse_types(99, 'has type 99')
    call refuse_types(tetrahedron, 'tetrahedron (type 10) with')
    call refuse_types(hexahedron + 256, 'numbers of VTK')
    skipped = merge(1, 0, rank == ranks - 1)
    call none%open(store, 'none', of_points, items(places(:, 1 + skipped:)), of_cells, types, 2 * corners, vertices, &
      stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'places') > 0, words)
    call none%open(store, 'none', of_points, items(places), of_cells, types, 2 * corners, vertices(1 + skipped:), stat, &
      words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'do not fit') > 0, words)
  end subroutine refuse

end program mesh_face
