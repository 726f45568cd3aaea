# Machines without a scheduler, reached through real sshds.
dts_script_test(ssh_hosts integration 600 ssh_hosts)
