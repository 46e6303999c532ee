! Proves: the Fortran face stores and finds states of every kind and rank in place, tells errors, and closes by itself;
! every rank with a part of its own in the same directory. Argument: a directory of its own.
program trajectory_test
  use, intrinsic :: iso_c_binding, only: c_associated, c_int, c_loc
  use forebay_c, only: forebay_status_get_name
  use forebay_text, only: from_c
  use forebay_trajectory
  use ranks
  implicit none
  integer(int64), parameter :: steps = 40
  integer :: rank, count_of_ranks, failures
  character(4096) :: directory

  failures = 0
  call start(rank, count_of_ranks)
  call get_command_argument(1, directory)
  call every_kind_and_rank_is_stored_in_place()
  call other_types_have_views_too()
  call a_state_of_one_field_is_put()
  call steps_have_64_bits()
  call states_that_were_spilled_come_back()
  call a_kept_trajectory_is_found_again()
  call a_field_is_stored_within_an_error()
  call errors_are_told()
  call a_trajectory_closes_with_its_variable()
  call constants_are_those_of_the_library()
  call finish(failures)
  if (rank == 0) print '(a)', 'passed'

contains

  subroutine check(good, words)
    logical, intent(in) :: good
    character(*), intent(in) :: words
    if (good) return
    failures = failures + 1
    print '(a,i0,2a)', 'rank ', rank, ': not true: ', words
  end subroutine check

  subroutine choose(options, name)
    type(forebay_options), intent(inout) :: options
    character(*), intent(in) :: name
    call options%set('name', name)
    call options%set('rank', rank)
    call options%set('ranks', count_of_ranks)
    call options%add_pool(trim(directory), 8 * 1024_int64**2)
    call options%set('segment-bytes', 1024_int64**2)
  end subroutine choose

  ! Differs for every step, rank and place.
  elemental function value_of(step, i) result(value)
    integer(int64), intent(in) :: step
    integer, intent(in) :: i
    real(real64) :: value
    value = 1000.0_real64 * step + i + 0.125_real64 * rank
  end function value_of

  subroutine a_state_of_one_field_is_put()
    type(forebay_options) :: options, others
    type(trajectory) :: states
    complex(real64) :: u(3, 10 + rank), small(3, 9)
    complex(real64), pointer :: stored(:, :)
    real(real64) :: reals(3, 10 + rank)
    integer(int64) :: step
    integer :: number, none, stat
    character(200) :: words
    call choose(options, 'put')
    call states%open(options)
    call states%put(1_int64, 0.0_real64, u, stat)
    call check(stat /= FOREBAY_OK, 'nothing is put before there is a field')
    call states%declare('u', FOREBAY_COMPLEX128, shape(u), number)
    do step = 1, 5
      u = cmplx(step, -step, real64)
      call states%put(step, 0.5_real64 * step, u)
    end do
    small = 0
    reals = 0
    call states%find('u'//achar(0), none, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'NUL behind "u"') > 0, 'a NUL ends no name')
    call states%declare('u'//achar(0)//'v', FOREBAY_FLOAT64, [3], none, stat)
    call check(stat == FOREBAY_E_INVALID, 'nor that of a new field')
    call options%set('name', 'wake'//achar(0)//'-of-another', stat)
    call check(stat == FOREBAY_E_INVALID, 'nor the value of an option')
    call states%put(6_int64, 0.0_real64, small, stat, words)
    call check(stat == FOREBAY_E_FIELD_CHANGED .and. index(words, 'another shape') > 0, 'no array of another shape')
    call states%put(6_int64, 0.0_real64, reals, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED, 'nor of another type')
    call states%put(6_int64, 0.0_real64, [small], stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED, 'nor flat of another size')
    do step = 5, 1, -1
      call states%get(step, number, stored)
      call check(all(stored == cmplx(step, -step, real64)), 'what was put comes back')
      call states%release(step)
    end do
    call states%close()
    call choose(others, 'two')
    call states%open(others)
    call states%declare('u', FOREBAY_COMPLEX128, shape(u), number)
    call states%declare('v', FOREBAY_COMPLEX128, shape(u), number)
    call states%put(1_int64, 0.0_real64, u, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, '2 fields') > 0, 'of several fields one does not do')
  end subroutine a_state_of_one_field_is_put

  subroutine every_kind_and_rank_is_stored_in_place()
    type(forebay_options) :: options
    type(trajectory) :: states
    real(real64), pointer :: a(:), b(:, :), c(:, :, :), d(:, :, :, :), flat(:), again(:)
    real(real32), pointer :: e(:), f(:, :), g(:, :, :), h(:, :, :, :)
    real(real64) :: between(24)
    integer(int64) :: step
    integer :: number(8), n, i
    n = 10 + rank  ! sizes differ between ranks
    call choose(options, 'ranks')
    call states%open(options)
    call states%declare('a', FOREBAY_FLOAT64, [n], number(1))
    call states%declare('b', FOREBAY_FLOAT64, [3, n], number(2))
    call states%declare('c', FOREBAY_FLOAT64, [2, 3, 4], number(3))
    call states%declare('d', FOREBAY_FLOAT64, [2, 3, 4, 5], number(4))
    call states%declare('e', FOREBAY_FLOAT32, [n], number(5))
    call states%declare('f', FOREBAY_FLOAT32, [3, n], number(6))
    call states%declare('g', FOREBAY_FLOAT32, [2, 3, 4], number(7))
    call states%declare('h', FOREBAY_FLOAT32, [2, 3, 4, 5], number(8))
    call check(all_of(number, 8), 'fields count from 1')
    do step = 1, steps
      call states%begin(step, 0.5_real64 * step)
      call states%field(number(1), a)
      call states%field(number(2), b)
      call states%field(number(3), c)
      call states%field(number(4), d)
      call states%field(number(5), e)
      call states%field(number(6), f)
      call states%field(number(7), g)
      call states%field(number(8), h)
      a = value_of(step, 1)
      b = value_of(step, 2)
      b(2, n) = value_of(step, 99)
      c = reshape([(value_of(step, i), i = 1, 24)], [2, 3, 4])
      d = value_of(step, 4)
      e = real(value_of(step, 5), real32)
      f = real(value_of(step, 6), real32)
      g = real(value_of(step, 7), real32)
      h = real(value_of(step, 8), real32)
      call states%commit()
    end do
    call check(states%count() == steps, 'all steps are stored')
    call states%reverse(steps)
    do step = steps, 1, -1
      call states%get(step, number(1), a)
      call states%get(step, number(2), b)
      call states%get(step, number(3), c)
      call states%get(step, number(3), flat)
      call states%get(step, number(3), again)
      call states%get(step, number(4), d)
      call states%get(step, number(5), e)
      call states%get(step, number(6), f)
      call states%get(step, number(7), g)
      call states%get(step, number(8), h)
      call check(size(a) == n .and. all(equal(a, value_of(step, 1))), 'rank 1')
      call check(all(shape(b) == [3, n]), 'the shape of rank 2')
      call check(all(equal(b(1, :), value_of(step, 2))) .and. all(equal(b(2:2, n), value_of(step, 99))), 'rank 2')
      call check(all(equal(flat, [(value_of(step, i), i = 1, 24)])), 'rank 3, flat')
      call check(all(equal(c(2, 3, 4:4), value_of(step, 24))), 'the last value of rank 3')
      call check(c_associated(c_loc(flat), c_loc(again)), 'the same memory, not a copy')
      call check(all(shape(d) == [2, 3, 4, 5]), 'the shape of rank 4')
      call check(all(equal(d(2, 3, 4, :), value_of(step, 4))), 'rank 4')
      call check(all(abs(e - real(value_of(step, 5), real32)) <= 0), 'single precision, rank 1')
      call check(all(abs(f - real(value_of(step, 6), real32)) <= 0), 'single precision, rank 2')
      call check(all(abs(g - real(value_of(step, 7), real32)) <= 0), 'single precision, rank 3')
      call check(all(abs(h - real(value_of(step, 8), real32)) <= 0), 'single precision, rank 4')
      do i = 1, 10
        call states%release(step)
      end do
    end do
    call states%interpolate(1.25_real64, number(3), between)  ! between the steps 2 and 3
    call check(all(equal(between, [(value_of(2_int64, i) + 500, i = 1, 24)])), 'interpolation')
    call states%rewind()
    call check(states%count() == 0, 'nothing is stored after rewind')
    call states%close()
  end subroutine every_kind_and_rank_is_stored_in_place

  subroutine other_types_have_views_too()
    type(forebay_options) :: options
    type(trajectory) :: states
    complex(real64), pointer :: z(:, :)
    complex(real32), pointer :: w(:)
    integer(int64), pointer :: long(:)
    integer(int32), pointer :: short(:, :, :)
    complex(real64) :: between(6)
    integer :: number(4), stat
    integer(int64) :: step
    call choose(options, 'types')
    call states%open(options)
    call states%declare('z', FOREBAY_COMPLEX128, [2, 3], number(1))
    call states%declare('w', FOREBAY_COMPLEX64, [4], number(2))
    call states%declare('long', FOREBAY_INT64, [5], number(3))
    call states%declare('short', FOREBAY_INT32, [2, 1, 2], number(4))
    do step = 0, 1
      call states%begin(step, real(step, real64))
      call states%field(number(1), z)
      call states%field(number(2), w)
      call states%field(number(3), long)
      call states%field(number(4), short)
      z = cmplx(step, 2 * step, real64)
      w = (1.0_real32, -1.0_real32)
      long = huge(long)
      short = -7
      call states%commit()
    end do
    call states%get(1_int64, number(1), z)
    call states%get(1_int64, number(2), w)
    call states%get(1_int64, number(3), long)
    call states%get(1_int64, number(4), short)
    call check(all(shape(z) == [2, 3]) .and. all(abs(z - (1.0_real64, 2.0_real64)) <= 0), 'complex numbers')
    call check(all(abs(w - (1.0_real32, -1.0_real32)) <= 0), 'complex numbers of single precision')
    call check(all(long == huge(long)) .and. all(short == -7), 'integers')
    call states%field(number(4), long, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED, 'integers of another kind')
    call states%interpolate(0.5_real64, number(1), between)
    call check(all(abs(between - (0.5_real64, 1.0_real64)) <= 0), 'complex numbers between two steps')
  end subroutine other_types_have_views_too

  subroutine steps_have_64_bits()
    type(forebay_options) :: options
    type(trajectory) :: states
    real(real64), pointer :: u(:)
    real(real64) :: time
    integer(int64), parameter :: far = 2_int64**40
    integer(int64) :: step
    integer :: number
    call choose(options, 'far')
    call states%open(options)
    call states%declare('u', FOREBAY_FLOAT64, [3], number)
    call states%begin(far, 1.0_real64)
    call states%field(number, u)
    u = 8
    call states%commit()
    call states%step_at(1_int64, step, time)
    call check(step == far, 'a step beyond 32 bits')
    call states%get(far, number, u)
    call check(all(abs(u - 8) <= 0), 'and its state')
  end subroutine steps_have_64_bits

  subroutine states_that_were_spilled_come_back()
    type(forebay_options) :: options
    type(trajectory) :: states
    type(trajectory_tier) :: tier, told
    real(real64), pointer :: u(:)
    real(real64) :: begin_seconds, get_seconds
    integer(int64) :: step
    integer :: number, stat
    call options%set('name', 'spilled')
    call options%set('rank', rank)
    call options%set('ranks', count_of_ranks)
    call options%set('segment-bytes', 65536)
    call options%add_dram(4 * 65536_int64)
    call options%add_pool(trim(directory), 8 * 1024_int64**2)
    call states%open(options)
    call states%declare('u', FOREBAY_FLOAT64, [4096], number)
    do step = 1, 60
      call states%begin(step, real(step, real64))
      call states%field(number, u)
      u = value_of(step, 0)
      call states%commit()
    end do
    call check(states%tier_count() == 2, 'there are two tiers')
    call states%tier(2, tier)
    call check(tier%path == trim(directory) .and. tier%moved_in > 0, 'old states moved to the second tier')
    call states%reverse(60_int64)
    do step = 60, 1, -1
      call states%get(step, number, u)
      call check(all(equal(u, value_of(step, 0))), 'a state that came back')
      call states%release(step)
    end do
    call states%waited(begin_seconds, get_seconds)
    call check(begin_seconds >= 0 .and. get_seconds >= 0, 'waiting takes time')
    call states%move(60_int64, 2)
    call states%tier(2, told)
    call check(told%moved_in > tier%moved_in, 'a state moved to the second tier when it was told to')
    call states%get(60_int64, number, u)
    call check(all(equal(u, value_of(60_int64, 0))), 'and is read there')
    call states%move(60_int64, 1, stat)
    call check(stat == FOREBAY_E_PINNED, 'but stays while it is pinned')
    call states%release(60_int64)
    call states%move(60_int64, 3, stat)
    call check(stat == FOREBAY_E_NO_SUCH_TIER, 'there is no third tier')
  end subroutine states_that_were_spilled_come_back

  subroutine a_kept_trajectory_is_found_again()
    type(forebay_options) :: options
    type(trajectory) :: states
    real(real64), pointer :: u(:, :)
    real(real64) :: time
    integer(int64) :: step
    integer :: number, stat
    call choose(options, 'kept')
    call options%set('keep', .true.)
    call states%open(options)
    call states%declare('u', FOREBAY_FLOAT64, [3, 7], number)
    call states%begin(-3_int64, 0.25_real64)
    call states%field(number, u)
    u = 5
    u(3, 1) = 6
    call states%commit()
    call states%close()

    call states%open(options)
    call check(states%recovery() == '', 'nothing was wrong with the store')
    call states%find('u', number)
    call check(number == 1, 'the field is known by its name')
    call states%get(-3_int64, number, u)
    call check(all(shape(u) == [3, 7]) .and. abs(u(3, 1) - 6) <= 0, 'the store knows the shape of the field')
    call states%release(-3_int64)
    call states%declare('u', FOREBAY_FLOAT64, [7, 3], number, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED, 'a field keeps its shape')
    call states%declare('u', FOREBAY_FLOAT64, [3, 7], number)
    call states%step_at(1_int64, step, time)
    call check(step == -3 .and. abs(time - 0.25_real64) <= 0, 'the step and its time')
    call states%get(-3_int64, number, u)
    call check(all(abs(u(:2, :) - 5) <= 0), 'the state')
    call states%release(-3_int64)
    call states%keep(.false.)
    call states%close()

    call states%open(options)
    call check(states%count() == 0, 'what is no longer kept is gone')
    call states%keep(.false.)
    call states%close()
  end subroutine a_kept_trajectory_is_found_again

  subroutine errors_are_told()
    type(forebay_options) :: options
    type(trajectory) :: states
    real(real64), pointer :: u(:, :), flat(:), wrong(:, :, :)
    real(real32), pointer :: other(:)
    real(real64) :: values(5)
    integer :: number, stat
    character(200) :: words
    call options%set('ranks', 0, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'ranks') > 0, 'no ranks are no number of them')
    call options%set('checksums', .true., stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'did you mean "checksum"') > 0, 'an option has a name')
    call options%add_pool('', 1000_int64, stat)
    call check(stat == FOREBAY_E_INVALID, 'a pool needs a directory')
    call options%add_dram(-4000_int64, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, ' -4000 bytes') > 0, 'no budget is negative, of dram')
    call options%add_pool(trim(directory), -1_int64, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, ' -1 bytes') > 0, 'of a pool')
    call options%add_shared(trim(directory), -huge(1_int64), stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, ' -9223372036854775807 bytes') > 0, 'of a directory')
    call options%add_dram(0_int64, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, ' 0 bytes') > 0, 'and none is nothing')
    call states%open(options, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'tier') > 0, 'a trajectory needs a tier')
    call states%commit(stat)
    call check(stat == FOREBAY_E_INVALID, 'nothing is done on a trajectory that is not open')
    call states%get(1_int64, 1, u, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'not open') > 0, 'nor read from it')
    call states%begin(1_int64, 0.0_real64, stat)
    call check(stat == FOREBAY_E_INVALID, 'nor begun')

    call choose(options, 'errors')
    call states%open(options)
    call states%declare('u', FOREBAY_FLOAT64, [-1, 3], number, stat)
    call check(stat == FOREBAY_E_INVALID, 'no negative extents')
    call states%declare('u', FOREBAY_FLOAT64, [65536, 65536, 65536, 65536], number, stat, words)
    call check(stat == FOREBAY_E_INVALID .and. index(words, 'more values') > 0, 'no extents whose product is no number')
    call states%declare('u', FOREBAY_FLOAT64, [huge(1), huge(1), 4, 1], number, stat)
    call check(stat == FOREBAY_E_INVALID, 'nor is it cut to another one')
    call states%declare('u', FOREBAY_FLOAT64, [2, 3], number)
    call states%declare('u', FOREBAY_FLOAT64, [2, 4], number, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED, 'a field keeps its size')
    call states%declare('inlet', FOREBAY_FLOAT64, [0, 3], number)
    call check(number == 2, 'a rank may have nothing of a field')
    call states%find('v', number, stat)
    call check(stat == FOREBAY_E_NO_SUCH_FIELD, 'a field that was not declared')
    number = 1
    call states%field(number, u, stat)
    call check(stat == FOREBAY_E_NO_OPEN_STEP .and. .not. associated(u), 'no field of a step that is not open')
    call states%begin(1_int64, 0.0_real64)
    call states%begin(2_int64, 0.0_real64, stat)
    call check(stat == FOREBAY_E_STEP_OPEN, 'one step at a time')
    call states%field(number, u)
    u = 1
    call states%field(number, other, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED .and. .not. associated(other), 'a pointer of another kind')
    call states%field(number, wrong, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED .and. .not. associated(wrong), 'a pointer of another rank')
    call states%field(0, flat, stat)
    call check(stat == FOREBAY_E_NO_SUCH_FIELD, 'no field has the number 0')
    call states%field(2, flat, stat)
    call check(stat == FOREBAY_OK .and. size(flat) == 0, 'a field of no length')
    call states%field(3, flat, stat)
    call check(stat == FOREBAY_E_NO_SUCH_FIELD, 'nor any that was not declared')
    call states%commit()
    call states%commit(stat)
    call check(stat == FOREBAY_E_NO_OPEN_STEP, 'a step is committed once')
    call states%get(2_int64, number, flat, stat, words)
    call check(stat == FOREBAY_E_NO_SUCH_STEP .and. words == forebay_message(), 'a step that is not stored')
    call states%release(1_int64, stat)
    call check(stat == FOREBAY_E_NOT_PINNED, 'nothing is released that is not pinned')
    call states%get(1_int64, number, flat)
    call states%rewind(stat)
    call check(stat == FOREBAY_E_PINNED, 'no rewind under a reader')
    call states%release(1_int64)
    call states%interpolate(0.0_real64, number, values, stat)
    call check(stat == FOREBAY_E_FIELD_CHANGED, 'an array of another size')
    call states%begin(2_int64, 0.0_real64)
    call states%close(stat)
    call check(stat == FOREBAY_E_CLOSED_OPEN, 'closed with an open step')
  end subroutine errors_are_told

  subroutine a_field_is_stored_within_an_error()
    type(forebay_options) :: options
    type(trajectory) :: states
    type(trajectory_encoding) :: told
    real(real64), pointer :: u(:)
    real(real64) :: exact(1000)
    integer(int64) :: step
    integer :: number, refused, i, stat
    call choose(options, 'encoded')
    call options%set('encoders', 1)
    call states%open(options)
    call states%declare('u', FOREBAY_FLOAT64, [1000], number, accepted_error=1e-4_real64, &
      codec=FOREBAY_CODEC_DIFFERENCE)
    call states%declare('v', FOREBAY_FLOAT64, [10], refused, stat, accepted_error=1.0_real64)
    call check(stat == FOREBAY_E_TOLERANCE .and. refused == 0, 'a bad tolerance')
    do step = 1, steps
      call states%begin(step, 1.0_real64 * step)
      call states%field(number, u)
      u = [(sin(0.01_real64 * i + 0.001_real64 * step + rank), i = 1, 1000)]
      call states%commit()
    end do
    call states%reverse(steps)
    do step = steps, 1, -1
      call states%get(step, number, u)
      exact = [(sin(0.01_real64 * i + 0.001_real64 * step + rank), i = 1, 1000)]
      call check(norm2(u - exact) <= 1e-4_real64 * norm2(exact), 'a state within the error')
      call states%release(step)
    end do
    call states%encoding(number, told)
    call check(told%codec == FOREBAY_CODEC_DIFFERENCE .and. told%states == steps, 'what was stored')
    call check(told%achieved_error > 0 .and. told%achieved_error <= told%accepted_error, 'the error is measured')
    call check(2 * told%stored_bytes < told%raw_bytes .and. told%fallback_reason == '', 'the field is smaller')
  end subroutine a_field_is_stored_within_an_error

  subroutine a_trajectory_closes_with_its_variable()
    type(forebay_options) :: options
    type(trajectory) :: states
    call choose(options, 'scope')
    call options%set('keep', .true.)
    call leave_open(options)
    call states%open(options)  ! would be busy
    call states%keep(.false.)
  end subroutine a_trajectory_closes_with_its_variable

  subroutine leave_open(options)
    type(forebay_options), intent(inout) :: options
    type(trajectory) :: states
    call states%open(options)
  end subroutine leave_open

  subroutine constants_are_those_of_the_library()
    call expect(FOREBAY_OK, 'FOREBAY_OK')
    call expect(FOREBAY_E_INVALID, 'FOREBAY_E_INVALID')
    call expect(FOREBAY_E_NO_SUCH_STEP, 'FOREBAY_E_NO_SUCH_STEP')
    call expect(FOREBAY_E_NO_SUCH_FIELD, 'FOREBAY_E_NO_SUCH_FIELD')
    call expect(FOREBAY_E_STEP_OPEN, 'FOREBAY_E_STEP_OPEN')
    call expect(FOREBAY_E_NO_OPEN_STEP, 'FOREBAY_E_NO_OPEN_STEP')
    call expect(FOREBAY_E_STEP_EXISTS, 'FOREBAY_E_STEP_EXISTS')
    call expect(FOREBAY_E_FIELD_CHANGED, 'FOREBAY_E_FIELD_CHANGED')
    call expect(FOREBAY_E_FIELDS_FIXED, 'FOREBAY_E_FIELDS_FIXED')
    call expect(FOREBAY_E_NOT_PINNED, 'FOREBAY_E_NOT_PINNED')
    call expect(FOREBAY_E_PINNED, 'FOREBAY_E_PINNED')
    call expect(FOREBAY_E_OUTSIDE, 'FOREBAY_E_OUTSIDE')
    call expect(FOREBAY_E_CLOSED_OPEN, 'FOREBAY_E_CLOSED_OPEN')
    call expect(FOREBAY_E_TOLERANCE, 'FOREBAY_E_TOLERANCE')
    call expect(FOREBAY_E_FORKED, 'FOREBAY_E_FORKED')
    call expect(FOREBAY_E_NO_SUCH_STORE, 'FOREBAY_E_NO_SUCH_STORE')
    call expect(FOREBAY_E_STORE_EXISTS, 'FOREBAY_E_STORE_EXISTS')
    call expect(FOREBAY_E_NO_SUCH_TIER, 'FOREBAY_E_NO_SUCH_TIER')
    call expect(FOREBAY_E_NO_SPACE, 'FOREBAY_E_NO_SPACE')
    call expect(FOREBAY_E_NO_MEMORY, 'FOREBAY_E_NO_MEMORY')
    call expect(FOREBAY_E_BUSY, 'FOREBAY_E_BUSY')
    call expect(FOREBAY_E_VERSION, 'FOREBAY_E_VERSION')
    call expect(FOREBAY_E_DAMAGED, 'FOREBAY_E_DAMAGED')
    call expect(FOREBAY_E_READ_ONLY, 'FOREBAY_E_READ_ONLY')
    call expect(FOREBAY_E_IO, 'FOREBAY_E_IO')
    call expect(FOREBAY_E_STAGED, 'FOREBAY_E_STAGED')
  end subroutine constants_are_those_of_the_library

  subroutine expect(status, name)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: name
    call check(from_c(forebay_status_get_name(status)) == name, name)
  end subroutine expect

  pure function all_of(numbers, count) result(good)
    integer, intent(in) :: numbers(:), count
    logical :: good
    integer :: i
    good = all(numbers == [(i, i = 1, count)])
  end function all_of

  elemental function equal(a, b) result(good)
    real(real64), intent(in) :: a, b
    logical :: good
    good = abs(a - b) <= 0
  end function equal

end program trajectory_test
