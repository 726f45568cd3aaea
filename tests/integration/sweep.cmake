# Job arrays and sweeps; each scenario of sweep.py says what it checks.
dts_script_test(sweep_preempt integration 1500 sweep preempt)
dts_script_test(sweep_orders integration 900 sweep orders)
dts_script_test(sweep_refused integration 200 sweep refused)
dts_script_test(chain_jobs integration 900 chain chain)
dts_script_test(after_runs integration 900 chain after)
