#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=sweep.out
hostname
