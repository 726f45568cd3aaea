# The main job on a private real Slurm; each scenario of main_job.py says what it checks.
foreach(flavour linuxproc cgroup)
  foreach(scenario layout leaks preempt srun kills slurmd refusals)
    if(flavour STREQUAL cgroup AND scenario MATCHES "leaks|refusals")
      continue()  # nothing in them depends on how processes are tracked
    endif()
    add_test(NAME main_job_${scenario}_${flavour}
             COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/main_job.py ${scenario} ${flavour})
    set_tests_properties(main_job_${scenario}_${flavour} PROPERTIES
      LABELS integration TIMEOUT 900 SKIP_RETURN_CODE 77 RUN_SERIAL ON
      ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endforeach()

# The same under an mpirun of release 5, where there is one: DTS_OPENMPI5=<prefix> ctest -L openmpi5
foreach(scenario layout preempt)
  add_test(NAME main_job_${scenario}_openmpi5
           COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/main_job.py ${scenario} linuxproc openmpi5)
  set_tests_properties(main_job_${scenario}_openmpi5 PROPERTIES
    LABELS openmpi5 TIMEOUT 900 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
endforeach()

# README's transcript of the quickstart is what the quickstart prints.
add_test(NAME readme_transcript
         COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/readme_transcript.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(readme_transcript PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
