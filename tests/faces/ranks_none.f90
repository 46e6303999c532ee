! Without MPI: one rank.
module ranks
  implicit none
contains
  subroutine start(rank, all)
    integer, intent(out) :: rank, all
    rank = 0
    all = 1
  end subroutine start

  subroutine finish(failures)
    integer, intent(in) :: failures
    if (failures > 0) error stop 1
  end subroutine finish
end module ranks
