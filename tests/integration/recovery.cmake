# Causes, budgets and what is done about them; each scenario of recovery.py says what it checks.
foreach(scenario successor elsewhere resubmit memory hang beats)
  add_test(NAME recovery_${scenario} COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/recovery.py ${scenario})
  set_tests_properties(recovery_${scenario} PROPERTIES
    LABELS integration TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;DTTRAIN=$<TARGET_FILE:dttrain>;PYTHONDONTWRITEBYTECODE=1")
endforeach()
