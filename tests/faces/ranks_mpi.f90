! Which rank this is, from MPI.
module ranks
  use mpi
  implicit none
contains
  subroutine start(rank, all)
    integer, intent(out) :: rank, all
    integer :: failed
    call MPI_Init(failed)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
    call MPI_Comm_size(MPI_COMM_WORLD, all, failed)
  end subroutine start

  subroutine finish(failures)
    integer, intent(in) :: failures
    integer :: failed
    if (failures > 0) call MPI_Abort(MPI_COMM_WORLD, 1, failed)
    call MPI_Finalize(failed)
  end subroutine finish
end module ranks
