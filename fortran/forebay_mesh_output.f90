! Meshes and fields that ParaView opens: the part of the module forebay_arrays that writes them.
!
!     call output%open(store, 'flow', points, items(x), cells, types, lengths, vertices)
!     call fields%add('velocity', 'cells', cells, items(u))                                    ! u(3, cells of this rank)
!     call output%write(step, time, fields)                                                    ! of every step
!     call output%close()                                                                      ! before the store
submodule(forebay_arrays) forebay_mesh_output
  implicit none

contains

  module procedure open_mesh_output
    integer(c_int8_t), allocatable, target :: types_c(:)
    type(forebay_mesh) :: mesh
    integer(c_int) :: status
    logical :: fits
    fits = places%type == FOREBAY_FLOAT64 .and. places%components == 3 .and. places%count == points%local
    status = agreed(points%team, fits, 'places are not three real64 of each of the points')
    if (status == FOREBAY_OK) then
      fits = size(types, kind=int64) == cells%local .and. size(lengths, kind=int64) == cells%local
      if (fits) fits = all(lengths >= 0) .and. sum(lengths) == size(vertices, kind=int64)
      status = agreed(points%team, fits, 'types, lengths and vertices do not fit the cells, or each other')
    end if
    if (status == FOREBAY_OK) then
      fits = all(types >= 0 .and. types <= huge(0_c_int8_t))
      status = agreed(points%team, fits, 'types of cells are not numbers of VTK')
    end if
    if (status == FOREBAY_OK) then
      types_c = int(types, c_int8_t)
      mesh = forebay_mesh(c_sizeof(mesh), points%handle, places%address, cells%handle, c_loc(types_c), &
        c_loc(lengths), c_loc(vertices))
      status = forebay_mesh_output_open(files%handle, to_c(name), mesh, self%handle)
    end if
    call report(status, stat, errmsg)
  end procedure open_mesh_output

  module procedure write_mesh_output
    character(kind=c_char, len=:), allocatable, target :: program_c, mesh_c
    type(forebay_array), allocatable :: table(:)
    if (present(program)) program_c = to_c(program)
    if (present(mesh)) mesh_c = to_c(mesh)
    call arrays%make_table(table)
    call report(forebay_mesh_output_write(self%handle, head_of(step, time, &
      optional_address(program_c), optional_address(mesh_c)), table, size(table, kind=c_int)), stat, errmsg)
  end procedure write_mesh_output

  module procedure settle_mesh_output
    call report(forebay_mesh_output_settle(self%handle), stat, errmsg)
  end procedure settle_mesh_output

  module procedure close_mesh_output
    integer(c_int) :: status
    status = forebay_mesh_output_close(self%handle)
    self%handle = c_null_ptr
    call report(status, stat, errmsg)
  end procedure close_mesh_output

end submodule forebay_mesh_output
