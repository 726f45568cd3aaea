#!/bin/bash
#SBATCH --nodes=1
module load cuda
#SBATCH --time=1:00:00
hostname
