#!/bin/bash
#SBATCH --nodes=2
#SBATCH -N 2
#SBATCH hetjob
#SBATCH --nodes=1
#SBATCH --mail-type=BEGIN
#SBATCH --mail-type=END
hostname
