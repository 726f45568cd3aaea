-- Lmod: module use FOLDER; module load dtsubmit. FOLDER is share/modulefiles of the tarball; elsewhere, set the prefix below.
local prefix = pathJoin(myFileName():match("^(.*)/share/modulefiles/") or "/opt/dtsubmit")
help([[dtsubmit takes distributed training jobs through Slurm and back. See: man dtsubmit]])
whatis("Name: dtsubmit")
whatis("Description: submits distributed training jobs to Slurm, and brings them back after a preemption")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
-- man(1) looks at its usual places, too, only if there is an empty entry.
append_path("MANPATH", "")
