# What a person does to a run of theirs: `dtsubmit stop`.
dts_script_test(stop integration 600 stop)
foreach(scenario once wrapped zero without_plugin)
  dts_script_test(stop_signals_${scenario} integration 300 stop_signals ${scenario})
endforeach()
