# What `dtsubmit why` says of jobs of a private real Slurm; each scenario of why.py says what it checks.
foreach(scenario pending running killed cancelled agent_killed no_log_folder)
  add_test(NAME why_${scenario} COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/why.py ${scenario})
  set_tests_properties(why_${scenario} PROPERTIES
    LABELS integration TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
