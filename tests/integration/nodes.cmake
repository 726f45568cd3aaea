# Pre-flight, quarantine and spares; each scenario of nodes.py says what it checks.
foreach(scenario preflight)
  dts_script_test(nodes_${scenario} integration 600 nodes ${scenario})
endforeach()
