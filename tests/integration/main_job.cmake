# The main job on a private real Slurm; each scenario of main_job.py says what it checks.
foreach(flavour linuxproc cgroup)
  foreach(scenario layout leaks preempt srun kills slurmd refusals)
    if(flavour STREQUAL cgroup AND scenario MATCHES "leaks|refusals")
      continue()  # nothing in them depends on how processes are tracked
    endif()
    # The longest two are in the ordinary run as production tracks processes.
    set(label integration)
    if(flavour STREQUAL linuxproc AND scenario MATCHES "kills|slurmd")
      set(label faults)
    endif()
    dts_script_test(main_job_${scenario}_${flavour} ${label} 900 main_job ${scenario} ${flavour})
  endforeach()
endforeach()

# Where ranks have their shared memory; each scenario of segments.py says what it checks.
foreach(scenario no_host_names two_clusters left)
  dts_script_test(segments_${scenario} integration 300 segments ${scenario})
endforeach()

# main_job under an mpirun of release 5, where there is one: DTS_OPENMPI5=<prefix> ctest -L openmpi5
foreach(scenario layout preempt)
  dts_script_test(main_job_${scenario}_openmpi5 openmpi5 900 main_job ${scenario} linuxproc openmpi5)
endforeach()

# README's transcript of the quickstart is what the quickstart prints.
add_test(NAME readme_transcript
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/readme_transcript.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(readme_transcript PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
dts_script_test(long_command integration 300 long_command)
