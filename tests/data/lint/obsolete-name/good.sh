#!/bin/bash
echo "job $SLURM_JOB_ID, SLURM_JOBID before"
