#!/bin/bash
echo "job $SLURM_JOBID of SLURM_JOBID"
