#!/bin/bash
#SBATCH --signal=USR1@120
mpirun ./train
