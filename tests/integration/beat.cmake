# What is learnt from heartbeats; each scenario of beat.py says what it checks.
dts_script_test(beat_live integration 600 beat live)
dts_script_test(beat_story integration 900 beat story)
dts_script_test(beat_moved faults 900 beat moved)
dts_script_test(beat_elsewhere faults 900 beat elsewhere)
