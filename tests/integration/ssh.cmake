# Machines without a scheduler, reached through real sshds.
add_test(NAME ssh_hosts COMMAND ${DTS_SYSTEM_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/ssh_hosts.py)
set_tests_properties(ssh_hosts PROPERTIES
  LABELS integration TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL ON
  ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>;PYTHONDONTWRITEBYTECODE=1")
