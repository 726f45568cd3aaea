# The fault matrix: all of it for hours with `tests/run.sh faults`, a fixed dozen cells in the ordinary run.
function(dts_faults name label limit script)
  add_test(NAME faults_${name} COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/${script}.py ${ARGN})
  set_tests_properties(faults_${name} PROPERTIES
    LABELS ${label} TIMEOUT ${limit} SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
endfunction()

dts_faults(linuxproc integration 900 faults --flavour linuxproc --ordinary)
dts_faults(cgroup integration 900 faults --flavour cgroup --ordinary)
dts_faults(kills integration 900 fault_kills 10)
dts_faults(fencing_linuxproc integration 900 fault_fencing linuxproc)
dts_faults(fencing_cgroup faults 900 fault_fencing cgroup)
dts_faults(matrix_linuxproc faults 86400 faults --flavour linuxproc)
dts_faults(matrix_cgroup faults 86400 faults --flavour cgroup)
dts_faults(kills_100 faults 14400 fault_kills 100)
