# Programs of MPICH, under mpiexec (Hydra) and srun --mpi=pmi2; mpich.py says what.
dts_script_test(mpich_refused integration 120 mpich refused)
foreach(flavour linuxproc cgroup)
  dts_script_test(mpich_mpiexec_${flavour} integration 300 mpich mpiexec ${flavour})
  dts_script_test(mpich_srun_${flavour} integration 300 mpich srun ${flavour})
endforeach()
