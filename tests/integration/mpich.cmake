# Programs of MPICH, under mpiexec (Hydra) and srun --mpi=pmi2; mpich.py says what. The ordinary run
# tracks processes as production does.
dts_script_test(mpich_refused integration 120 mpich refused)
foreach(launcher mpiexec srun)
  dts_script_test(mpich_${launcher}_cgroup integration 300 mpich ${launcher} cgroup)
  dts_script_test(mpich_${launcher}_linuxproc faults 300 mpich ${launcher} linuxproc)
endforeach()
