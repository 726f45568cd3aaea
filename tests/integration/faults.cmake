# The fault matrix: all of it for hours with `tests/run.sh faults`, a fixed dozen cells in the ordinary run.
dts_script_test(faults_linuxproc integration 900 faults --flavour linuxproc --ordinary)
dts_script_test(faults_cgroup integration 900 faults --flavour cgroup --ordinary)
dts_script_test(faults_kills integration 900 fault_kills 10)
dts_script_test(faults_fencing_linuxproc integration 900 fault_fencing linuxproc)
dts_script_test(faults_fencing_cgroup faults 900 fault_fencing cgroup)
# A preemption at every moment: two in the ordinary run, each second and each 10 ms with the fault matrix.
dts_script_test(preempt_moment integration 240 preempt_moments --flavour linuxproc --launcher mpirun --nodes 1 --phase start --from 300 --to 300 --step 1)
dts_script_test(preempt_done integration 240 preempt_moments --flavour linuxproc --launcher torchrun --phase end --from 1000 --to 1000)
dts_script_test(preempt_dealt faults 900 preempt_moments --deal --step 1000 --at-once 3)
dts_script_test(preempt_dealt_10ms faults 86400 preempt_moments --deal --at-once 4)
dts_script_test(preempt_moments faults 604800 preempt_moments --at-once 4)
dts_script_test(faults_matrix_linuxproc faults 86400 faults --flavour linuxproc)
dts_script_test(faults_matrix_cgroup faults 86400 faults --flavour cgroup)
dts_script_test(faults_kills_100 faults 14400 fault_kills 100)
set_property(TEST faults_linuxproc faults_cgroup faults_matrix_linuxproc faults_matrix_cgroup
             APPEND PROPERTY ENVIRONMENT "DTS_MOVED_CLOCK_LIBRARY=$<TARGET_FILE:moved_clock>")
