# `dtsubmit doctor`: what it says of clusters that are configured differently, and what happens there.
dts_script_test(doctor integration 600 doctor)
dts_script_test(doctor_probe integration 600 doctor_probe)
set_property(TEST doctor_probe APPEND PROPERTY ENVIRONMENT "DTS_MOVED_CLOCK_LIBRARY=$<TARGET_FILE:moved_clock>")
