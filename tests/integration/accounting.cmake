# Private clusters with munge, slurmdbd and a database; each scenario of accounting.py, and federation.py, says what it checks.
add_test(NAME cluster_services COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/cluster_services.bash)
set_tests_properties(cluster_services PROPERTIES LABELS integration TIMEOUT 300 SKIP_RETURN_CODE 125
  ENVIRONMENT "DTSUBMIT=$<TARGET_FILE:dtsubmit>")
foreach(scenario munge qos refused limits forgotten configless)
  dts_script_test(accounting_${scenario} integration 600 accounting ${scenario})
endforeach()
dts_script_test(accounting_federation integration 600 federation)
# Limits that a single job exceeds: what waits for ever is refused.
dts_script_test(accounting_single_job integration 900 accounting_limits)
