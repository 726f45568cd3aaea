#!/bin/bash
#SBATCH --ntasks-per-node=4
#SBATCH --container-image=a.sqsh
#SBATCH --gpus-per-n=4
#SBATCH --site-thing=1
hostname
