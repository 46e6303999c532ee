! What the headers of libforebay_arrays declare (include/forebay/), for Fortran. Written by scripts/declarations.py. Programs
! use the modules forebay_trajectory and forebay_arrays, not this one.
module forebay_arrays_c
  use forebay_c
  implicit none
  public

  type, bind(c) :: forebay_array
    integer(c_size_t) :: size = 0
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: location = c_null_ptr
    integer(c_int) :: type = 0
    integer(c_int32_t) :: components = 0
    type(c_ptr) :: plan = c_null_ptr
    type(c_ptr) :: data = c_null_ptr
  end type forebay_array

  type, bind(c) :: forebay_head
    integer(c_size_t) :: size = 0
    integer(c_int64_t) :: step = 0
    real(c_double) :: time = 0
    type(c_ptr) :: program = c_null_ptr
    type(c_ptr) :: mesh = c_null_ptr
  end type forebay_head

  type, bind(c) :: forebay_mesh
    integer(c_size_t) :: size = 0
    type(c_ptr) :: points = c_null_ptr
    type(c_ptr) :: places = c_null_ptr
    type(c_ptr) :: cells = c_null_ptr
    type(c_ptr) :: types = c_null_ptr
    type(c_ptr) :: lengths = c_null_ptr
    type(c_ptr) :: vertices = c_null_ptr
  end type forebay_mesh

  interface
    integer(c_int) function forebay_team_create_f(communicator, options, team) bind(c)
      import
      integer(c_int), value :: communicator
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: team
    end function forebay_team_create_f
    integer(c_int) function forebay_team_agree(team, status, words) bind(c)
      import
      type(c_ptr), value :: team
      integer(c_int), value :: status
      character(kind=c_char), intent(in) :: words(*)
    end function forebay_team_agree
    subroutine forebay_team_free(team) bind(c)
      import
      type(c_ptr), value :: team
    end subroutine forebay_team_free
    integer(c_int) function forebay_plan_create(team, numbers, count, items, options, plan) bind(c)
      import
      type(c_ptr), value :: team
      integer(c_int64_t), intent(in) :: numbers(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: items
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: plan
    end function forebay_plan_create
    subroutine forebay_plan_free(plan) bind(c)
      import
      type(c_ptr), value :: plan
    end subroutine forebay_plan_free
    integer(c_int) function forebay_plan_get_block(plan, first, count) bind(c)
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), intent(out) :: first
      integer(c_int64_t), intent(out) :: count
    end function forebay_plan_get_block
    integer(c_int) function forebay_plan_move_to_block(plan, items, item_bytes, block) bind(c)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: items
      integer(c_size_t), value :: item_bytes
      type(c_ptr), value :: block
    end function forebay_plan_move_to_block
    integer(c_int) function forebay_plan_move_from_block(plan, block, item_bytes, items) bind(c)
      import
      type(c_ptr), value :: plan
      type(c_ptr), value :: block
      integer(c_size_t), value :: item_bytes
      type(c_ptr), value :: items
    end function forebay_plan_move_from_block
    integer(c_int) function forebay_plan_number_lists(items, lengths, ranges, values) bind(c)
      import
      type(c_ptr), value :: items
      integer(c_int64_t), intent(in) :: lengths(*)
      integer(c_int64_t), intent(out) :: ranges(*)
      integer(c_int64_t), intent(out) :: values
    end function forebay_plan_number_lists
    integer(c_int) function forebay_plan_create_lists(team, ranges, lists, values, options, plan) bind(c)
      import
      type(c_ptr), value :: team
      integer(c_int64_t), intent(in) :: ranges(*)
      integer(c_int64_t), value :: lists
      integer(c_int64_t), value :: values
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: plan
    end function forebay_plan_create_lists
    integer(c_int) function forebay_checkpoints_open(team, directory, options, checkpoints) bind(c)
      import
      type(c_ptr), value :: team
      character(kind=c_char), intent(in) :: directory(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: checkpoints
    end function forebay_checkpoints_open
    integer(c_int) function forebay_checkpoints_close(checkpoints) bind(c)
      import
      type(c_ptr), value :: checkpoints
    end function forebay_checkpoints_close
    integer(c_int) function forebay_checkpoints_write(checkpoints, name, head, arrays, count) bind(c)
      import
      type(c_ptr), value :: checkpoints
      character(kind=c_char), intent(in) :: name(*)
      type(forebay_head), intent(in) :: head
      type(forebay_array), intent(in) :: arrays(*)
      integer(c_int), value :: count
    end function forebay_checkpoints_write
    integer(c_int) function forebay_checkpoints_settle(checkpoints) bind(c)
      import
      type(c_ptr), value :: checkpoints
    end function forebay_checkpoints_settle
    integer(c_int) function forebay_checkpoints_prepare(checkpoints, arrays, count) bind(c)
      import
      type(c_ptr), value :: checkpoints
      type(forebay_array), intent(in) :: arrays(*)
      integer(c_int), value :: count
    end function forebay_checkpoints_prepare
    integer(c_int) function forebay_checkpoints_read(checkpoints, name, mesh, arrays, count, head) bind(c)
      import
      type(c_ptr), value :: checkpoints
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: mesh(*)
      type(forebay_array), intent(in) :: arrays(*)
      integer(c_int), value :: count
      type(forebay_head), intent(inout) :: head
    end function forebay_checkpoints_read
    integer(c_int) function forebay_checkpoints_describe(checkpoints, name, head, locations, arrays) bind(c)
      import
      type(c_ptr), value :: checkpoints
      character(kind=c_char), intent(in) :: name(*)
      type(forebay_head), intent(inout) :: head
      integer(c_int), intent(out) :: locations
      integer(c_int), intent(out) :: arrays
    end function forebay_checkpoints_describe
    integer(c_int) function forebay_checkpoints_get_location(checkpoints, place, name, items) bind(c)
      import
      type(c_ptr), value :: checkpoints
      integer(c_int), value :: place
      type(c_ptr), intent(out) :: name
      integer(c_int64_t), intent(out) :: items
    end function forebay_checkpoints_get_location
    integer(c_int) function forebay_checkpoints_get_array(checkpoints, place, array) bind(c)
      import
      type(c_ptr), value :: checkpoints
      integer(c_int), value :: place
      type(forebay_array), intent(inout) :: array
    end function forebay_checkpoints_get_array
    integer(c_int) function forebay_checkpoints_count_recovered(checkpoints, count) bind(c)
      import
      type(c_ptr), value :: checkpoints
      integer(c_int), intent(out) :: count
    end function forebay_checkpoints_count_recovered
    integer(c_int) function forebay_checkpoints_get_recovered(checkpoints, place, path, carried) bind(c)
      import
      type(c_ptr), value :: checkpoints
      integer(c_int), value :: place
      type(c_ptr), intent(out) :: path
      integer(c_int), intent(out) :: carried
    end function forebay_checkpoints_get_recovered
    integer(c_int) function forebay_mesh_output_open(files, name, mesh, output) bind(c)
      import
      type(c_ptr), value :: files
      character(kind=c_char), intent(in) :: name(*)
      type(forebay_mesh), intent(in) :: mesh
      type(c_ptr), intent(out) :: output
    end function forebay_mesh_output_open
    integer(c_int) function forebay_mesh_output_write(output, head, arrays, count) bind(c)
      import
      type(c_ptr), value :: output
      type(forebay_head), intent(in) :: head
      type(forebay_array), intent(in) :: arrays(*)
      integer(c_int), value :: count
    end function forebay_mesh_output_write
    integer(c_int) function forebay_mesh_output_settle(output) bind(c)
      import
      type(c_ptr), value :: output
    end function forebay_mesh_output_settle
    integer(c_int) function forebay_mesh_output_close(output) bind(c)
      import
      type(c_ptr), value :: output
    end function forebay_mesh_output_close
  end interface

end module forebay_arrays_c
