# Batch scripts and the job files made of them.
dts_script_test(convert_both_ways integration 300 convert)
dts_script_test(convert_roles integration 180 convert_roles)
