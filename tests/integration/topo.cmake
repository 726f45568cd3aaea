# The flags that `dtsubmit topo --emit` prints, given to a real mpirun and a real srun.
dts_script_test(topo_flags_openmpi integration 120 topo_flags openmpi)
dts_script_test(topo_flags_slurm integration 300 topo_flags slurm)
