# Worlds that go wrong, and many at once; each script says what it checks.
foreach(name faults silent networks ports alike stress)
  dts_script_test(rendezvous_${name} integration 900 rendezvous_${name})
endforeach()
