# What a person does to a run of theirs: `dtsubmit stop`.
dts_script_test(stop integration 600 stop)
dts_script_test(stop_signals integration 300 stop_signals)
dts_script_test(requeue_options integration 300 requeue_options)
# Orders whose answer is lost, and commands that are interrupted.
dts_script_test(lost_answers integration 300 lost_answers)
dts_script_test(lost_orders integration 300 lost_orders)
dts_script_test(lost_answers_full faults 3000 lost_answers full)
