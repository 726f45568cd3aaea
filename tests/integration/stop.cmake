# What a person does to a run of theirs: `dtsubmit stop`.
dts_script_test(stop integration 600 stop)
dts_script_test(stop_signals integration 300 stop_signals)
