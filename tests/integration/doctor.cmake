# `dtsubmit doctor`: what it says of clusters that are configured differently, and what happens there.
dts_script_test(doctor integration 600 doctor)
